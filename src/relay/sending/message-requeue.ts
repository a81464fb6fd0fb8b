import type { Message, Turn } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { messageKeyOf } from '../../store/threads/turns.ts';
import type { RelayDeps } from '../runtime/deps.ts';

type StoreDeps = Pick<RelayDeps, 'store'>;

/** Closes a turn's message: it is not sent. Since `turn` was read, the turn may have been reassigned to another message. */
export async function closeMessage({ store }: StoreDeps, turn: Turn): Promise<void> {
  const now = await store.turns.get(turn.workspace, turn.id);
  if (now !== undefined) await store.messages.leaveUnsent(messageKeyOf(now), 'closed');
}

/** Closes an empty message, unless it was edited or deleted since it was read. */
export async function closeIfUnchanged(
  { store }: StoreDeps,
  turn: Turn,
  messageAsRead: Message,
): Promise<'closed' | 'changed' | 'withdrawn'> {
  return store.transaction(async ({ threads, messages }) => {
    await threads.lock(turn);
    const now = await messages.get(messageAsRead);
    if (now === undefined || now.state === 'withdrawn') return 'withdrawn';
    if (now.edited_ts !== messageAsRead.edited_ts) return 'changed';
    await messages.leaveUnsent(messageAsRead, 'closed');
    return 'closed';
  });
}

/** Deletes a turn that sent nothing, with its reply: its message waits again, as it was edited meanwhile. False if it was deleted. */
export async function requeueMessage(
  { store }: StoreDeps,
  turn: Turn,
  reply?: { remove(): Promise<void> },
): Promise<boolean> {
  await reply?.remove();
  return store.transaction(async ({ threads, messages, turns, earlyEdits, pausedThreads }) => {
    await threads.lock(turn);
    const now = await turns.get(turn.workspace, turn.id);
    if (now === undefined) return false;
    const { workspace, forwarded_by_turn_id } = now;
    const isWaiting =
      (await messages.leaveUnsent(messageKeyOf(now), 'waiting')) &&
      !(await applyPendingEdit({ messages, earlyEdits }, now));
    await turns.delete(turn);
    // The message was being forwarded when the run was stopped, and is now paused like the others.
    const run = forwarded_by_turn_id === null ? undefined : await turns.get(workspace, forwarded_by_turn_id);
    if (run !== undefined && run.finished_at === null && run.stop_requested_at !== null)
      await pausedThreads.pause(run);
    return isWaiting;
  });
}

/** Applies what people changed about a message while it was being sent. True if they deleted it. */
async function applyPendingEdit(
  { messages, earlyEdits }: Pick<Store, 'messages' | 'earlyEdits'>,
  turn: Turn,
): Promise<boolean> {
  const key = messageKeyOf(turn);
  const change = await earlyEdits.claim(key, key.ts);
  if (change?.is_deletion === true) return messages.withdraw(key);
  if (change?.content != null && change.edited_ts !== null)
    await messages.updateContent(key, change.content, change.edited_ts);
  return false;
}
