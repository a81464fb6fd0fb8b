import type { ContentBlock } from '../../agent/content-blocks.ts';
import {
  MAX_SECTION_CHARACTERS,
  type RenderedMessage,
  type SlackBlock,
  sectionBlock,
} from '../blocks/slack-blocks.ts';
import { withoutEmbeddedData } from '../markdown/embedded-data.ts';
import { withoutEscapes } from '../markdown/literal-marks.ts';
import { unsupportedBlock } from '../strings/index.ts';
import { graphemeStart } from '../text-format.ts';

/**
 * The Markdown of the whole answer, without its thoughts. Texts before and after a tool call become separate paragraphs. Adjacent text blocks
 * are joined, unless one ends and the next starts a word. A block of an unknown type shows its `text`, or a line that
 * names its type. Line ends become `\n`, and a word stands in place of what no reader can read: pictures as base64.
 */
export function answerText(blocks: readonly ContentBlock[]): string {
  const known = answerTexts.get(blocks);
  if (known !== undefined) return known;
  const text = withoutEmbeddedData(joinTexts(blocks));
  answerTexts.set(blocks, text);
  return text;
}

/** The answers of blocks that were read: each is needed for many messages. */
const answerTexts = new WeakMap<readonly ContentBlock[], string>();

function joinTexts(blocks: readonly ContentBlock[]): string {
  const segments: string[] = [];
  /** The last two characters so far; reading them from the answer would copy it for each block. */
  let end = '';
  let afterTool = false;
  for (const block of blocks) {
    if (block.kind === 'tool_use' || block.kind === 'tool_result' || isThought(block)) {
      afterTool = true;
      continue;
    }
    const source = block.kind === 'text' ? block.text : unknownText(block);
    const text = source.includes('\r') ? source.replace(/\r\n?/g, '\n') : source;
    if (text === '') continue;
    const continues = /\s$/.test(end) || /^[\s\p{Ll}\p{P}]/u.test(text);
    const apart = afterTool || block.kind === 'other' || !continues;
    const segment = end !== '' && apart ? paragraphBreak(end, text) + text : text;
    segments.push(segment);
    end = (end + segment).slice(-2);
    afterTool = block.kind === 'other';
  }
  return segments.join('').replace(/^\uFEFF/, '');
}

function isThought(block: ContentBlock): boolean {
  return block.kind === 'other' && /(?:thinking|reasoning)$/i.test(block.type);
}

function unknownText({ type, raw }: ContentBlock & { kind: 'other' }): string {
  if (typeof raw.text === 'string' && raw.text !== '') return raw.text;
  return unsupportedBlock(type.replace(/[^\p{L}\p{N} .-]+/gu, ' ').trim());
}

function paragraphBreak(before: string, after: string): string {
  const breaks = (/\n*$/.exec(before)?.[0].length ?? 0) + (/^\n*/.exec(after)?.[0].length ?? 0);
  return '\n'.repeat(Math.max(0, 2 - breaks));
}

/** The message with the source of its Markdown in sections, for when Slack rejects the Markdown. */
export function withPlainText(message: RenderedMessage): RenderedMessage {
  const blocks = message.blocks.flatMap((block) =>
    block.type === 'markdown' ? toSections(withoutEscapes(block.text)) : [block],
  );
  return { ...message, blocks };
}

/** The same, without the message's other blocks. */
export function onlyPlainText(message: RenderedMessage): RenderedMessage {
  return withPlainText({ ...message, blocks: message.blocks.filter(({ type }) => type === 'markdown') });
}

/** Splits at line ends if no section becomes short, else between graphemes. */
function toSections(text: string): SlackBlock[] {
  const sections: SlackBlock[] = [];
  for (let at = 0; at < text.length; ) {
    const most = Math.max(graphemeStart(text, at + MAX_SECTION_CHARACTERS), at + 1);
    const line = text.lastIndexOf('\n', most - 1) + 1;
    const end = most < text.length && line - at > MAX_SECTION_CHARACTERS / 2 ? line : most;
    const piece = text.slice(at, end);
    // Slack rejects a section without visible characters.
    if (/\S/.test(piece)) sections.push(sectionBlock(piece));
    at = end;
  }
  return sections;
}
