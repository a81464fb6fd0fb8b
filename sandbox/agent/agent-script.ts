import type { RunningTurn } from './agent-turn.ts';

export { type AttachedFile, type ReviewPlan, TurnCancelled } from './agent-turn.ts';

/** What a script sees of its turn. */
export type AgentTurn = Omit<
  RunningTurn,
  'reply' | 'backgroundWork' | 'reviews' | 'asking' | 'answer' | 'hurry' | 'cancel' | 'close'
>;

/** The agent's program for one message. Returning completes the reply; throwing fails it. */
export type AgentScript = (turn: AgentTurn) => Promise<void>;
