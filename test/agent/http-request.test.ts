import { Readable } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readText } from '../../src/agent/http-request.ts';

test('a body is read whole or up to its limit, however it is cut into chunks', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'grapheme', maxLength: 9_000 }),
      fc.array(fc.integer({ min: 1, max: 6_000 }), { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 0, max: 12_000 }),
      async (text, sizes, maxBytes) => {
        const bytes = Buffer.from(text);
        const chunks: Buffer[] = [];
        for (let from = 0, at = 0; from < bytes.length; at += 1) {
          const size = sizes[at % sizes.length] ?? 1;
          chunks.push(bytes.subarray(from, from + size));
          from += size;
        }
        expect(await readText(Readable.from(chunks), maxBytes)).toEqual({
          text: bytes.toString('utf8', 0, maxBytes),
          isWhole: bytes.length <= maxBytes,
        });
      },
    ),
    { numRuns: 60 },
  );
});
