import { type RenderedMessage, type SectionBlock, sectionBlock } from '../blocks/slack-blocks.ts';
import { escapeMrkdwn } from '../markdown/pings.ts';
import { graphemeStart, utf8Length } from '../text/graphemes.ts';

/** chat.update refuses a `text` of more than 4,000 (https://docs.slack.dev/reference/methods/chat.update). */
const MAX_TEXT_BYTES = 3_900;
/** Characters of a section (https://docs.slack.dev/reference/block-kit/blocks/section-block). */
const MAX_SECTION_LENGTH = 3_000;

/** Markdown as plain reading for notifications and screen readers: escaped, without pings, under 4,000 UTF-8 bytes. */
export function fallbackText(markdown: string): string {
  const readable = markdown
    .slice(0, MAX_TEXT_BYTES * 2)
    .replace(/^[ \t]*(?:`{3,}|~{3,})[^\n]*\n?/gm, '')
    .replace(/^(\s*)#{1,6} +/gm, '$1')
    .replace(/!?\[([^[\]]*)\]\((\S*?)(?: +"[^"]*")?\)/g, '$1')
    .replace(/\*\*|__|~~|`/g, '')
    .replace(/^\|?[ \t:|-]+\|[ \t:|-]*$\n?/gm, '')
    .trim();
  return truncateBytes(readable === '' ? '…' : readable, MAX_TEXT_BYTES);
}

/** Escaped text of at most `most` UTF-8 bytes, cut on a grapheme. */
export function truncateBytes(text: string, most: number): string {
  const whole = escapeMrkdwn(text);
  if (utf8Length(whole) <= most) return whole;
  const room = most - utf8Length('…');
  let best = '';
  let low = 0;
  let high = Math.min(text.length, most);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    const kept = escapeMrkdwn(text.slice(0, graphemeStart(text, middle)));
    if (utf8Length(kept) <= room) {
      best = kept;
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return `${best.trimEnd()}…`;
}

/** The message with its Markdown letter by letter, in sections, for where Slack refuses the Markdown. */
export function withPlainText(message: RenderedMessage): RenderedMessage {
  const blocks = message.blocks.flatMap((block) =>
    block.type === 'markdown' ? toSections(block.text) : [block],
  );
  return { ...message, blocks };
}

/** The same, and nothing but the Markdown. */
export function onlyPlainText(message: RenderedMessage): RenderedMessage {
  return withPlainText({ ...message, blocks: message.blocks.filter(({ type }) => type === 'markdown') });
}

/** Cut at the ends of lines where that leaves no section short, else on graphemes. */
function toSections(text: string): SectionBlock[] {
  const sections: SectionBlock[] = [];
  for (let at = 0; at < text.length; ) {
    const most = Math.max(graphemeStart(text, at + MAX_SECTION_LENGTH), at + 1);
    const line = text.lastIndexOf('\n', most - 1) + 1;
    const end = most < text.length && line - at > MAX_SECTION_LENGTH / 2 ? line : most;
    const piece = text.slice(at, end);
    // Slack takes no section without something to see.
    if (/\S/.test(piece)) sections.push(sectionBlock(piece));
    at = end;
  }
  return sections;
}
