import type { SlackTs, ThreadKey } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import type { EarlyEdit } from '../../store/threads/inbox.ts';
import { blocksOf, type ParsedMessage } from '../reading/message-parser.ts';
import type { ParsedInline } from '../reading/parsed-blocks.ts';
import type { StopOutcome } from '../runtime/control-request.ts';
import type { InboxOutcome, IncomingMessage } from '../runtime/incoming-message.ts';

/** Whether a message is the word stop alone, in any case, with a mention or punctuation. One with files is not. */
export function isStopWord(message: ParsedMessage, botUserId: string): boolean {
  const content = blocksOf(message);
  const [only] = content;
  if (content.length !== 1 || only?.kind !== 'paragraph' || message.files.length > 0) return false;
  const said = only.content.map((piece) => plainTextOf(piece, botUserId)).join('');
  return /^[\s,:*_~]*stop[\s\p{P}~]*$/iu.test(said);
}

/** Anything other than plain text or a mention of the bot makes it another message. */
function plainTextOf(piece: ParsedInline, botUserId: string): string {
  if (piece.kind === 'text' && piece.style.code !== true) return piece.text;
  return piece.kind === 'person' && piece.id === botUserId ? ' ' : 'something else';
}

/**
 * Takes in the word stop as a whole message: it is not sent to the agent, and it never waits behind other messages.
 * Stops, then writes the message down: without its row Slack delivers the message again, and stopping twice does no
 * harm. Returns undefined if an edit other than `appliedEdit` has replaced the text.
 */
export async function acceptStopWord(
  {
    store,
    onStopMessage,
  }: { store: Store; onStopMessage: (message: IncomingMessage) => Promise<StopOutcome> },
  message: IncomingMessage,
  isAddressed: boolean,
  appliedEdit: EarlyEdit | undefined,
): Promise<InboxOutcome | undefined> {
  const { workspace, channel, thread_ts, ts, person } = message;
  const thread = { workspace, channel, thread_ts };
  const key = { workspace, channel, ts };
  // At once: a stop must be recorded and acknowledged in 3 s, also by a database that is far away.
  const [earlyEdit, known, isOurs] = await Promise.all([
    store.earlyEdits.get(key),
    store.messages.get(key),
    isAddressed || store.threads.isOursSince(thread, ts),
  ]);
  if (earlyEdit?.is_deletion === true) return { kind: 'withdrawn' };
  if (earlyEdit !== undefined && earlyEdit.edited_ts !== appliedEdit?.edited_ts) return undefined;
  if (known !== undefined) return { kind: 'known' };
  if (!isOurs && (await isOrphan(store, thread, ts))) return { kind: 'orphan' };
  const outcome = await onStopMessage(message);
  const content = { text: '' };
  const row = { thread_ts, user_id: person, state: 'closed', content, edited_ts: null } as const;
  return { kind: 'stop_said', thread, outcome, isFirst: await store.messages.add(key, row) };
}

/** Under the thread's lock: it must not depend on a mention that is being written at the same time. */
function isOrphan(store: Store, thread: ThreadKey, ts: SlackTs): Promise<boolean> {
  return store.transaction(async ({ threads, orphanReplies }) => {
    await threads.lock(thread);
    if (await threads.isOursSince(thread, ts)) return false;
    await orphanReplies.add(thread, ts);
    return true;
  });
}
