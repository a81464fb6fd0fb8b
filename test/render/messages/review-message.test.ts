import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkBlocks } from '../../../sandbox/slack/block-validation.ts';
import { plainMessage, type RenderedMessage } from '../../../src/render/blocks/slack-blocks.ts';
import { restorePings } from '../../../src/render/markdown/pings.ts';
import { reviewMessages } from '../../../src/render/messages/review-message.ts';
import * as strings from '../../../src/render/strings/index.ts';

const findings = (text: string) => [{ kind: 'text' as const, text }];

/** The messages' Markdown; each message is what Slack takes. */
function shown(messages: readonly RenderedMessage[]): string {
  for (const { blocks, text } of messages) {
    checkBlocks(blocks, 'message');
    expect(Buffer.byteLength(text)).toBeLessThan(4_000);
  }
  const blocks = messages.flatMap((message) => message.blocks);
  return restorePings(blocks.map((block) => (block.type === 'markdown' ? block.text : '')).join(''));
}

describe('a review', () => {
  test('shows its heading and findings in one message', () => {
    const { messages, rest } = reviewMessages(findings('## Fine\n\nAll of it.'), 12);
    expect(messages.map(({ blocks }) => blocks.map(({ type }) => type))).toEqual([['section', 'markdown']]);
    expect(messages[0]?.text).toBe('A review of the work in this thread:\nFine\n\nAll of it.');
    expect(rest).toBeUndefined();
  });

  test('that fills a message has its heading in a message before it', () => {
    const headings = Array.from({ length: 48 }, (_, n) => `# Finding ${n}`).join('\n\n');
    const { messages } = reviewMessages(findings(headings), 12);
    expect(shown(messages)).toContain('Finding 47');
    expect(messages[0]?.text).toContain('A review of the work');
  });

  test('that is long is shown as messages and a rest', () => {
    const lines = fc.array(fc.string({ minLength: 1, maxLength: 400, unit: 'grapheme-ascii' }), {
      minLength: 60,
      maxLength: 120,
    });
    fc.assert(
      fc.property(lines, fc.integer({ min: 1, max: 3 }), (all, most) => {
        const text = all.map((line, n) => `word${n}x ${line.replace(/[^\w ]/g, '')}`).join('\n\n');
        const { messages, rest } = reviewMessages(findings(text), most);
        const whole = reviewMessages(findings(text), 50).messages;
        const asFile = shown(messages) + (rest?.content ?? '');
        expect(whole.slice(0, messages.length)).toEqual(messages);
        const asMessages = shown(whole);
        for (const n of all.keys()) {
          expect(asFile.split(`word${n}x`)).toHaveLength(2);
          expect(asMessages.split(`word${n}x`)).toHaveLength(2);
        }
        expect(messages.length).toBeLessThanOrEqual(most + 1);
      }),
      { numRuns: 15 },
    );
  });

  test('that failed is one line that pings nobody, with or without a reason', () => {
    expect(plainMessage(strings.reviewFailed('')).text).toBe(
      'A review of the work in this thread failed. The answer is unchanged.',
    );
    const pinging = plainMessage(strings.reviewFailed('<!channel>\n\nbroken!'));
    expect(pinging.text).not.toContain('<!channel>');
    expect(pinging.text).not.toContain('\n');
    const linking = plainMessage(strings.reviewFailed('see <tel:1|one.example>'));
    expect(linking.text).toContain('&lt;tel:1|one.example&gt;');
    checkBlocks(plainMessage(strings.reviewFailed('x'.repeat(10_000))).blocks, 'message');
  });
});
