import * as strings from '../../render/strings/index.ts';
import { MessageGoneError, type SlackError } from '../../slack/errors.ts';
import type { Thread } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { certainClosingAt } from '../access/access-policy.ts';
import { addresseeOf, listenTo } from '../reading/listening.ts';
import { asPersons, isByApp, parseMessage } from '../reading/message-parser.ts';
import type { RelayDeps, ThreadWork, WorkspaceClient } from '../runtime/deps.ts';
import { type IncomingMessage, isBotId, isEarlierTs, messageContent } from '../runtime/incoming-message.ts';
import { trySendEphemeral } from '../runtime/private-notices.ts';
import { withPatience } from '../runtime/retry-and-giving-up.ts';
import { stopIn } from './stop-word.ts';

/**
 * Reads replies back that arrived before the mention that made their thread ours: only their ids were kept. Who wrote the
 * mention is told where Slack refuses them for good, or keeps failing. Throws an Interruption, the lease's reason or a StoreError.
 */
export async function recoverOrphanReplies(work: ThreadWork, thread: Thread): Promise<void> {
  const { deps, workspace, lease } = work;
  const orphanTs = await deps.store.orphanReplies.after(thread, thread.adopted_ts);
  const [oldest, latest] = [orphanTs[0], orphanTs.at(-1)];
  if (oldest === undefined || (await certainClosingAt(deps, thread)) !== undefined) return;
  const { channel, thread_ts: threadTs, started_by: person } = thread;
  const request = { channel, threadTs, oldest, latest, signal: lease.signal };
  const isHuman = async (id: string) => (await workspace.people.requirePerson(id, lease.signal)).isHuman;
  const read = async () => {
    for await (const sent of workspace.readBack.messages(request)) {
      const message = await asPersons(sent, workspace.bot, isHuman);
      const { ts, user, edited } = message;
      if (!orphanTs.includes(ts) || user === undefined || isByApp(message)) continue;
      const reply = { ts, person: user, content: messageContent(message), editedTs: edited?.ts };
      await addOrphanReply(deps, workspace, thread, reply);
    }
  };
  const about = { workspace: workspace.id, channel, thread_ts: threadTs };
  const orElse = (error: SlackError) => {
    if (error instanceof MessageGoneError || isBotId(person)) return;
    trySendEphemeral(deps, { workspace: workspace.id, channel, threadTs, person }, strings.repliesUnread);
  };
  await withPatience(work, read, { about, orElse });
  await deps.store.orphanReplies.clear(thread);
}

async function addOrphanReply(
  deps: RelayDeps,
  { bot }: WorkspaceClient,
  thread: Thread,
  { ts, person, content, editedTs }: Pick<IncomingMessage, 'ts' | 'person' | 'content' | 'editedTs'>,
): Promise<void> {
  const { workspace, channel, thread_ts } = thread;
  const parsed = parseMessage(content);
  const reply = { workspace, channel, thread_ts, ts, person, content };
  const addressee = addresseeOf(reply, parsed, bot.userId);
  const { state } = await listenTo(deps, reply, addressee);
  if (state == null) return;
  const isStop = stopIn(parsed, bot.userId) === 'word';
  await deps.store.transaction(async (store, trx) => {
    if (isStop) await withdrawEarlierMessages(store, thread, ts);
    const kept = state === 'waiting' ? content : null;
    const row = { thread_ts, user_id: person, content: kept, edited_ts: editedTs ?? null };
    const asRead = { ...row, state: isStop ? ('closed' as const) : state };
    const added = await store.messages.add({ workspace, channel, ts }, asRead);
    if (added && state === 'waiting' && !isStop) await deps.enqueue(trx, thread);
  });
}

/** A stop before anything was sent: earlier waiting messages are never sent. */
async function withdrawEarlierMessages(store: Store, thread: Thread, before: string): Promise<void> {
  for (const message of await store.pausedThreads.waitingMessages(thread)) {
    if (isEarlierTs(message.ts, before)) await store.messages.withdraw(message);
  }
}
