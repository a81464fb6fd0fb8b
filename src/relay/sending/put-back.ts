import type { Message, Turn } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { messageKeyOf } from '../../store/threads/turns.ts';
import type { RelayDeps } from '../runtime/deps.ts';

type StoreDeps = Pick<RelayDeps, 'store'>;

/** A turn's message is not sent any more. It may have been given to an earlier message since `turn` was read. */
export async function closeMessage({ store }: StoreDeps, turn: Turn): Promise<void> {
  const now = await store.turns.get(turn.workspace, turn.id);
  if (now !== undefined) await store.messages.putBack(messageKeyOf(now), 'closed');
}

/** Closes a message that asks nothing, as it was read; one that was changed since, or taken back, stays as it is. */
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
    await messages.putBack(messageAsRead, 'closed');
    return 'closed';
  });
}

/**
 * The message of a turn was not sent and waits again, without a turn, as people have changed it meanwhile; what is shown
 * of it goes away. False where it was taken back.
 */
export async function putBack(
  { store }: StoreDeps,
  turn: Turn,
  reply?: { remove(): Promise<void> },
): Promise<boolean> {
  await reply?.remove();
  return store.transaction(async ({ threads, messages, turns, pausedThreads: holds }) => {
    await threads.lock(turn);
    const now = await turns.get(turn.workspace, turn.id);
    if (now === undefined) return false;
    const { workspace, passed_on_by } = now;
    const waits =
      (await messages.putBack(messageKeyOf(now), 'waiting')) && !(await applyPendingEdit(messages, now));
    await turns.delete(turn);
    // It was on its way when the run was stopped, and waits behind that stop now like the rest.
    const run = passed_on_by === null ? undefined : await turns.get(workspace, passed_on_by);
    if (run !== undefined && run.finished_at === null && run.stop_asked_at !== null) await holds.pause(run);
    return waits;
  });
}

/** What people changed about a message while it was being sent; true where they took it back. */
async function applyPendingEdit(messages: Store['messages'], turn: Turn): Promise<boolean> {
  const key = messageKeyOf(turn);
  const change = await messages.claimEarlyEdit(key, key.ts);
  if (change?.deleted === true) return messages.withdraw(key);
  if (change?.words != null && change.edited_ts !== null)
    await messages.updateContent(key, change.words, change.edited_ts);
  return false;
}
