import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeBody, readText } from '../../src/calls/content-coding.ts';
import { withinMs } from '../support/busy-machine.ts';

const text = Buffer.from('gene,fold\n'.repeat(500));

/** The body with a header, as it is read. */
async function read(bytes: Buffer, coding?: string | string[], sizeBytes?: number, more = {}, path?: string) {
  const length = String(bytes.length);
  const headers = {
    ...more,
    'content-length': length,
    ...(coding !== undefined && { 'content-encoding': coding }),
  };
  // In pieces: a stream of chunks of one byte has many borders.
  const source = Readable.from(Array.from(bytes, (byte) => Buffer.from([byte])));
  const { body, wasCompressed } = decodeBody(source, headers as Record<string, string>, {
    sizeBytes,
    ...(path !== undefined && { path }),
  });
  return { bytes: await buffer(body), wasCompressed };
}

describe('a body', () => {
  test.each([
    ['gzip', gzipSync(text)],
    ['GZIP', gzipSync(text)],
    ['x-gzip', gzipSync(text)],
    ['deflate', deflateSync(text)],
    ['br', brotliCompressSync(text)],
    ['zstd', zstdCompressSync(text)],
    ['aws-chunked, gzip', gzipSync(text)],
    [['deflate', 'gzip'], gzipSync(deflateSync(text))],
    // As bgzip writes them.
    ['gzip', Buffer.concat([gzipSync(text.subarray(0, 40)), gzipSync(text.subarray(40))])],
  ])('that comes as %s is read as it was', async (coding, bytes) => {
    expect(await read(bytes, coding)).toEqual({ bytes: text, wasCompressed: true });
  });

  test.each(['identity', '', 'aws-chunked', 'utf-8', undefined])(
    'with the coding %j is left as it is',
    async (coding) => {
      expect(await read(text, coding)).toEqual({ bytes: text, wasCompressed: false });
    },
  );

  test('of a file that is compressed itself is left as it is', async () => {
    const file = gzipSync(text);
    expect(await read(file, 'gzip', file.length)).toEqual({ bytes: file, wasCompressed: false });
    expect(await read(file, 'gzip', text.length)).toEqual({ bytes: text, wasCompressed: true });
    const named = { 'content-disposition': 'attachment; filename="genes.csv.gz"' };
    expect(await read(file, 'gzip', undefined, named)).toEqual({ bytes: file, wasCompressed: false });
    const typed = { 'content-type': 'application/x-gzip' };
    expect(await read(file, 'gzip', undefined, typed)).toEqual({ bytes: file, wasCompressed: false });
    const left = await read(file, 'gzip', undefined, {}, '/bucket/genes.csv.gz');
    expect(left).toEqual({ bytes: file, wasCompressed: false });
    for (const path of ['/bucket/genes.csv', '/dados.gov.br/genes.csv', '/genes.gz/1'])
      expect((await read(file, 'gzip', undefined, {}, path)).bytes).toEqual(text);
  });

  test('that Google keeps compressed, and sends unpacked, may have another length than is listed', async () => {
    const kept = (coding: string, path?: string) =>
      read(text, undefined, 9, { 'x-goog-stored-content-encoding': coding }, path);
    expect(await kept('gzip')).toEqual({ bytes: text, wasCompressed: true });
    expect(await kept('identity')).toEqual({ bytes: text, wasCompressed: false });
    expect(await kept('gzip', '/bucket/genes.csv.gz')).toEqual({ bytes: text, wasCompressed: false });
  });

  test.each(['gzip', 'deflate', 'br', 'zstd'])('without a byte is read as %s, too', async (coding) => {
    expect((await read(Buffer.alloc(0), coding)).bytes).toHaveLength(0);
  });

  test('that is cut off breaks', async () => {
    await expect(read(gzipSync(text).subarray(0, -4), 'gzip')).rejects.toThrow('unexpected end of file');
    await expect(read(zstdCompressSync(text).subarray(0, -4), 'zstd')).rejects.toThrow(
      'unexpected end of file',
    );
  });

  test('in several frames of zstd is read whole or breaks', async () => {
    const frames = Buffer.concat([
      zstdCompressSync(text.subarray(0, 40)),
      zstdCompressSync(text.subarray(40)),
    ]);
    expect((await read(frames, 'zstd')).bytes).toEqual(text);
    const atOnce = decodeBody(Readable.from([frames]), { 'content-encoding': 'zstd' });
    await expect(buffer(atOnce.body)).rejects.toThrow('More follows a frame.');
  });

  test('is decompressed no faster than it is read, and is destroyed with what it comes from', async () => {
    let taken = 0;
    const pieces = function* () {
      for (; taken < 4_000; taken += 1) yield gzipSync(Buffer.alloc(64 * 1024));
    };
    const source = Readable.from(pieces());
    const { body } = decodeBody(source, { 'content-encoding': 'gzip' });
    for await (const chunk of body) {
      expect(chunk.length).toBeLessThanOrEqual(64 * 1024);
      break;
    }
    await expect.poll(() => source.destroyed).toBe(true);
    expect(taken).toBeLessThan(withinMs(2_000));
  });
});

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
