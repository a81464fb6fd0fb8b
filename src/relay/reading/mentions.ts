import { authoredBlocksOf, blocksOf, type ParsedMessage } from './message-parser.ts';
import { inlinesOf, type ParsedBlock, type ParsedInline } from './parsed-blocks.ts';

/** Who a message speaks to. */
export interface Mentions {
  /** The bot is mentioned, outside code. */
  readonly mentionsBot: boolean;
  /** It begins with the mention of somebody else, and the bot is not mentioned. */
  readonly startsWithOtherPerson: boolean;
  /** Nothing is said beside mentions of the bot. Its files are not looked at. */
  readonly isEmptyAfterMention: boolean;
}

/** Who the message speaks to. Forwarded messages do not count as mentioning anybody. */
export function readMentions(message: ParsedMessage, botUserId: string): Mentions {
  const inlines = inlinesOf(authoredBlocksOf(message));
  const bot = inlines.some((piece) => isMentionOf(piece, botUserId));
  const first = inlines.find((piece) => !isBlank(piece));
  const leadsWithAnother = isMention(first) && !isMentionOf(first, botUserId);
  return {
    mentionsBot: bot,
    startsWithOtherPerson: leadsWithAnother && !bot,
    get isEmptyAfterMention() {
      return blocksOf(message).every((block) => isBlockEmpty(block, botUserId));
    },
  };
}

/** The content without the bot's mentions at its very beginning, and without the comma or colon after them. */
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
    if (isAddress && next?.kind === 'text') {
      remaining[0] = {
        ...next,
        text: next.text
          .trimStart()
          .replace(/^[,:;](?=\s|$)/, '')
          .trimStart(),
      };
    }
  }
  return isAddressed ? [{ kind: 'paragraph', content: remaining }, ...others] : [...content];
}

function isBlockEmpty(block: ParsedBlock, botUserId: string): boolean {
  if (block.kind === 'code') return block.text.trim() === '';
  if (block.kind === 'quoted') return block.blocks.every((inner) => isBlockEmpty(inner, botUserId));
  return inlinesOf([block]).every(
    (piece) => isMentionOf(piece, botUserId) || (piece.kind === 'text' && /^[\s,.:;!?]*$/.test(piece.text)),
  );
}

function isBlank(piece: ParsedInline): boolean {
  return piece.kind === 'text' && piece.text.trim() === '';
}

function isMention(piece: ParsedInline | undefined): boolean {
  return (piece?.kind === 'person' || piece?.kind === 'usergroup') && !piece.style.code;
}

function isMentionOf(piece: ParsedInline | undefined, id: string): boolean {
  return piece?.kind === 'person' && piece.id === id && !piece.style.code;
}
