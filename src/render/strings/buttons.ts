/** The labels of buttons (Slack: 75 characters). */
export const buttons = {
  stop: 'Stop',
  stopNow: 'Stop now',
  continue: 'Continue',
  retry: 'Try again',
  freshLinks: 'Get fresh links',
  sendCorrection: 'Send the correction',
  thumbsUp: '👍',
  thumbsDown: '👎',
  addComment: 'Add a comment',
  send: 'Send',
  cancel: 'Cancel',
  sendPaused: 'Send to agent',
  discardPaused: 'Discard',
  download: 'Download',
  steps: 'Steps',
  earlierSteps: 'Earlier steps',
  laterSteps: 'Later steps',
  close: 'Close',
  chooseAgain: 'Choose again',
  newThread: 'Start a new thread',
  details: 'Details',
  refresh: 'Refresh',
  newer: 'Newer',
  older: 'Older',
  channelSettings: 'Channel settings',
  openThread: 'Open thread',
  sendToMe: 'Send to me',
  deleteTask: 'Delete task',
  keepTask: 'Keep it',
  back: 'Back',
  more: 'More',
} as const;

/** What screen readers say for the thumbs. */
export const thumbsUpLabel = 'Good answer';
export const thumbsDownLabel = 'Bad answer';
