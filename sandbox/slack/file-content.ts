import { createReadStream, statSync } from 'node:fs';

/** A file's bytes, readable in parts so that a large file never has to be in memory. */
export interface FileContent {
  /** Bytes. */
  readonly size: number;
  /** The bytes from `start` (inclusive) to `end` (exclusive). */
  read(start: number, end: number): AsyncIterable<Uint8Array>;
  /** All of it as text, if it is in memory. */
  text?(): string;
}

/** The source of a file's bytes: memory, a file on disk, or a pattern of any size. */
export type ContentSource = { bytes: Uint8Array | string } | { path: string } | { size: number };

const CHUNK = 256 * 1024;

/** Content from its source. @throws if a path cannot be read */
export function contentFrom(source: ContentSource): FileContent {
  if ('bytes' in source) return bytesContent(Buffer.from(source.bytes));
  if ('path' in source) return diskContent(source.path);
  return patternContent(source.size);
}

/** All bytes at once; for tests with small files. */
export async function readAll(content: FileContent): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of content.read(0, content.size)) parts.push(part);
  return Buffer.concat(parts);
}

function bytesContent(bytes: Buffer): FileContent {
  return {
    size: bytes.length,
    async *read(start, end) {
      if (end > start) yield bytes.subarray(start, end);
    },
    text: () => bytes.toString('utf8'),
  };
}

function diskContent(path: string): FileContent {
  const { size } = statSync(path);
  return {
    size,
    async *read(start, end) {
      if (end > start) yield* createReadStream(path, { start, end: end - 1 });
    },
  };
}

/** Bytes from their offset, by copying a pattern: fast enough for gigabytes. */
function patternContent(size: number): FileContent {
  const period = 65_521;
  const block = Buffer.alloc(CHUNK + period);
  for (let i = 0; i < block.length; i += 1) block[i] = (i % period) & 0xff;
  return {
    size,
    async *read(start, end) {
      for (let offset = start; offset < end; offset += CHUNK)
        yield block.subarray(offset % period, (offset % period) + Math.min(CHUNK, end - offset));
    },
  };
}
