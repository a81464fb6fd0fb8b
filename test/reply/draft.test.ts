import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Draft, overflow, shownText, splitAnswer } from '../../src/reply/draft.ts';
import { parseMarkdown } from '../../src/reply/markdown.ts';
import { textLength } from '../../src/reply/slack-blocks.ts';
import { markdownText } from './markdown-text.ts';

const count = () => ({ characters: 0 });

describe('splitAnswer', () => {
  it('shows every character once, within limits', () => {
    fc.assert(
      fc.property(markdownText(), fc.integer({ min: 1, max: 60 }), (text, times) => {
        const answer = `${text}\n\n`.repeat(times).trimEnd();
        const parts = splitAnswer(answer);
        if (/[^\s\p{C}\p{Z}]/u.test(answer)) expect(shownText(parts)).toBe(answer);
        for (const part of parts) expect(textLength(part.blocks)).toBeLessThan(9_950);
      }),
      { numRuns: 100 },
    );
  });

  it('gives the same parts however the text grew', () => {
    fc.assert(
      fc.property(
        markdownText(),
        fc.array(fc.integer({ min: 1, max: 9_000 }), { maxLength: 12 }),
        (text, steps) => {
          const answer = `${text}\n\n`.repeat(Math.ceil(25_000 / (text.length + 2)));
          const draft = new Draft();
          let at = 0;
          const seen = new Map<number, string>();
          for (const step of steps) {
            at += step;
            for (const [index, part] of draft.parts(answer.slice(0, at), { final: false }).entries()) {
              if (!part.closed) continue;
              const shown = JSON.stringify(part);
              expect(seen.get(index) ?? shown).toBe(shown);
              seen.set(index, shown);
            }
          }
          expect(draft.parts(answer, { final: true })).toEqual(splitAnswer(answer));
          expect(draft.parts(answer, { final: false })).toEqual(splitAnswer(answer, { final: false }));
        },
      ),
      { numRuns: 60 },
    );
  });
});
void overflow;
void parseMarkdown;
void count;
