export const home = {
  title: 'Taskthread',
  about: [
    "Mention me in a channel that I'm in, or send me a direct message, and I'll pass it to a biomedical AI agent. Its answer grows in the thread, followed by the files it makes. Share files in your message and the agent reads them; what you write in the thread continues the same task. In a thread that began without me, mention me each time.",
    'To use me in another channel, invite me there: type `/invite` and my name. `/agent help` lists what else I can do.',
  ].join('\n'),
  noAccess:
    "You don't have access to this agent, except in channels that let you in. An admin of this workspace can let you in, here in my Home tab or in a channel's settings.",
  yourTasks: 'Your tasks',
  noneOfYours: 'You have no tasks yet. Mention me in a channel, or write to me under Messages, to start one.',
  noneWithoutAccess: 'You have no tasks yet.',
  ofChannel: 'Tasks of a channel',
  chooseChannel: "Choose a channel that you're in to see its tasks.",
  choose: 'Choose a channel',
  noneOfChannel: 'There are no tasks in this channel yet.',
  outsider: "I show a channel's tasks only to its members. Join this channel and choose it again.",
  hidden:
    "I can't see who is in this channel, so I can't show its tasks. Invite me there and choose it again.",
  membershipUnknown: "Slack can't tell me right now who is in this channel. Press Refresh in a moment.",
  loading: 'Asking the agent service about these tasks…',
  stale:
    "I can't reach the agent service right now, so this list may be out of date. Press Refresh in a moment.",
} as const;

/** In a modal that opens before its content is there. */
export const loading = 'Loading…';
export const settingsSaved = 'Your changes are saved.';
export const modalUnavailable = "I can't read this right now. Close it and try again in a moment.";

/** Which rows of how many a page shows. */
export function pageShown(from: number, to: number, count: number): string {
  return from === to ? `${from} of ${count}` : `${from} to ${to} of ${count}`;
}
