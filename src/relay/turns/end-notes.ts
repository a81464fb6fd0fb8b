import type { ReplyPhase } from '../../render/messages/reply-message.ts';
import * as strings from '../../render/strings/index.ts';
import type { Turn } from '../../store/schema.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import { messageOfTurn } from '../sending/outgoing-message.ts';
import { findResentMessage } from '../sending/resent-message.ts';

const ANSWERED_PHASES: ReadonlySet<ReplyPhase> = new Set(['done', 'length', 'background']);

/** What a settled reply says beside its answer: that it is of another task, and, once in a channel, who is speaking. */
export async function endNotes(deps: RelayDeps, turn: Turn, phase: ReplyPhase): Promise<string[]> {
  const { store } = deps;
  const resent = await findResentMessage(store, await messageOfTurn(deps, turn));
  const isMoved = resent !== undefined && resent.taskId !== null && resent.taskId !== turn.task_id;
  const showsIntroduction =
    ANSWERED_PHASES.has(phase) && (await store.oneTimeNotices.claimForTurn(turn, 'introduction'));
  return [
    ...(isMoved ? [strings.newConversation] : []),
    ...(showsIntroduction ? [strings.automatedNotice] : []),
  ];
}
