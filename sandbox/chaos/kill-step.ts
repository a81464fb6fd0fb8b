/** The steps of a turn at which a kill can hit, in their order. */
export const KILL_STEPS = [
  'before first reply',
  'project',
  'task',
  'uploading',
  'freezing',
  'frozen',
  'sending',
  'sent',
  'following',
  'settling',
  'results',
] as const;
export type KillStep = (typeof KILL_STEPS)[number];

/** An unfinished turn as its rows tell it. */
export interface OpenTurn {
  /** Whether the thread's first reply stands in Slack. */
  hasReply: boolean;
  hasProject: boolean;
  hasTask: boolean;
  hasFiles: boolean;
  hasContent: boolean;
  hasSendIntent: boolean;
  userMessageId: string | null;
  assistantMessageId: string | null;
  isSettled: boolean;
}

/** At which step a turn is; `repliesSettled` are the service's replies that are complete. */
export function killStepOf(turn: OpenTurn, completedReplies: ReadonlySet<string>): KillStep {
  if (turn.isSettled) return 'results';
  if (turn.assistantMessageId !== null) {
    return completedReplies.has(turn.assistantMessageId) ? 'settling' : 'following';
  }
  if (turn.userMessageId !== null) return 'sent';
  if (turn.hasSendIntent) return 'sending';
  if (turn.hasContent) return 'frozen';
  if (!turn.hasReply) return 'before first reply';
  if (!turn.hasProject) return 'project';
  if (!turn.hasTask) return 'task';
  return turn.hasFiles ? 'uploading' : 'freezing';
}
