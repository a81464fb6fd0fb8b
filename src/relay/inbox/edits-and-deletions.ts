import { isDeepStrictEqual } from 'node:util';
import { JOB_KIND } from '../../store/jobs/jobs.ts';
import type { Message } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { certainClosingAt, type PlaceDeps } from '../access/access-policy.ts';
import { addresseeOf, listenTo } from '../reading/listening.ts';
import { parseMessage } from '../reading/message-parser.ts';
import { messageUpdate } from '../reading/message-versions.ts';
import type {
  ChangedMessage,
  InboxEvent,
  InboxOutcome,
  IncomingMessage,
} from '../runtime/incoming-message.ts';
import { offerCorrection } from './correction-note.ts';

type EditDeps = Parameters<typeof listenTo>[0] & PlaceDeps & { rowsKeptDays: number };

/** Nobody is told, and nothing is kept. */
export const NOT_ANSWERED = { kind: 'ignored', why: 'the bot does not answer there' } as const;

/** How old a message may be (s) that Slack shows for the first time in a change that no person made. */
const FIRST_SEEN_S = 600;

/**
 * Takes in an edit: a message that waits takes its new text; of one that was sent, the text is kept for the button that sends
 * the correction. undefined if the edit adds a mention: then it counts as a message. Throws if the store cannot be written.
 */
export async function acceptEdit(
  deps: EditDeps,
  edit: ChangedMessage,
  bot: { userId: string },
): Promise<InboxOutcome | undefined> {
  const { message, editedTs, before } = edit;
  const { workspace, channel, thread_ts, ts } = message;
  const key = { workspace, channel, ts };
  const toKeep = { is_deletion: false, content: message.content, edited_ts: editedTs };
  const addressee = addresseeOf(message, parseMessage(message.content), bot.userId);
  // A mention's copy does not say what was there before the edit; the other copy does.
  const addsMention =
    addressee === 'bot' &&
    before !== undefined &&
    addresseeOf({ ...message, isMention: false }, parseMessage(before), bot.userId) !== 'bot';
  const isExpired = Number(ts) * 1_000 < Date.now() - deps.rowsKeptDays * 86_400_000;
  const { state } = await listenTo(deps, message, addressee);
  const isClosed = (await certainClosingAt(deps, message)) !== undefined;
  return deps.store.transaction(async (store): Promise<InboxOutcome | undefined> => {
    await store.threads.lock({ workspace, channel, thread_ts });
    const known = await store.messages.get(key);
    if (known === undefined && isExpired) return { kind: 'ignored', why: 'an edit of a message of long ago' };
    // With the mention, it tells its writer.
    if (isClosed && known?.state !== 'waiting') return addsMention ? undefined : NOT_ANSWERED;
    if (known === undefined || (known.state === 'unsent' && addsMention)) {
      await store.messages.remove(key);
      // Of what people say to each other, only the ids are kept: the message may still arrive as it was.
      const isForUs = state === 'waiting';
      await store.pendingEdits.record(key, isForUs ? toKeep : { ...toKeep, content: null }, message.person);
      if (addsMention) return undefined;
      return isForUs ? { kind: 'ignored', why: 'its message is yet to come' } : setAside(store, message);
    }
    return (await mergeWhileWaiting(store, known, edit)) ?? offerCorrection(store, known, edit);
  });
}

/**
 * Takes in what Slack shows of a message without an edit of it: its other copy, or one with more than before. `ts` is the
 * one under which the message is known. undefined if it is not, and counts as a message. Throws if the store cannot be written.
 */
