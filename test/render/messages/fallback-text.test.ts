import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkBlocks } from '../../../sandbox/slack/block-validation.ts';
import { sectionBlock } from '../../../src/render/blocks/slack-blocks.ts';
import {
  fallbackText,
  onlyPlainText,
  truncateBytes,
  withPlainText,
} from '../../../src/render/messages/fallback-text.ts';
import { markdownArbitrary } from '../../support/markdown-arbitrary.ts';

describe('the text for notifications', () => {
  test.each([
    ['## Result\n\n**All** is `well`.', 'Result\n\nAll is well.'],
    ['```python\nprint(1)\n```', 'print(1)'],
    ['See [the paper](https://example.org/a "title").', 'See the paper.'],
    ['| a | b |\n| --- | :-: |\n| 1 | 2 |', '| a | b |\n| 1 | 2 |'],
    ['a < b & c', 'a &lt; b &amp; c'],
    ['```\n```', '…'],
  ])('of %j is %j', (markdown, text) => {
    expect(fallbackText(markdown)).toBe(text);
  });

  test('pings nobody', () => {
    expect(fallbackText('<!channel> <@U1> @here')).not.toMatch(/<|@here/);
  });

  test('stays under 4,000 bytes whatever the agent wrote', () => {
    fc.assert(
      fc.property(markdownArbitrary(), (text) => {
        expect(Buffer.byteLength(fallbackText(text.repeat(20)))).toBeLessThan(4_000);
      }),
      { numRuns: 40 },
    );
  });
});

describe('cutBytes', () => {
  test.each(['漢', '👩‍👩‍👧', '<!', '@here ', '&', 'a'])(
    'cuts a text of %j on a grapheme, within its bytes',
    (unit) => {
      for (let most = 50; most < 90; most += 1) {
        const cut = truncateBytes(unit.repeat(200), most);
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(most);
        expect(cut).toMatch(/…$/);
        expect(cut.isWellFormed()).toBe(true);
      }
    },
  );

  test('leaves a text that fits as it is', () => {
    expect(truncateBytes('fits', 4)).toBe('fits');
  });
});

describe('a message without its Markdown', () => {
  test('shows all of it letter by letter, in sections that Slack takes', () => {
    fc.assert(
      fc.property(markdownArbitrary(), (markdown) => {
        const text = `${markdown.repeat(20)}.`.slice(0, 9_900);
        const message = onlyPlainText({
          text: '',
          blocks: [{ type: 'markdown', text }, sectionBlock('Ours.')],
        });
        expect(checkBlocks(message.blocks, 'message').length).toBeLessThanOrEqual(8);
        const shown = message.blocks.map((block) => (block.type === 'section' ? block.text.text : ''));
        expect(shown.join('').replaceAll(/\s/g, '')).toBe(text.replaceAll(/\s/g, ''));
      }),
      { numRuns: 40 },
    );
  });

  test('keeps our own blocks, and goes on at the start of a line where it can', () => {
    const line = `${'A line. '.repeat(10)}\n`;
    const ours = sectionBlock('Ours.');
    const { blocks } = withPlainText({
      text: '',
      blocks: [{ type: 'markdown', text: line.repeat(60) }, ours],
    });
    expect(blocks).toEqual([sectionBlock(line.repeat(37)), sectionBlock(line.repeat(23)), ours]);
  });
});
