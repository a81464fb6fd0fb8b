import { counted, formatSize } from '../text-format.ts';

export const home = {
  title: 'Taskthread',
  /** `isDirectOpen`: it answers direct messages. */
  about: (isDirectOpen: boolean) =>
    [
      `Mention me in a channel that I'm in${isDirectOpen ? ', or send me a direct message' : ''}. I pass your words to a biomedical AI agent, and its answer grows in the thread.`,
      'Share files in your message and the agent reads them. What you write in the thread continues the same task; in other threads, mention me.',
      'To use me in another channel, invite me there: type `/invite` and my name. `/agent help` lists what else I can do.',
    ].join('\n'),
  noAccess:
    "You don't have access to this agent, except in channels that let you in. A workspace admin can let you in, or a full member in the settings of their channel.",
  waiting: 'Waiting for you',
  yourTasks: 'Your tasks',
  noneOfYours: (isDirectOpen: boolean) =>
    isDirectOpen
      ? 'You have no tasks yet. Mention me in a channel, or write to me under Messages, to start one.'
      : 'You have no tasks yet. Mention me in a channel to start one.',
  noneWithoutAccess: 'You have no tasks yet.',
  ofChannel: 'Tasks of a channel',
  chooseChannel: "Choose a channel that you're in to see its tasks.",
  choose: 'Choose a channel',
  noneOfChannel: 'There are no tasks in this channel yet.',
  loading: 'Asking the agent service about these tasks…',
  stale:
    "I can't reach the agent service right now, so this list may be out of date. Press Refresh in a moment.",
} as const;

/** In a modal that opens before its content is there. */
export const loading = 'Loading…';
export const settingsSaved = 'Your changes are saved.';
export const modalUnavailable = "The agent service isn't responding. Try again in a few minutes.";

/** Which rows of how many a page shows. */
export const pageShown = (from: number, to: number, count: number) =>
  from === to ? `${from} of ${count}` : `${from} to ${to} of ${count}`;

/** What the modal of a task and a direct message say about saving its record. */
export const taskRecord = {
  begun: "I'm collecting the record of this task. It comes as a file in your direct messages with me.",
  progress: (turns: number) =>
    `I'm collecting the record of this task: ${counted(turns, 'question')} so far. It comes as a file in your direct messages with me.`,
  /** Beside the file, and in the modal. */
  missing: (files: number) => `It lacks ${counted(files, 'file')}; record.html in it says why.`,
  uploading: "The record is complete, and I'm sending it to your direct messages with me.",
  done: 'The record of this task is in your direct messages with me. Import the .eln file into a lab notebook, or unzip it and open record.html.',
  gone: "I can't save the record, because the agent service no longer has this task.",
  tooLarge:
    "I can't save the record of this task, because it's too large for me. Ask your app admin for more space for temporary files.",
  failed:
    "I couldn't save the record of a task that you asked for. Open the task's details and press Save record again.",
} as const;

/** What a record says in place of an answer, a model or turns. */
export const recordNotes = {
  leftOut: (count: number) =>
    `Questions left out with their answers, because their words were deleted: ${count}.`,
  edited: 'edited after it was sent',
  now: 'It now says:',
  about: (writer: string) => `About a message from ${writer}:`,
  none: 'No answer of its own; the answer to another message may cover it.',
  failed: (reason: string) => `The agent ran into a problem and stopped: ${reason}`,
  notFound: 'The agent service no longer has this.',
  tooLarge: 'This is too large to be read.',
  deleted: 'This answer, or a part of it, was deleted from the thread.',
  reviewDeleted: 'This review, or a part of it, was deleted from the thread.',
  defaultModel: "the agent service's default",
  forgotten: 'someone who was forgotten',
  goesOn: 'The rest of the conversation is in record.html.',
  /** Why a file is not in the record. */
  files: {
    tooMuch: (limitBytes: number) => `no room left for more than ${formatSize(limitBytes)} of files`,
    noSpace: 'no room left for temporary files on the server',
    deleted: 'deleted in Slack',
    gone: 'no longer at the agent service or in Slack',
    tooSlow: 'took too long',
    failed: "couldn't be downloaded",
  },
} as const;

