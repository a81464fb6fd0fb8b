import { JOB_KIND } from '../../store/jobs/jobs.ts';
import type { MessageContent } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { certainClosingAt, type PlaceDeps } from '../access/access-policy.ts';
import { addresseeOf, listenTo } from '../reading/listening.ts';
import { parseMessage } from '../reading/message-parser.ts';
import { isSameAsWritten } from '../reading/message-to-markdown.ts';
import {
  type InboxEvent,
  type InboxOutcome,
  type IncomingMessage,
  isEarlierTs,
} from '../runtime/incoming-message.ts';

type EditDeps = Parameters<typeof listenTo>[0] & PlaceDeps & { rowsKeptDays: number };

/** Nobody is told, and nothing is kept. */
export const NOT_ANSWERED = { kind: 'ignored', why: 'the bot does not answer there' } as const;

/** How long a person surely still sees a note that only they see (s): it is gone once they reload Slack. */
const NOTE_SEEN_S = 600;

/**
 * Takes in an edit: a message that waits takes its new text; of one that was sent, the text is kept for the button that sends
 * the correction. undefined if the edit adds a mention: then it counts as a message. Throws if the store cannot be written.
 */
export async function acceptEdit(
  deps: EditDeps,
  { message, editedTs, before }: Extract<InboxEvent, { kind: 'edit' }>,
  bot: { userId: string },
): Promise<InboxOutcome | undefined> {
  const { workspace, channel, thread_ts, ts } = message;
  const key = { workspace, channel, ts };
  const edit = { is_deletion: false, content: message.content, edited_ts: editedTs };
  const edited = parseMessage(message.content);
  const addressee = addresseeOf(message, edited, bot.userId);
  // A mention's copy does not say what was there before the edit; the other copy does.
  const addsMention =
    addressee === 'bot' && before !== undefined && !isAddressedBy(message, before, bot.userId);
  const isExpired = Number(ts) * 1_000 < Date.now() - deps.rowsKeptDays * 86_400_000;
  const { state } = await listenTo(deps, message, addressee);
  const isClosed = (await certainClosingAt(deps, message)) !== undefined;
  return deps.store.transaction(async (store): Promise<InboxOutcome | undefined> => {
    await store.threads.lock({ workspace, channel, thread_ts });
    const known = await store.messages.get(key);
    if (known === undefined && isExpired) return { kind: 'ignored', why: 'an edit of a message of long ago' };
    // With the mention, it tells its writer.
    if (isClosed && known?.state !== 'waiting') return addsMention ? undefined : NOT_ANSWERED;
    const kept = await store.earlyEdits.get(key);
    if (known === undefined || (known.state === 'unsent' && addsMention)) {
      await store.messages.remove(key);
      // Of what people say to each other, only the ids are kept: the message may still arrive as it was.
      const isForUs = state === 'waiting';
      await store.earlyEdits.record(key, isForUs ? edit : { ...edit, content: null }, message.person);
      if (addsMention) return undefined;
      return isForUs ? { kind: 'ignored', why: 'its message is yet to come' } : setAside(store, message);
    }
    if (await store.messages.updateContent(key, message.content, editedTs)) return { kind: 'reworded' };
    if (known.state === 'unsent') return { kind: 'ignored', why: 'an edit of a message that was not sent' };
    if (known.state === 'withdrawn') return { kind: 'ignored', why: 'an edit of a deleted message' };
    if (known.state === 'refused') return { kind: 'ignored', why: 'an edit of a message that was refused' };
    const isOld = known.edited_ts !== null && !isEarlierTs(known.edited_ts, editedTs);
    const isKept = kept?.edited_ts != null && !isEarlierTs(kept.edited_ts, editedTs);
    // An edit comes twice, as a mention and as a change; as a mention even if its text did not change.
    const isSame = known.content !== null && isSameAsWritten(parseMessage(known.content), edited);
    const isUnchanged = kept === undefined && isSame;
    if (isOld || isKept || isUnchanged) return { kind: 'known' };
    // Kept for the button that sends the correction: that of the note on an edit just before sends this one.
    await store.earlyEdits.record(key, edit, message.person);
    const isOffered = kept?.content != null && kept.sent_as_ts === null && kept.edited_ts !== null;
    const isNoteSeen = isOffered && Number(editedTs) - Number(kept.edited_ts) < NOTE_SEEN_S;
    return isNoteSeen ? { kind: 'reworded' } : { kind: 'too_late', change: 'edit' };
  });
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
      if (!isClosed) await store.earlyEdits.record(key, deletion);
      return { kind: 'ignored', why: 'a deletion of a message that we do not have' };
    }
    // In Slack, its reactions are gone with it.
    await store.jobs.remove({ workspace, channel, thread_ts, kind: JOB_KIND.waitingReaction, key: ts });
    if (await store.messages.withdraw(key)) return { kind: 'withdrawn' };
    if (known.state === 'withdrawn' || known.state === 'refused') return { kind: 'known' };
    // Applied if the service rejects the message and it waits again. It may have been frozen since it was read.
    if (known.state === 'sending' || known.state === 'waiting') await store.earlyEdits.record(key, deletion);
    return { kind: 'too_late', change: 'deletion' };
  });
}

/** Whether a message addressed the bot already before its edit. */
function isAddressedBy(message: IncomingMessage, before: MessageContent, botUser: string): boolean {
  return addresseeOf({ ...message, isMention: false }, parseMessage(before), botUser) === 'bot';
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
