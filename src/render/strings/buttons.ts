/**
 * What a press is about, which decides what its handler gets and when Slack is answered. `control`: the turn whose id ends
 * the value; answered once it is recorded. `message`: the message whose ts is the value; likewise. `turn`: a turn too, and
 * `view`: the Home tab or modal with the button, `form`: a form that opens from anywhere; these change nothing here, so Slack is
 * answered at once. `link`: nobody handles it.
 */
type PressKind = 'control' | 'message' | 'turn' | 'view' | 'form' | 'link';

/** Every button, and item of a menu, by its action id: its label (Slack: 75 characters), and what a press is about. */
export const buttons = {
  stop: { label: 'Stop', about: 'control' },
  stop_listed: { label: 'Stop', about: 'control' },
  continue: { label: 'Continue', about: 'control' },
  retry: { label: 'Try again', about: 'control' },
  go_ahead: { label: 'Go ahead', about: 'control' },
  stop_here: { label: 'Stop here', about: 'control' },
  replace_sources: { label: 'Ask the agent to replace them', about: 'control' },
  correct: { label: 'Send the correction', about: 'message' },
  send_paused: { label: 'Send to agent', about: 'control' },
  discard_paused: { label: 'Discard', about: 'control' },
  feedback: { label: '👍', about: 'control' },
  send_now: { label: 'Send now', about: 'message' },
  send_instead: { label: 'Stop and send this instead', about: 'message' },
  send_reply: { label: 'Send', about: 'message' },
  keep_listening: { label: 'Keep listening here', about: 'message' },
  stop_listening: { label: 'Stop listening here', about: 'message' },
  fresh_links: { label: 'Get fresh links', about: 'turn' },
  download_all: { label: 'Download all', about: 'turn' },
  save_record: { label: 'Save record', about: 'turn' },
  feedback_comment: { label: 'Add a comment', about: 'turn' },
  choose_again: { label: 'Choose again', about: 'turn' },
  new_thread: { label: 'Start a new thread', about: 'turn' },
  ask_again: { label: 'Ask again', about: 'turn' },
  steps: { label: 'Steps', about: 'turn' },
  steps_page: { label: 'Earlier steps', about: 'view' },
  steps_next_page: { label: 'Later steps', about: 'view' },
  ask_agent: { label: 'Ask the agent', about: 'form' },
  home_refresh: { label: 'Refresh', about: 'view' },
  home_newer: { label: 'Newer', about: 'view' },
  home_older: { label: 'Older', about: 'view' },
  home_channel: { label: 'Choose a channel', about: 'view' },
  home_settings: { label: 'Channel settings', about: 'view' },
  task_details: { label: 'Details', about: 'view' },
  task_files_back: { label: 'Back', about: 'view' },
  task_files_more: { label: 'More', about: 'view' },
  task_files_look: { label: 'Look for new files', about: 'view' },
  task_file: { label: 'Send to me', about: 'view' },
  task_record: { label: 'Save record', about: 'view' },
  task_delete: { label: 'Delete task', about: 'view' },
  account_set: { label: 'Set account', about: 'view' },
  account_remove: { label: 'Remove account', about: 'view' },
  workspace_settings_change: { label: 'Change this', about: 'view' },
  usage_show: { label: 'Show the figures', about: 'view' },
  usage_csv: { label: 'Send me a CSV by person', about: 'view' },
  open_result: { label: 'Download', about: 'link' },
  open_thread: { label: 'Open thread', about: 'link' },
} as const satisfies Record<string, { label: string; about: PressKind }>;

/** The labels of forms, of confirmations, and of buttons while something is under way. */
export const labels = {
  stopNow: 'Stop now',
  thumbsDown: '👎',
  send: 'Send',
  cancel: 'Cancel',
  close: 'Close',
  keepTask: 'Keep it',
  tryPrompt: 'Try it',
} as const;

export const thumbsUpLabel = 'Good answer';
export const thumbsDownLabel = 'Bad answer';
