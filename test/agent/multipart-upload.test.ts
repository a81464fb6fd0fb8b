import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FileBytes } from '../../src/agent/file-bytes.ts';
import { planParts } from '../../src/agent/multipart-upload.ts';
import { DEFAULT_SERVICE_OPTIONS } from '../../src/agent/service-options.ts';

const mebibyte = 1024 * 1024;

async function* chunked(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function collect(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe('planParts', () => {
  test("keeps S3's rules for every size up to S3's largest file", () => {
    const sizes = fc.integer({ min: 0, max: 5 * 1024 ** 4 });
    fc.assert(
      fc.property(sizes, (sizeBytes) => {
        const plan = planParts(sizeBytes, null, DEFAULT_SERVICE_OPTIONS);
        expect(plan.parts.length).toBeGreaterThanOrEqual(1);
        expect(plan.parts.length).toBeLessThanOrEqual(10_000);
        expect(plan.partBytes).toBeGreaterThanOrEqual(16 * mebibyte);
        const { offset, size, number } = plan.parts.at(-1) ?? {};
        expect(number).toBe(plan.parts.length);
        expect((offset ?? 0) + (size ?? 0)).toBe(sizeBytes);
        expect(size).toBeLessThanOrEqual(plan.partBytes);
        expect(size).toBeGreaterThanOrEqual(Math.min(1, sizeBytes));
      }),
    );
  });

  test('uses the size that the service gives, and raises it only to avoid too many parts', () => {
    const planOf = (sizeBytes: number) => planParts(sizeBytes, 8 * mebibyte, DEFAULT_SERVICE_OPTIONS);
    expect(planOf(20 * mebibyte)).toMatchObject({ partBytes: 8 * mebibyte, parts: { length: 3 } });
    const plan = planOf(100_001 * mebibyte);
    expect(plan.parts.length).toBeLessThanOrEqual(10_000);
    expect(plan.partBytes).toBeGreaterThan(8 * mebibyte);
  });
});

describe('the bytes of a file', () => {
  const bytes = fc.uint8Array({ maxLength: 300 });
  const chunk = fc.integer({ min: 1, max: 50 });
  const piece = fc.integer({ min: 1, max: 90 });
  const described = { projectId: 'p', filename: 'n', mimeType: 'text/plain' };
  const bytesOf = (source: AsyncIterable<Uint8Array>, sizeBytes: number, signal?: AbortSignal) =>
    new FileBytes({ ...described, sizeBytes, open: async () => source, signal });

  test('are read in pieces that form the file again, from a source that is opened once', async () => {
    await fc.assert(
      fc.asyncProperty(bytes, chunk, piece, async (file, chunkSize, pieceSize) => {
        const opened: number[] = [];
        const open = async (offset: number) => {
          opened.push(offset);
          return chunked(file.subarray(offset), chunkSize);
        };
        const whole = new FileBytes({ ...described, sizeBytes: file.length, open });
        const pieces: Buffer[] = [];
        for (let at = 0; at < file.length; at += pieceSize)
          pieces.push(await collect(whole.piece(at, Math.min(pieceSize, file.length - at))));
        expect(Buffer.concat(pieces).equals(Buffer.from(file))).toBe(true);
        expect(opened).toEqual(file.length === 0 ? [] : [0]);
      }),
    );
  });

  test('are read again from where a piece begins that was broken off', async () => {
    await fc.assert(
      fc.asyncProperty(bytes, chunk, fc.nat({ max: 300 }), async (file, chunkSize, most) => {
        const at = Math.min(most, file.length);
        let closed = 0;
        async function* source(offset: number) {
          try {
            yield* chunked(file.subarray(offset), chunkSize);
          } finally {
            closed += 1;
          }
        }
        const open = async (offset: number) => source(offset);
        const whole = new FileBytes({ ...described, sizeBytes: file.length, open });
        await collect(whole.piece(0, at));
        for await (const _ of whole.piece(at, file.length - at)) break;
        const rest = await collect(whole.piece(at, file.length - at));
        expect(rest.equals(Buffer.from(file.subarray(at)))).toBe(true);
        whole.close();
        await expect.poll(() => closed).toBeGreaterThan(0);
      }),
      { numRuns: 30 },
    );
  });

  test('fail if the file has fewer than announced', async () => {
    const short = { code: 'wrong_size', message: expect.stringContaining('ended after 5 bytes') };
    const read = collect(bytesOf(chunked(new Uint8Array(5), 2), 6).piece(0, 6));
    await expect(read).rejects.toMatchObject(short);
  });

  test('never include the last announced byte of a file that has more', async () => {
    const given: Uint8Array[] = [];
    const reading = async () => {
      for await (const next of bytesOf(chunked(new Uint8Array(6), 1), 5).piece(0, 5)) given.push(next);
    };
    await expect(reading()).rejects.toMatchObject({ code: 'wrong_size' });
    expect(Buffer.concat(given).length).toBeLessThan(5);
    const last = bytesOf(chunked(new Uint8Array(6), 4), 5);
    await collect(last.piece(0, 3));
    await expect(collect(last.piece(3, 2))).rejects.toMatchObject({ code: 'wrong_size' });
  });

  test('abandon a hanging source when the signal aborts', async () => {
    const stop = new AbortController();
    const { promise: isRead, resolve } = Promise.withResolvers<void>();
    const next = () => {
      resolve();
      return new Promise<never>(() => {});
    };
    const hanging = { [Symbol.asyncIterator]: () => ({ next }) };
    const reading = collect(bytesOf(hanging, 5, stop.signal).piece(0, 5));
    await isRead;
    stop.abort(new Error('enough'));
    await expect(reading).rejects.toMatchObject({ cause: { message: 'enough' } });
  });
});
