import { sql } from 'kysely';
import type { TurnPhase } from '../schema.ts';

/** What an unfinished turn is doing, in order: until its message is at the service, until its reply has settled, until its end. */
export const BEFORE_SENT = ['opening', 'preparing', 'frozen', 'sending'] as const;
export const BEFORE_SETTLED = [...BEFORE_SENT, 'sent', 'following'] as const;
export const PHASES = [...BEFORE_SETTLED, 'finishing'] as const;

const IN_DOUBT: readonly TurnPhase[] = ['sending', 'doubted'];
const AT_SERVICE: readonly TurnPhase[] = ['sent', 'following', 'finishing', 'ended'];
const OVER: readonly TurnPhase[] = ['unsent', 'doubted', 'ended'];

const isIn = (phases: readonly TurnPhase[]) => (turn: { phase: TurnPhase }) => phases.includes(turn.phase);

/** Whether a turn's message was frozen: edits come too late. */
export const isFrozen = isIn([...IN_DOUBT, ...AT_SERVICE, 'frozen']);
/** Whether a turn began to send its message, and nobody knows yet whether the service has it. */
export const isSendInDoubt = isIn(IN_DOUBT);
/** Whether the service has, or may have, a turn's message. */
export const mayBeAtService = isIn([...IN_DOUBT, ...AT_SERVICE]);
/** Whether the service has a turn's message. */
export const isAtService = isIn(AT_SERVICE);
/** Whether a turn's reply has settled, or the turn has ended without one. */
export const hasSettled = isIn(['finishing', ...OVER]);
/** Whether a turn has ended. */
export const isOver = isIn(OVER);

// For the table of turns. The indexes know an unfinished turn by this column: a phase there would be written into all of them.

/** Whether a turn is unfinished. */
export const isOpenTurn = sql<boolean>`finished_at is null`;
/** Whether a turn is unfinished, and its reply has not settled. */
export const isAtWork = sql<boolean>`(${isOpenTurn} and phase <> 'finishing')`;
/** Whether the service has a turn's message. */
export const hasSent = sql<boolean>`phase in (${sql.join(AT_SERVICE.map((phase) => sql.lit(phase)))})`;
