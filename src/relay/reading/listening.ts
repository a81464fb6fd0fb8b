import type { ListenMode } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import type { ThreadListening } from '../../store/threads/threads.ts';
import { type IncomingMessage, isBotId, isDirectChannel } from '../runtime/incoming-message.ts';
import { hasRichText, parseMrkdwn } from './block-parser.ts';
import { attachmentBlocks, isLinkPreview } from './message-attachments.ts';
import { authoredBlocksOf, blocksOf, type ParsedMessage } from './message-parser.ts';
import { inlinesOf, type ParsedBlock, type ParsedInline } from './parsed-blocks.ts';

/**
 * Whom a message is for. `bot`: it, in any thread. `thread` and `channel`: the people there, and the bot if it takes part
 * there. `others`: never the bot.
 */
type Addressee = 'bot' | 'thread' | 'channel' | 'others';

/** Decides whom a message is for by its text, its writer and its place. */
export function addresseeOf(
  { channel, thread_ts, ts, person, isMention }: Omit<IncomingMessage, 'workspace' | 'content'>,
  parsed: ParsedMessage,
  botUserId: string,
): Addressee {
  if (isMention === true || mentionedIds(parsed).includes(botUserId)) return 'bot';
  // Two bots that answer each other would never stop.
  if (isBotId(person)) return 'others';
  if (isDirectChannel(channel)) return 'bot';
  if (startsWithMention(parsed)) return 'others';
  return thread_ts === ts ? 'channel' : 'thread';
}

/** The ids of all whom a message mentions, in order. Mentions in code, tables, previews and forwarded messages do not count. */
export function mentionedIds(message: ParsedMessage): string[] {
  // An app's summary may hold its only mention. A person's text repeats the rich text, but for its code.
  const summary = hasRichText(message.blocks) ? [] : inlinesOf(parseMrkdwn(message.text));
  const pieces = [...ownInlinesOf(message), ...summary];
  return pieces.flatMap((piece) => (piece.kind === 'person' && !piece.style.code ? [piece.id] : []));
}

function ownInlinesOf(message: ParsedMessage): ParsedInline[] {
  const attached = message.attachments.filter((one) => one.is_share !== true && !isLinkPreview(one));
  const blocks = [...authoredBlocksOf(message), ...attachmentBlocks(attached)];
  return inlinesOf(blocks.filter(({ kind }) => kind !== 'table'));
}

function startsWithMention(message: ParsedMessage): boolean {
  const first = ownInlinesOf(message).find((piece) => !isBlank(piece));
  return (first?.kind === 'person' || first?.kind === 'usergroup') && !first.style.code;
}

/** Whether the words of a message are only mentions of the bot: it may have files and tables. */
export function isEmptyAfterMention(message: ParsedMessage, botUserId: string): boolean {
  return blocksOf(message).every((block) => isBlockEmpty(block, botUserId));
}

/** The content without mentions of the bot at its beginning, and without the comma or colon after them. */
export function withoutLeadingMention(content: readonly ParsedBlock[], botUserId: string): ParsedBlock[] {
  const [first, ...others] = content;
  if (first?.kind !== 'paragraph') return [...content];
  const remaining = [...first.content];
  let isAddressed = false;
  for (let piece = remaining[0]; piece !== undefined; piece = remaining[0]) {
    const isAddress = isMentionOf(piece, botUserId);
    if (!isAddress && !isBlank(piece)) break;
    remaining.shift();
    isAddressed ||= isAddress;
    const next = remaining[0];
    if (isAddress && next?.kind === 'text')
      remaining[0] = { ...next, text: next.text.replace(/^\s*(?:[,:;](?=\s|$))?\s*/, '') };
  }
  return isAddressed ? [{ kind: 'paragraph', content: remaining }, ...others] : [...content];
}

function isBlockEmpty(block: ParsedBlock, botUserId: string): boolean {
  if (block.kind === 'table') return true;
  if (block.kind === 'code') return block.text.trim() === '';
  if (block.kind === 'quoted_blocks') return block.blocks.every((inner) => isBlockEmpty(inner, botUserId));
  return inlinesOf([block]).every(
    (piece) => isMentionOf(piece, botUserId) || (piece.kind === 'text' && /^[\s,.:;!?]*$/.test(piece.text)),
  );
}

function isBlank(piece: ParsedInline): boolean {
  return piece.kind === 'text' && piece.text.trim() === '';
}

function isMentionOf(piece: ParsedInline | undefined, id: string): boolean {
  return piece?.kind === 'person' && piece.id === id && !piece.style.code;
}

/**
 * Whether the bot listens to a message: it mentions the bot, or the bot listens to everything in the channel, or to replies
 * in its thread. Reads the settings for each message, so that a change applies to the next one in every process. `isAddressed`:
 * it is for the bot even if its thread is not. `state`: `waiting` for the agent; `unsent` if only its ids are kept, because the
 * next message quotes it and it tells who talks to whom; null if its thread is not ours; undefined if nothing is written down.
 */
export async function listenTo(
  { store, settings }: { store: Store; settings: { readonly listenMode: ListenMode } },
  { workspace, channel, thread_ts, ts, person }: IncomingMessage,
  addressee: Addressee,
): Promise<{ isAddressed: boolean; state: 'waiting' | 'unsent' | null | undefined }> {
  const isAddressed =
    addressee === 'bot' ||
    (addressee === 'channel' && (await store.settings.get(workspace, channel)).listen_mode === 'everything');
  if (isAddressed) return { isAddressed, state: 'waiting' };
  if (addressee === 'channel' || thread_ts === ts) return { isAddressed, state: undefined };
  const listening = await store.threads.listening({ workspace, channel, thread_ts }, person, ts);
  if (listening === undefined) return { isAddressed, state: addressee === 'others' ? undefined : null };
  if (isReplyForBot(listening, addressee, settings.listenMode)) return { isAddressed, state: 'waiting' };
  return { isAddressed, state: listening.isBetweenPeople || isBotId(person) ? 'unsent' : undefined };
}

/**
 * Whether a reply that does not mention the bot is for it. In a thread that began with the bot, every reply is. Where
 * people began the thread, the settings decide; in a conversation, a reply is for the bot if its writer has turned to it
 * there and nobody else has written since its last message. What a reply says does not count: "ok" may be an answer.
 */
export function isReplyForBot(listening: ThreadListening, addressee: Addressee, usual: ListenMode): boolean {
  if (addressee === 'others') return false;
  const { isBetweenPeople, listensToAll, listenMode, isInConversation } = listening;
  if (!isBetweenPeople || listensToAll) return true;
  const mode = listenMode ?? usual;
  return mode === 'conversation' ? isInConversation : mode !== 'mentions';
}
