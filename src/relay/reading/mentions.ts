import { type Block, type Inline, inlinesOf } from './content.ts';
import { contentOf, type MessageToRead, ownWordsOf } from './message.ts';

/** Who a message speaks to. */
export interface Mentions {
  /** The bot is mentioned, outside code. */
  readonly bot: boolean;
  /** It begins with the mention of somebody else, and the bot is not mentioned. */
  readonly someoneElse: boolean;
  /** Nothing is said beside mentions of the bot. Its files are not looked at. */
  readonly isEmptyAfterMention: boolean;
}

/** Who the message speaks to. Forwarded messages do not count as mentioning anybody. */
export function mentions(message: MessageToRead, botUserId: string): Mentions {
  const pieces = inlinesOf(ownWordsOf(message));
  const bot = pieces.some((piece) => isMentionOf(piece, botUserId));
  const first = pieces.find((piece) => !isBlank(piece));
  const leadsWithAnother = isMention(first) && !isMentionOf(first, botUserId);
  return {
    bot,
    someoneElse: leadsWithAnother && !bot,
    get isEmptyAfterMention() {
      return contentOf(message).every((block) => saysNothing(block, botUserId));
    },
  };
}

/** The content without the bot's mentions at its very beginning, and without the comma or colon after them. */
export function withoutAddress(content: readonly Block[], botUserId: string): Block[] {
  const [first, ...others] = content;
  if (first?.kind !== 'paragraph') return [...content];
  const left = [...first.content];
  let isAddressed = false;
  for (let piece = left[0]; piece !== undefined; piece = left[0]) {
    const isAddress = isMentionOf(piece, botUserId);
    if (!isAddress && !isBlank(piece)) break;
    left.shift();
    isAddressed ||= isAddress;
    const next = left[0];
    if (isAddress && next?.kind === 'text') {
      left[0] = {
        ...next,
        text: next.text
          .trimStart()
          .replace(/^[,:;](?=\s|$)/, '')
          .trimStart(),
      };
    }
  }
  return isAddressed ? [{ kind: 'paragraph', content: left }, ...others] : [...content];
}

function saysNothing(block: Block, botUserId: string): boolean {
  if (block.kind === 'code') return block.text.trim() === '';
  if (block.kind === 'quoted') return block.blocks.every((inner) => saysNothing(inner, botUserId));
  return inlinesOf([block]).every(
    (piece) => isMentionOf(piece, botUserId) || (piece.kind === 'text' && /^[\s,.:;!?]*$/.test(piece.text)),
  );
}

function isBlank(piece: Inline): boolean {
  return piece.kind === 'text' && piece.text.trim() === '';
}

function isMention(piece: Inline | undefined): boolean {
  return (piece?.kind === 'person' || piece?.kind === 'usergroup') && !piece.style.code;
}

function isMentionOf(piece: Inline | undefined, id: string): boolean {
  return piece?.kind === 'person' && piece.id === id && !piece.style.code;
}
