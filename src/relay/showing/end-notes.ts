import type { ReplyPhase } from '../../reply/reply-message.ts';
import * as words from '../../reply/words.ts';
import type { Turn } from '../../store/tables.ts';
import { messageOfTurn } from '../asking/question.ts';
import { findResentMessage } from '../asking/resending.ts';
import type { RelayDeps } from '../context.ts';

const ANSWERED_PHASES: ReadonlySet<ReplyPhase> = new Set(['done', 'length', 'background']);

/** What a settled reply says beside its answer: that it is of another task, and, once in a channel, who is speaking. */
export async function endNotes(deps: RelayDeps, turn: Turn, phase: ReplyPhase): Promise<string[]> {
  const { store } = deps;
  const resent = await findResentMessage(store, await messageOfTurn(deps, turn));
  const isMoved = resent !== undefined && resent.taskId !== null && resent.taskId !== turn.task_id;
  const showsIntroduction = ANSWERED_PHASES.has(phase) && (await store.introductionNotices.claim(turn));
  return [...(isMoved ? [words.beganAnew] : []), ...(showsIntroduction ? [words.automated] : [])];
}