export const tasks = {
  automatic: 'a bot or workflow',
  untitled: 'Untitled task',
  direct: 'direct message',
  states: {
    idle: 'waiting for a message',
    running: 'working',
    completed: 'done',
    cancelled: 'stopped',
    failed: 'failed',
    gone: 'no longer at the agent service',
    asking: 'waiting for your answer',
  },
  noneHere: 'There are no tasks here yet. Mention me with a question to start one.',
  title: 'Task',
  notFound: 'This task is no longer here; it was probably deleted.',
  /** `state` is one of `states` or a word of the service, `reason` what the service said, or ''. */
  review: (state: string, reason: string): string =>
    `Review: ${state}${reason === '' ? '' : ` (“${reason}”)`}`,
  noFiles: 'This task has no files.',
  filesUnavailable:
    "I can't reach the agent service right now, so I can't show the files. Try again in a moment.",
  filesLookedFor: 'I just asked the agent service for new files.',
  input: 'sent to the agent',
  output: 'made by the agent',
  fileNotFound: 'A file that the agent service no longer has',
  fileOnTheWay: "I'm sending it to you in a direct message. A large file takes a while.",
  fileSent: "It's in your direct messages with me.",
  fileEmpty: "This file is empty (0 bytes), and Slack doesn't accept empty files.",
  deleteTitle: 'Delete this task?',
  deleteText:
    'The agent permanently forgets this conversation. Messages in the thread stay in Slack, and the files stay in the project.',
  deleting:
    "I'm deleting this task, and its thread says when that's done. Its messages stay in Slack, and its files stay in the project.",
  accountGone:
    "This task belongs to an earlier agent account of this workspace, so I can't delete it. Ask that account's owner to delete it there.",
  busy: 'The agent is still working on this task. Stop it first, then delete the task.',
} as const;

/** Posted once in the thread of a deleted task; `userId` is Slack's, or ''. */
export function taskDeleted(userId: string): string {
  const who = userId === '' ? 'This task was deleted' : `<@${userId}> deleted this task`;
  return `${who}, so the agent has forgotten this conversation. The files stay in the project, and your next message here starts a new task.`;
}

/** Posted once in the thread of a task that can no longer be deleted. */
export const deletionImpossible =
  "I can't delete this thread's task, because it belongs to an earlier agent account of this workspace. Ask that account's owner to delete it there; your next message here starts a new task.";

/** Posted once in the thread of a task that the service did not delete for a week. */
export const deletionAbandoned =
  "I tried to delete this thread's task for a week without success, and have given up. Ask the agent service's operator to delete it; your next message here starts a new task.";

/** The heading over the tasks of a channel or direct message; `count` is how many there are. */
export function channelTasks(shown: number, count: number): string {
  if (count === 1) return 'The only task here so far:';
  if (shown === count) return `The ${count} tasks here, newest first:`;
  return `The newest ${shown} of ${count} tasks here; the others are in my App Home:`;
}

/** What an admin reads about the use of the agent. */
export const usage = {
  heading: 'How much the agent is used',
  title: 'Usage',
  about: 'This month and last, by channel and model, without anything that people wrote.',
  /** `since` is a month, such as 2026-10. */
  aboutCsv: (since: string) =>
    `The use of the agent in this workspace since ${since} (UTC). Each line is for one month, person, channel and model; minutes are those of the agent's work. Names are empty for private channels, and where Slack doesn't tell them.`,
  none: 'Nobody has asked anything.',
  all: 'All channels',
  more: (count: number) => `${count === 1 ? '1 more line is' : `${count} more lines are`} in the CSV.`,
  notAdmin: 'Only admins and owners of this workspace can see its usage.',
  defaultModel: 'default model',
  figures: {
    questions: (count: number) => counted(count, 'question'),
    answers: (count: number) => counted(count, 'answer'),
    minutes: (count: number) => `${counted(count, 'minute')} of work`,
    filesIn: (count: number) => `${counted(count, 'file')} in`,
    filesOut: (count: number) => `${counted(count, 'file')} out`,
    stops: (count: number) => `${count} stopped`,
    failures: (count: number) => `${count} failed`,
    thumbsUp: (count: number) => `${count} 👍`,
    thumbsDown: (count: number) => `${count} 👎`,
  },
} as const;