export async function acceptVersion(
  { store }: EditDeps,
  version: ChangedMessage,
  bot: { userId: string },
  ts = version.message.ts,
): Promise<InboxOutcome | undefined> {
  const { message } = version;
  const key = { workspace: message.workspace, channel: message.channel, ts };
  const known = await store.messages.get(key);
  if (known === undefined) {
    const isNew = Number(ts) > Date.now() / 1_000 - FIRST_SEEN_S;
    if (isNew && addresseeOf(message, parseMessage(message.content), bot.userId) === 'bot') return undefined;
    return { kind: 'ignored', why: 'a change that no person made' };
  }
  return (
    (await mergeWhileWaiting(store, known, version)) ??
    store.transaction(async (locked): Promise<InboxOutcome> => {
      await locked.threads.lock(known);
      const now = await locked.messages.get(key);
      if (now === undefined) return { kind: 'known' };
      return (await mergeWhileWaiting(locked, now, version)) ?? offerCorrection(locked, now, version);
    })
  );
}

/** Merges a version into its message; undefined if that does not wait for the agent any longer. */
async function mergeWhileWaiting(
  { messages }: Pick<Store, 'messages'>,
  known: Message,
  { message, editedTs: edited_ts }: ChangedMessage,
): Promise<InboxOutcome | undefined> {
  // What is yet to be read back from Slack is read as it is then.
  if (known.state !== 'waiting' || known.content === null) return undefined;
  const old = { ...known, content: known.content };
  const version = { content: message.content, edited_ts };
  const update = messageUpdate(old, version, { isPartial: isPartial(message) });
  const isSame = isDeepStrictEqual(update.content, old.content) && update.edited_ts === old.edited_ts;
  if (isSame && update.is_partial === known.is_partial) return { kind: 'known' };
  if (!(await messages.updateContent(known, update))) return undefined;
  return isSame ? { kind: 'known' } : { kind: 'reworded' };
}

/** Whether a copy may lack files that the message has. */
export function isPartial({ isMention, content }: Pick<IncomingMessage, 'isMention' | 'content'>): boolean {
  return isMention === true && content.files === undefined;
}

/** Takes in a deletion: a message that waits is withdrawn. Throws if the store cannot be written. */
export async function acceptDeletion(
  deps: PlaceDeps,
  event: Extract<InboxEvent, { kind: 'deletion' }>,
): Promise<InboxOutcome> {
  const { workspace, channel, thread_ts, ts } = event;
  const key = { workspace, channel, ts };
  const deletion = { is_deletion: true, content: null, edited_ts: null };
  const isClosed = (await certainClosingAt(deps, event)) !== undefined;
  return deps.store.transaction(async (store) => {
    await store.threads.lock({ workspace, channel, thread_ts });
    const known = await store.messages.get(key);
    if (known === undefined || known.state === 'unsent') {
      await store.messages.remove(key);
      if (!isClosed) await store.pendingEdits.record(key, deletion);
      return { kind: 'ignored', why: 'a deletion of a message that we do not have' };
    }
    // In Slack, its reactions are gone with it.
    await store.jobs.remove({ workspace, channel, thread_ts, kind: JOB_KIND.waitingReaction, key: ts });
    await store.messages.withdrawRepeats({ ...key, thread_ts: known.thread_ts });
    if (await store.messages.withdraw(key)) return { kind: 'withdrawn' };
    if (known.state === 'withdrawn' || known.state === 'refused') return { kind: 'known' };
    // No edit of it is sent. It is applied if the service rejects the message, which may be frozen since it was read.
    await store.pendingEdits.record(key, deletion);
    return { kind: 'too_late', change: 'deletion' };
  });
}

/** Drops a message whose edit is not for us. A reply may concern us once its thread does: its ids are kept. */
export async function setAside(store: Store, message: IncomingMessage): Promise<InboxOutcome> {
  const { workspace, channel, thread_ts, ts } = message;
  const thread = { workspace, channel, thread_ts };
  await store.threads.lock(thread);
  if ((await store.messages.get({ workspace, channel, ts })) !== undefined) return { kind: 'known' };
  if (thread_ts === ts) return { kind: 'ignored', why: 'not addressed to us since its edit' };
  await store.orphanReplies.add(thread, ts);
  return { kind: 'orphan' };
}
