import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { planParts } from '../../src/agent/multipart-upload.ts';
import { DEFAULT_SERVICE_OPTIONS } from '../../src/agent/service-options.ts';
import { PartReader, UploadMemory } from '../../src/agent/upload-parts.ts';

const mebibyte = 1024 * 1024;
const running = new AbortController().signal;

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
        const plan = planParts(sizeBytes, null, DEFAULT_SERVICE_OPTIONS, Number.POSITIVE_INFINITY);
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
    const planOf = (sizeBytes: number) =>
      planParts(sizeBytes, 8 * mebibyte, DEFAULT_SERVICE_OPTIONS, Number.POSITIVE_INFINITY);
    expect(planOf(20 * mebibyte)).toMatchObject({ partBytes: 8 * mebibyte, parts: { length: 3 } });
    const plan = planOf(100_001 * mebibyte);
    expect(plan.parts.length).toBeLessThanOrEqual(10_000);
    expect(plan.partBytes).toBeGreaterThan(8 * mebibyte);
  });
});

describe('the memory of uploads', () => {
  test('is given in the order of asking, and those who leave hold nobody up', async () => {
    const memory = new UploadMemory(100);
    const leaving = new AbortController();
    const order: string[] = [];
    const get = async (name: string, size: number, signal = running) => {
      const part = await memory.acquire(size, signal);
      order.push(name);
      return part;
    };
    const first = await get('first', 60);
    const left = get('left', 50, leaving.signal);
    const [large, small] = [get('larger than all', 150), get('small', 10)];
    leaving.abort(new Error('enough'));
    await expect(left).rejects.toThrow('enough');
    await expect(memory.acquire(1, leaving.signal)).rejects.toThrow('enough');
    expect(order).toEqual(['first']);
    first.release(true);
    (await large).release(false);
    await small;
    expect(order).toEqual(['first', 'larger than all', 'small']);
  });
});

describe('PartReader', () => {
  const bytes = fc.uint8Array({ maxLength: 300 });
  const chunk = fc.integer({ min: 1, max: 50 });
  const piece = fc.integer({ min: 1, max: 90 });

  test('splits any chunks into pieces that form the file again', async () => {
    await fc.assert(
      fc.asyncProperty(bytes, chunk, piece, async (file, chunkSize, pieceSize) => {
        const reader = new PartReader(chunked(file, chunkSize), 0, file.length, running);
        const pieces: Buffer[] = [];
        for (let at = 0; at < file.length; at += pieceSize) {
          const next = Buffer.alloc(Math.min(pieceSize, file.length - at));
          await reader.fill(next);
          pieces.push(next);
        }
        await reader.expectEnd();
        expect(Buffer.concat(pieces).equals(Buffer.from(file))).toBe(true);
      }),
    );
  });

  test('skips bytes and streams the rest', async () => {
    await fc.assert(
      fc.asyncProperty(bytes, chunk, fc.nat({ max: 300 }), async (file, chunkSize, most) => {
        const skipped = Math.min(most, file.length);
        const reader = new PartReader(chunked(file, chunkSize), 0, file.length, running);
        await reader.skip(skipped);
        const rest = await collect(reader.stream());
        expect(rest.equals(Buffer.from(file.subarray(skipped)))).toBe(true);
      }),
    );
  });

  test('fails if the file has fewer bytes than announced', async () => {
    const source = () => chunked(new Uint8Array(5), 2);
    const short = { code: 'wrong_size', message: expect.stringContaining('ended after 5 bytes') };
    await expect(new PartReader(source(), 0, 6, running).fill(Buffer.alloc(6))).rejects.toMatchObject(short);
    await expect(collect(new PartReader(source(), 0, 6, running).stream())).rejects.toMatchObject(short);
  });

  test('never yields the last announced byte of a file that has more', async () => {
    const given: Uint8Array[] = [];
    const reader = new PartReader(chunked(new Uint8Array(6), 1), 0, 5, running);
    const reading = async () => {
      for await (const next of reader.stream()) given.push(next);
    };
    await expect(reading()).rejects.toMatchObject({ code: 'wrong_size' });
    expect(Buffer.concat(given).length).toBeLessThan(5);
    const pieces = new PartReader(chunked(new Uint8Array(6), 4), 0, 5, running);
    await pieces.fill(Buffer.alloc(5));
    await expect(pieces.expectEnd()).rejects.toMatchObject({ code: 'wrong_size' });
  });

  test('abandons a hanging source when the signal aborts', async () => {
    const stop = new AbortController();
    const hanging = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) };
    const reader = new PartReader(hanging, 0, 5, stop.signal);
    const reading = reader.fill(Buffer.alloc(5));
    stop.abort(new Error('enough'));
    await expect(reading).rejects.toMatchObject({ cause: { message: 'enough' } });
    reader[Symbol.dispose]();
  });
});
