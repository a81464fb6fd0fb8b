import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkBlocks } from '../../../sandbox/slack/block-validation.ts';
import { sectionBlock } from '../../../src/render/blocks/slack-blocks.ts';
import { onlyPlainText, withPlainText } from '../../../src/render/messages/answer-text.ts';
import { splitAnswer } from '../../support/answer-parts.ts';
import { markdownArbitrary } from '../../support/markdown-arbitrary.ts';

describe('a message without its Markdown', () => {
  test('shows the source without the backslashes of marks, in sections that Slack accepts', () => {
    fc.assert(
      fc.property(markdownArbitrary(), (markdown) => {
        const text = `${markdown.repeat(20)}.`.slice(0, 9_900);
        const message = onlyPlainText({
          text: '',
          blocks: [{ type: 'markdown', text }, sectionBlock('Ours.')],
        });
        expect(checkBlocks(message.blocks, 'message').length).toBeLessThanOrEqual(8);
        const shown = message.blocks.map((block) => (block.type === 'section' ? block.text?.text : ''));
        const visible = (one: string) => one.replaceAll(/[\s\\]/g, '');
        expect(visible(shown.join(''))).toBe(visible(text));
      }),
      { numRuns: 40 },
    );
  });

  test('shows an allele as the agent wrote it', () => {
    const [part] = splitAnswer('HLA-B*57:01, 5~10 mg and C[C@@H](N)C at \\(\\hat{x}\\)');
    const { blocks } = withPlainText({ text: '', blocks: part?.blocks ?? [] });
    expect(blocks).toEqual([sectionBlock('HLA-B*57:01, 5~10 mg and C[C@@H](N)C at `\\(\\hat{x}\\)`')]);
  });

  test.each([
    'C:\\data\\(raw)',
    '3. a\n7. b',
    '- + strand',
    '\\\\nas01\\raw',
    '[a-z]+\\.txt',
    '`x\\*y\\_z`',
    '```\na\\*b\n```',
  ])('shows %s with its own backslashes', (text) => {
    const [part] = splitAnswer(text);
    const { blocks } = withPlainText({ text: '', blocks: part?.blocks ?? [] });
    expect(blocks).toEqual([sectionBlock(text)]);
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
