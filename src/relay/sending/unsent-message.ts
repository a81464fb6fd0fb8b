import type { MessageKey, Turn } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import type { WholeMessage } from '../../store/threads/messages.ts';
import { isFrozen, isOver } from '../../store/threads/turn-phase.ts';
import { messageKeyOf } from '../../store/threads/turns.ts';
import { messageUpdate } from '../reading/message-versions.ts';
import type { RelayDeps } from '../runtime/deps.ts';

/** Closes the message that a turn has now, perhaps another than in `turn`. A closed message is never sent. */
export async function closeMessage({ store }: Pick<RelayDeps, 'store'>, turn: Turn): Promise<void> {
  const now = await store.turns.get(turn.workspace, turn.id);
  if (now !== undefined) await store.messages.leaveUnsent(messageKeyOf(now), 'closed');
}

/** Closes a message with its parts, unless it was deleted (`withdrawn`) or a part has `changed` since it was read. */
export async function closeIfUnchanged(
  { store }: Pick<RelayDeps, 'store'>,
  turn: Turn,
  { parts }: WholeMessage,
): Promise<'closed' | 'changed' | 'withdrawn'> {
  return store.transaction(async ({ threads, messages }) => {
    await threads.lock(turn);
    const [head, ...others] = parts;
    for (const part of parts) {
      const now = await messages.get(part);
      if (part === head && (now === undefined || now.state === 'withdrawn')) return 'withdrawn';
      if (now?.state !== part.state || now.version !== part.version) return 'changed';
    }
    const otherTs = others.map(({ ts }) => ts);
    await messages.join(head, otherTs); // Joined with the head, they are closed with it.
    await messages.leaveUnsent(head, 'closed');
    return 'closed';
  });
}

/**
 * Deletes a turn that sent nothing, with its `reply`. Its message and those joined to it wait again, as people have edited
 * them meanwhile. Returns false if none waits then: all were deleted, or the turn is gone.
 */
export async function requeueMessage(
  { store }: Pick<RelayDeps, 'store'>,
  turn: Turn,
  reply?: { remove(): Promise<void> },
): Promise<boolean> {
  await reply?.remove();
  return store.transaction(async ({ threads, messages, turns, pendingEdits, pausedThreads }) => {
    await threads.lock(turn);
    const now = await turns.get(turn.workspace, turn.id);
    if (now === undefined) return false;
    const { workspace, passed_on_by_turn_id } = now;
    // Before the message is frozen, `ofTurn` also returns messages that only could go with it.
    const parts = isFrozen(now) ? await messages.ofTurn(now) : [messageKeyOf(now)];
    let isWaiting = false;
    const waitAgain = await messages.leaveUnsent(messageKeyOf(now), 'waiting');
    for (const key of waitAgain ? parts : [])
      if (await applyPendingEdit({ messages, pendingEdits }, key)) isWaiting = true;
    await turns.delete(turn);
    // A message that was passed on to a run that people have stopped is paused behind it, like the others.
    const run = passed_on_by_turn_id === null ? undefined : await turns.get(workspace, passed_on_by_turn_id);
    if (run !== undefined && !isOver(run) && run.stop_requested_at !== null) await pausedThreads.pause(run);
    return isWaiting;
  });
}

/** Applies an edit or deletion that came while a message was being sent. Returns false if the message is withdrawn. */
async function applyPendingEdit(
  { messages, pendingEdits }: Pick<Store, 'messages' | 'pendingEdits'>,
  key: MessageKey,
): Promise<boolean> {
  const change = await pendingEdits.claim(key, key.ts);
  if (change?.is_deletion === true) return !(await messages.withdraw(key));
  if (change?.content == null) return true;
  const { content, edited_ts } = change;
  const message = await messages.get(key);
  if (message?.content == null) return true;
  const known = { ...message, content: message.content };
  await messages.updateContent(message, messageUpdate(known, { content, edited_ts }, { isPartial: false }));
  return true;
}
