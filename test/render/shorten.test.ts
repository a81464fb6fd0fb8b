import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { graphemeStart, shorten, shortenMiddle } from '../../src/render/text-format.ts';

const anyText = fc
  .array(
    fc.oneof(fc.string({ unit: 'grapheme', maxLength: 8 }), fc.constantFrom('👩‍👩‍👧', '🇩🇪', 'e\u0301', '漢')),
  )
  .map((list) => list.join(''));

describe('graphemeStart', () => {
  test('is the last grapheme boundary at or before an offset', () => {
    fc.assert(
      fc.property(anyText, fc.nat(60), (text, at) => {
        const borders = [...new Intl.Segmenter().segment(text)].map(({ index }) => index).concat(text.length);
        expect(graphemeStart(text, at)).toBe(Math.max(0, ...borders.filter((border) => border <= at)));
      }),
    );
  });

  test('splits a grapheme of more than 2,000 characters between code points', () => {
    const endless = `e${'\u0301'.repeat(5_000)}`;
    expect(graphemeStart(endless, 4_000)).toBe(4_000);
    const joinedEmoji = '😀\u200D'.repeat(2_000);
    const start = graphemeStart(joinedEmoji, 3_001);
    expect(start).toBeGreaterThan(0);
    expect(joinedEmoji.slice(0, start).isWellFormed()).toBe(true);
  });

  test.each([
    [-3, 0],
    [0, 0],
    [99, 3],
  ])('of the offset %d stays inside the text', (at, start) => {
    expect(graphemeStart('abc', at)).toBe(start);
  });
});

describe('a shortened text', () => {
  test.each([shorten, shortenMiddle])(
    'by %o has at most so many characters, whole graphemes and one mark',
    (cut) => {
      fc.assert(
        fc.property(anyText, fc.integer({ min: 24, max: 60 }), (text, most) => {
          const short = cut(text, most);
          expect(short.length).toBeLessThanOrEqual(most);
          expect(text.length <= most ? short : short.replace('…', '').length < text.length).toBe(
            text.length <= most ? text : true,
          );
          expect(short.isWellFormed()).toBe(true);
        }),
      );
    },
  );

  test('keeps its end if it is shortened in the middle', () => {
    expect(shortenMiddle('a-very-long-name-of-a-file.fastq.gz', 24)).toBe('a-very-long-nam…fastq.gz');
  });
});
