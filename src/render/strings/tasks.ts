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
  },
  noneHere: 'There are no tasks here yet. Mention me with a question to start one.',
  title: 'Task',
  notFound: 'This task is no longer here; it was probably deleted.',
  outsider: "You aren't in this task's channel, so I can't show it to you.",
  membershipUnknown:
    "Slack can't tell me right now whether you're in this task's channel. Try again in a moment.",
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
  deleted: 'The task is deleted. Its messages stay in Slack, and its files stay in the project.',
  deletedLater:
    "I can't reach the agent service right now, so I'll delete the task once it's back. Its files stay in the project.",
  accountGone:
    "This task belongs to an earlier agent account of this workspace, which I can no longer reach, so I can't delete it. Ask that account's owner to delete it there.",
  busy: 'The agent is still working on this task. Stop it first, then delete the task.',
} as const;

/** Posted once in the thread of a deleted task; `userId` is Slack's, or ''. */
export function taskDeleted(userId: string): string {
  const who = userId === '' ? 'This task was deleted' : `<@${userId}> deleted this task`;
  return `${who}, so the agent has forgotten this conversation. The files stay in the project, and your next message here starts a new task.`;
}

/** Posted once in the thread of a task that can no longer be deleted. */
export const deletionImpossible =
  "I can't delete this thread's task, because it belongs to an earlier agent account of this workspace that I can no longer reach. Ask that account's owner to delete it there; your next message here starts a new task.";

/** Posted once in the thread of a task that the service did not delete for a week. */
export const deletionAbandoned =
  "I tried to delete this thread's task for a week without success, and have given up. Ask the agent service's operator to delete it; your next message here starts a new task.";

/** The heading over the tasks of a channel or direct message; `count` is how many there are. */
export function channelTasks(shown: number, count: number): string {
  if (count === 1) return 'The only task here so far:';
  if (shown === count) return `The ${count} tasks here, newest first:`;
  return `The newest ${shown} of ${count} tasks here; the others are in my App Home:`;
}
