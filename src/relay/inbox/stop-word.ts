import type { Store } from '../../store/store.ts';
import type { PendingEdit } from '../../store/threads/inbox.ts';
import { blocksOf, type ParsedMessage } from '../reading/message-parser.ts';
import type { ParsedInline } from '../reading/parsed-blocks.ts';
import type { StopOutcome } from '../runtime/control-request.ts';
import type { InboxOutcome, IncomingMessage } from '../runtime/incoming-message.ts';

/** What people write in English, as a whole message, to stop the agent: any of the first, one of the second, any of the third. */
const STOP_WORDS = {
  before: [
    ...['please', 'pls', 'ok', 'okay', 'no', 'oh', 'hey', 'wait', 'sorry', 'just', 'agent'],
    ...['never mind', 'nevermind', 'can you', 'could you', 'you can'],
  ],
  itself: ['stop', 'cancel', 'abort', 'halt', '🛑'],
  after: [
    ...['it', 'this', 'that', 'now', 'right now', 'immediately', 'everything', 'please', 'pls', 'thanks'],
    ...['thank you', 'working', 'writing', 'the agent', 'the run', 'the task', 'the answer', 'agent'],
  ],
};

const { before, itself, after } = STOP_WORDS;
const STOP_PHRASE = new RegExp(
  `^(?:(?:${before.join('|')}) )*(?:${itself.join('|')})(?: (?:${[...itself, ...after].join('|')}))*$`,
);

/**
 * How a message, as a whole, asks to stop the agent, in any case, with a mention, punctuation or emoji: by the `word` stop alone,
 * or by a `phrase` of those above or of `further`, which may also be meant for the agent. One with files does not.
 */
export function stopIn(
  message: ParsedMessage,
  botUserId: string,
  further: readonly string[] = [],
): 'word' | 'phrase' | undefined {
  const content = blocksOf(message);
  const [only] = content;
  if (content.length !== 1 || only?.kind !== 'paragraph' || message.files.length > 0) return undefined;
  const said = tidied(only.content.map((piece) => plainTextOf(piece, botUserId)).join(''));
  if (said === 'stop') return 'word';
  return STOP_PHRASE.test(said) || further.some((words) => tidied(words) === said) ? 'phrase' : undefined;
}

const AROUND = String.raw`[\p{P}~\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}\u200D\uFE0F]`;
/** Punctuation and emoji at either end of a word. Without the lookbehind, a long row of them takes quadratic time. */
const AROUND_WORD = new RegExp(`^${AROUND}+|(?<!${AROUND})${AROUND}+$`, 'gu');

function tidied(text: string): string {
  const words = text.toLowerCase().split(/\s+/);
  const bare = words.map((word) => word.replace(AROUND_WORD, ''));
  // One emoji may be all that is said.
  return bare.filter((word) => word !== '').join(' ') || text.trim();
}

/** Anything other than plain text or a mention of the bot makes it another message. */
function plainTextOf(piece: ParsedInline, botUserId: string): string {
  if (piece.kind === 'text' && piece.style.code !== true) return piece.text;
  return piece.kind === 'person' && piece.id === botUserId ? ' ' : 'something else';
}

/**
 * Takes in a message that asks to stop: it is not sent to the agent, and it never waits behind other messages.
 * Stops, then writes the message down: without its row Slack delivers the message again, and stopping twice does no
 * harm. Returns undefined if an edit other than `appliedEdit` has replaced the text, in a thread that is not ours, and for a
 * phrase where nothing is at work: that is an ordinary message.
 */
export async function acceptStop(
  {
    store,
    onStopMessage,
  }: { store: Store; onStopMessage: (message: IncomingMessage) => Promise<StopOutcome> },
  message: IncomingMessage,
  { isAddressed, isPhrase }: { isAddressed: boolean; isPhrase: boolean },
  appliedEdit: PendingEdit | undefined,
): Promise<InboxOutcome | undefined> {
  const { workspace, channel, thread_ts, ts, person } = message;
  const thread = { workspace, channel, thread_ts };
  const key = { workspace, channel, ts };
  // At once: a stop must be recorded and acknowledged in 3 s, also by a database that is far away.
  const [pendingEdit, known, isOurs] = await Promise.all([
    store.pendingEdits.get(key),
    store.messages.get(key),
    isAddressed || store.threads.isOursSince(thread, ts),
  ]);
  if (pendingEdit?.is_deletion === true) return { kind: 'withdrawn' };
  if (pendingEdit !== undefined && pendingEdit.edited_ts !== appliedEdit?.edited_ts) return undefined;
  if (known !== undefined) return { kind: 'known' };
  if (!isOurs) return undefined;
  const outcome = await onStopMessage(message);
  if (isPhrase && outcome === 'nothing') return undefined;
  const content = { text: '' };
  const row = { thread_ts, user_id: person, state: 'closed', content, edited_ts: null } as const;
  return { kind: 'stop_said', thread, outcome, isFirst: await store.messages.add(key, row) };
}
