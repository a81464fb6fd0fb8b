import type { ThreadKey } from '../../store/keys.ts';
import type { Store } from '../../store/store.ts';
import type { Thread, Words } from '../../store/tables.ts';
import type { RelayParts, Workspace } from '../context.ts';
import type { Lease } from '../lease.ts';
import { mentions } from '../reading/mentions.ts';
import { readMessage } from '../reading/message.ts';
import { isStopWord } from '../reading/stop-word.ts';
import { isEarlier, wordsIn } from './arrivals.ts';

/**
 * Replies that arrived before the mention that made their thread ours: only their ids were kept, so they are read back
 * once and wait in the thread like any other.
 */
export async function admitStrays(
  parts: RelayParts,
  workspace: Workspace,
  key: ThreadKey,
  lease: Lease,
): Promise<void> {
  const thread = await parts.store.threads.get(key);
  if (thread === undefined) return;
  const strays = new Set(await parts.store.strays.after(key, thread.began_ts));
  if (strays.size === 0) return;
  const request = { channel: key.channel, threadTs: key.root, signal: lease.signal };
  for await (const message of workspace.readBack.messages({ ...request, oldest: thread.began_ts })) {
    if (!strays.has(message.ts) || message.user === undefined || message.bot_id !== undefined) continue;
    await admit(parts, workspace, thread, { ts: message.ts, person: message.user }, wordsIn(message));
  }
  await parts.store.strays.forget(key);
}

async function admit(
  parts: RelayParts,
  workspace: Workspace,
  thread: Thread,
  message: { ts: string; person: string },
  words: Words,
): Promise<void> {
  if (mentions(readMessage(words), workspace.bot.userId).someoneElse) return;
  await parts.store.transaction(async (store, trx) => {
    const key = { workspace: thread.workspace, channel: thread.channel, ts: message.ts };
    const isStop = isStopWord(readMessage(words), workspace.bot.userId);
    if (isStop) await takeBack(store, thread, message.ts);
    const state = isStop ? 'closed' : 'waiting';
    const added = await store.messages.add(key, {
      root: thread.root,
      person: message.person,
      state,
      words,
      editedTs: null,
    });
    if (added && !isStop) await parts.enqueue(trx, thread);
  });
}

/** A stop before anything was sent: what waits before it never is. */
async function takeBack(store: Store, thread: Thread, before: string): Promise<void> {
  for (const message of await store.holds.waiting(thread)) {
    if (isEarlier(message.ts, before)) await store.messages.withdraw(message);
  }
}
