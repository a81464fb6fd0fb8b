import { unsupportedBlock } from '../strings/index.ts';

/** A piece of the agent's reply, in the order in which the service sent it. */
export type ReplyBlock =
  | { kind: 'text'; text: string }
  | { kind: 'tool_use'; id: string; name: string; input: unknown }
  | { kind: 'tool_result'; toolUseId: string; content: string }
  | { kind: 'other'; type: string; raw: unknown };

/**
 * The Markdown of the answer as a whole. Text on both sides of a tool call becomes paragraphs of their own; text
 * blocks that follow each other directly are taken as one text unless both sides of the seam end a word. A block of
 * an unknown kind shows its `text`, or is named in a line. Line ends become `\n`.
 */
export function answerText(blocks: readonly ReplyBlock[]): string {
  const pieces: string[] = [];
  /** The last two characters so far: looking at the answer itself would copy it for each block. */
  let end = '';
  let afterTool = false;
  for (const block of blocks) {
    if (block.kind === 'tool_use' || block.kind === 'tool_result') {
      afterTool = true;
      continue;
    }
    const said = block.kind === 'text' ? block.text : unknownText(block);
    const text = said.includes('\r') ? said.replace(/\r\n?/g, '\n') : said;
    if (text === '') continue;
    const apart = afterTool || block.kind === 'other' || !continuesText(end, text);
    const piece = end !== '' && apart ? paragraphBreak(end, text) + text : text;
    pieces.push(piece);
    end = (end + piece).slice(-2);
    afterTool = block.kind === 'other';
  }
  return pieces.join('').replace(/^\uFEFF/, '');
}

function unknownText(block: { type: string; raw: unknown }): string {
  const { raw } = block;
  if (
    typeof raw === 'object' &&
    raw !== null &&
    'text' in raw &&
    typeof raw.text === 'string' &&
    raw.text !== ''
  ) {
    return raw.text;
  }
  return unsupportedBlock(block.type.replace(/[^\p{L}\p{N} .-]+/gu, ' ').trim());
}

function continuesText(before: string, after: string): boolean {
  return /\s$/.test(before) || /^[\s\p{Ll}\p{P}]/u.test(after);
}

function paragraphBreak(before: string, after: string): string {
  const breaks = (/\n*$/.exec(before)?.[0].length ?? 0) + (/^\n*/.exec(after)?.[0].length ?? 0);
  return '\n'.repeat(Math.max(0, 2 - breaks));
}
