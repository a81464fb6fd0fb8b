import { blocksOf, type ParsedMessage } from '../reading/message-parser.ts';
import type { ParsedInline } from '../reading/parsed-blocks.ts';

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
