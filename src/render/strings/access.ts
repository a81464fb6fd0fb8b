import { formatDuration } from '../text/duration.ts';

/** Who may ask and control the agent, and the quotas. */

export const notAllowed =
  "You don't have access to this agent here, so I didn't send your message. An admin of this workspace can let you in.";
/** The same, if the person has not asked anything yet. */
export const noAccess =
  "You don't have access to this agent here. An admin of this workspace can let you in.";
export const personUnknown =
  "Slack didn't tell me who you are, so I didn't send your message. Please send it again in a moment.";
export const messageUnread =
  "Slack doesn't let me read your message, so I didn't send it. Please post it again with a mention of me.";
export const repliesUnread =
  "Slack doesn't let me read the replies that came right after your message, so I didn't send them. Please post them again if the agent needs them.";
export const waitingForIdentity =
  "Slack can't tell me who you are right now. Your message is waiting; I'll send it as soon as I know.";
export const sharedChannel =
  'Before I start: this channel is shared with another organisation. People there can read what you ask and what the agent answers, including its files.';

/** Posted once in each channel, and shown in App Home. */
export const automatedNotice =
  "I'm an automated system and can be wrong: check my answers before you rely on them.";

/** Why a person may not use a control; only they see it. */
export const controlRefused = {
  starter: 'Only the person who started this thread, or a workspace admin, can do that here.',
  admins: 'Only workspace admins can do that here.',
  stranger: 'Only full members of this workspace, or the person who started this thread, can do that here.',
  direct: 'Only the person in this direct conversation with me can do that.',
  unknown: "Slack can't tell me who you are right now. Please try again in a moment.",
} as const;

/** A quota is used up; `waitMs` is the time until it has room, null if that is when a task ends. */
export function quotaReached(excess: {
  limit: 'hourPerson' | 'hourWorkspace' | 'atOncePerson' | 'atOnceWorkspace';
  most: number;
  waitMs: number | null;
}): string {
  const { limit, most, waitMs } = excess;
  const count = most === 1 ? 'one message' : `${most} messages`;
  const reached = {
    hourPerson: `You've sent ${count} in the past hour, which is the limit for one person`,
    hourWorkspace: `This workspace has sent ${count} in the past hour, which is its limit`,
    atOncePerson: `The agent is already working on ${count} of yours, which is the limit for one person`,
    atOnceWorkspace: `The agent is already working on ${count} from this workspace, which is its limit`,
  }[limit];
  const when = waitMs === null ? 'when one of them is done' : `in ${formatDuration(Math.max(1_000, waitMs))}`;
  return `${reached}. I didn't send this one: send it again ${when}.`;
}
