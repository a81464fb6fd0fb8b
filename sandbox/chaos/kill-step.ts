import type { OpenTurn } from './bot-database.ts';

/** The steps of a turn at which a kill can hit, in order; the run's JSON has them as keys. */
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

/** The step that a turn is at; `completedReplies` are ids of the service's completed replies. */
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
