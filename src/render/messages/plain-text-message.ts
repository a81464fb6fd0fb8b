import { type RenderedMessage, type SectionBlock, sectionBlock } from '../blocks/slack-blocks.ts';
import { graphemeStart } from '../text/shorten.ts';

/** Characters of a section (https://docs.slack.dev/reference/block-kit/blocks/section-block). */
const MAX_SECTION_LENGTH = 3_000;

/** The message with the source of its Markdown in sections, for when Slack rejects the Markdown. */
export function withPlainText(message: RenderedMessage): RenderedMessage {
  const blocks = message.blocks.flatMap((block) =>
    block.type === 'markdown' ? toSections(block.text) : [block],
  );
  return { ...message, blocks };
}

/** The same, without the message's other blocks. */
export function onlyPlainText(message: RenderedMessage): RenderedMessage {
  return withPlainText({ ...message, blocks: message.blocks.filter(({ type }) => type === 'markdown') });
}

/** Splits at line ends if no section becomes short, else between graphemes. */
function toSections(text: string): SectionBlock[] {
  const sections: SectionBlock[] = [];
  for (let at = 0; at < text.length; ) {
    const most = Math.max(graphemeStart(text, at + MAX_SECTION_LENGTH), at + 1);
    const line = text.lastIndexOf('\n', most - 1) + 1;
    const end = most < text.length && line - at > MAX_SECTION_LENGTH / 2 ? line : most;
    const piece = text.slice(at, end);
    // Slack rejects a section without visible characters.
    if (/\S/.test(piece)) sections.push(sectionBlock(piece));
    at = end;
  }
  return sections;
}
