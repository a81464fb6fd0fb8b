import type { ReplyPhase } from '../../reply/reply-message.ts';
import * as words from '../../reply/words.ts';
import type { Turn } from '../../store/tables.ts';
import { messageOf } from '../asking/question.ts';
import { sentBefore } from '../asking/resending.ts';
import type { RelayParts } from '../context.ts';

const answered: ReadonlySet<ReplyPhase> = new Set(['done', 'length', 'background']);

/** What a settled reply says beside its answer: that it is of another task, and, once in a channel, who is speaking. */
export async function endNotes(parts: RelayParts, turn: Turn, phase: ReplyPhase): Promise<string[]> {
  const { store } = parts;
  const before = await sentBefore(store, await messageOf(parts, turn));
  const isMoved = before !== undefined && before.taskId !== null && before.taskId !== turn.task_id;
  const introduces = answered.has(phase) && (await store.introductions.take(turn));
  return [...(isMoved ? [words.beganAnew] : []), ...(introduces ? [words.automated] : [])];
}
