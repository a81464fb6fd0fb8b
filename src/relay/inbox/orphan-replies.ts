import type { ThreadKey } from '../../store/keys.ts';
import type { MessageContent, Thread } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { readMentions } from '../reading/mentions.ts';
import { parseMessage } from '../reading/message-parser.ts';
import { isStopWord } from '../reading/stop-word.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import { isEarlierTs, messageContent } from '../runtime/incoming-message.ts';
import type { Lease } from '../runtime/lease.ts';

/**
 * Replies that arrived before the mention that made their thread ours: only their ids were kept, so they are read back
 * once and wait in the thread like any other.
 */
export async function recoverOrphanReplies(
  deps: RelayDeps,
  workspace: WorkspaceClient,
  key: ThreadKey,
  lease: Lease,
): Promise<void> {
  const thread = await deps.store.threads.get(key);
  if (thread === undefined) return;
  const orphanTs = new Set(await deps.store.orphanReplies.after(key, thread.began_ts));
  if (orphanTs.size === 0) return;
  const request = { channel: key.channel, threadTs: key.root, signal: lease.signal };
  for await (const message of workspace.readBack.messages({ ...request, oldest: thread.began_ts })) {
    if (!orphanTs.has(message.ts) || message.user === undefined || message.bot_id !== undefined) continue;
    await addOrphanReply(
      deps,
      workspace,
      thread,
      { ts: message.ts, person: message.user },
      messageContent(message),
    );
  }
  await deps.store.orphanReplies.clear(key);
}

async function addOrphanReply(
  deps: RelayDeps,
  workspace: WorkspaceClient,
  thread: Thread,
  message: { ts: string; person: string },
  content: MessageContent,
): Promise<void> {
  if (readMentions(parseMessage(content), workspace.bot.userId).startsWithOtherPerson) return;
  await deps.store.transaction(async (store, trx) => {
    const key = { workspace: thread.workspace, channel: thread.channel, ts: message.ts };
    const isStop = isStopWord(parseMessage(content), workspace.bot.userId);
    if (isStop) await withdrawEarlierMessages(store, thread, message.ts);
    const state = isStop ? 'closed' : 'waiting';
    const added = await store.messages.add(key, {
      root: thread.root,
      person: message.person,
      state,
      words: content,
      editedTs: null,
    });
    if (added && !isStop) await deps.enqueue(trx, thread);
  });
}

/** A stop before anything was sent: what waits before it never is. */
async function withdrawEarlierMessages(store: Store, thread: Thread, before: string): Promise<void> {
  for (const message of await store.pausedThreads.waitingMessages(thread)) {
    if (isEarlierTs(message.ts, before)) await store.messages.withdraw(message);
  }
}
