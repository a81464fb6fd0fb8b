import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkBlocks } from '../../../sandbox/slack/block-validation.ts';
import { sectionBlock } from '../../../src/render/blocks/slack-blocks.ts';
import { onlyPlainText, withPlainText } from '../../../src/render/messages/answer-text.ts';
import { markdownArbitrary } from '../../support/markdown-arbitrary.ts';

describe('a message without its Markdown', () => {
  test('shows the source verbatim, in sections that Slack accepts', () => {
    fc.assert(
      fc.property(markdownArbitrary(), (markdown) => {
        const text = `${markdown.repeat(20)}.`.slice(0, 9_900);
        const message = onlyPlainText({
          text: '',
          blocks: [{ type: 'markdown', text }, sectionBlock('Ours.')],
        });
        expect(checkBlocks(message.blocks, 'message').length).toBeLessThanOrEqual(8);
        const shown = message.blocks.map((block) => (block.type === 'section' ? block.text?.text : ''));
        expect(shown.join('').replaceAll(/\s/g, '')).toBe(text.replaceAll(/\s/g, ''));
      }),
      { numRuns: 40 },
    );
  });

  test('keeps other blocks, and splits at line starts where it can', () => {
    const line = `${'A line. '.repeat(10)}\n`;
    const ours = sectionBlock('Ours.');
    const { blocks } = withPlainText({
      text: '',
      blocks: [{ type: 'markdown', text: line.repeat(60) }, ours],
    });
    expect(blocks).toEqual([sectionBlock(line.repeat(37)), sectionBlock(line.repeat(23)), ours]);
  });
});
