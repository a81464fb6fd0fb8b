import type { MessageContent, Thread } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { addresseeOf, isReplyForBot } from '../reading/addressing.ts';
import { parseMessage } from '../reading/message-parser.ts';
import { isStopWord } from '../reading/stop-word.ts';
import type { RelayDeps, ThreadWork, WorkspaceClient } from '../runtime/deps.ts';
import { isEarlierTs, messageContent } from '../runtime/incoming-message.ts';

/** Reads replies back that arrived before the mention that made their thread ours: only their ids were kept. */
export async function recoverOrphanReplies(
  { deps, workspace, lease }: ThreadWork,
  thread: Thread,
): Promise<void> {
  const orphanTs = await deps.store.orphanReplies.after(thread, thread.adopted_ts);
  const [oldest, latest] = [orphanTs[0], orphanTs.at(-1)];
  if (oldest === undefined) return;
  const request = { channel: thread.channel, threadTs: thread.thread_ts, signal: lease.signal };
  for await (const message of workspace.readBack.messages({ ...request, oldest, latest })) {
    const { ts, user: person, bot_id } = message;
    if (!orphanTs.includes(ts) || person === undefined || bot_id !== undefined) continue;
    await addOrphanReply(deps, workspace, thread, { ts, person, content: messageContent(message) });
  }
  await deps.store.orphanReplies.clear(thread);
}

async function addOrphanReply(
  deps: RelayDeps,
  { bot }: WorkspaceClient,
  thread: Thread,
  { ts, person, content }: { ts: string; person: string; content: MessageContent },
): Promise<void> {
  const { workspace, channel, thread_ts } = thread;
  const parsed = parseMessage(content);
  const addressee = addresseeOf({ channel, thread_ts, ts, person }, parsed, bot.userId);
  const listening = await deps.store.threads.listening({ workspace, channel, thread_ts }, person, ts);
  const isForBot =
    addressee === 'bot' ||
    (listening !== undefined && isReplyForBot(listening, addressee, deps.settings.listenMode));
  if (!isForBot && !listening?.isBetweenPeople) return;
  const isStop = isStopWord(parsed, bot.userId);
  await deps.store.transaction(async (store, trx) => {
    if (isStop) await withdrawEarlierMessages(store, thread, ts);
    const state = isStop ? 'closed' : isForBot ? 'waiting' : 'unsent';
    const kept = isForBot ? content : null;
    const row = { thread_ts, user_id: person, state, content: kept, edited_ts: null } as const;
    const added = await store.messages.add({ workspace, channel, ts }, row);
    if (added && state === 'waiting') await deps.enqueue(trx, thread);
  });
}

/** A stop before anything was sent: earlier waiting messages are never sent. */
async function withdrawEarlierMessages(store: Store, thread: Thread, before: string): Promise<void> {
  for (const message of await store.pausedThreads.waitingMessages(thread)) {
    if (isEarlierTs(message.ts, before)) await store.messages.withdraw(message);
  }
}
