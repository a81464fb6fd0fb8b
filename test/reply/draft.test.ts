import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Draft, type Part, shownText, splitAnswer } from '../../src/reply/draft.ts';
import { textLength } from '../../src/reply/slack-blocks.ts';
import { markdownText } from './markdown-text.ts';

/** Where a part's text comes from and whether it may still change: what another process must agree on. */
function extent({ source, closed }: Part) {
  return { source, closed };
}

describe('splitAnswer', () => {
  it('shows every character once, within limits', () => {
    fc.assert(
      fc.property(markdownText(), fc.integer({ min: 1, max: 60 }), (text, times) => {
        const answer = `${text}\n\n`.repeat(times).trimEnd();
        const parts = splitAnswer(answer);
        fc.pre(/[^\s\p{C}\p{Z}]/u.test(answer));
        expect(shownText(parts)).toBe(answer);
        for (const part of parts) expect(textLength(part.blocks)).toBeLessThan(9_950);
      }),
      { numRuns: 60, endOnFailure: true },
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
          for (const final of [true, false]) {
            const grown = draft.parts(answer, { final });
            const atOnce = splitAnswer(answer, { final });
            expect(grown.map(extent)).toEqual(atOnce.map(extent));
            expect(shownText(grown)).toBe(shownText(atOnce));
          }
        },
      ),
      { numRuns: 20, endOnFailure: true },
    );
  });
});
