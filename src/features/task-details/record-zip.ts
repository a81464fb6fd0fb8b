import { randomUUID } from 'node:crypto';
import { type FileHandle, open, statfs, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';

/** What people may upload to Slack at most (bytes). */
const MAX_BYTES = 1_000_000_000;
/** The part of the free disk that one archive may take. */
const SHARE_OF_FREE_DISK = 0.2;
const CHUNK_BYTES = 65_536;

/** The archive is longer than the disk, or Slack, has room for. */
export class ArchiveTooLarge extends Error {}

/** A ZIP archive on the disk. */
export interface Archive {
  sizeBytes: number;
  content: AsyncIterable<Uint8Array>;
}

/**
 * Packs texts, by their files' names, one after the other, and passes the archive on while it exists. It is never whole in
 * memory. Throws ArchiveTooLarge, what making the texts throws, and the reason of `signal`.
 */
export async function withArchive<T>(
  texts: Readonly<Record<string, AsyncIterable<string> | Iterable<string>>>,
  signal: AbortSignal,
  use: (archive: Archive) => Promise<T>,
): Promise<T> {
  const file = await openUnnamed();
  const zip = new ZipFile();
  const { outputStream: output } = zip;
  const sources = Object.entries(texts).map(([name, text]) => {
    const source = Readable.from(text, { objectMode: false });
    zip.addReadStream(source, name);
    return source;
  });
  for (const part of [zip, ...sources])
    part.on('error', (error: Error) => void (output instanceof Readable && output.destroy(error)));
  zip.end();
  try {
    await pipeline(output, (chunks: AsyncIterable<string | Buffer>) => append(file, chunks), { signal });
    const { size: sizeBytes } = await file.stat();
    return await use({ sizeBytes, content: bytesOf(file) });
  } finally {
    for (const source of sources) source.destroy();
    await file.close();
  }
}

/** A file that nobody else can open. It has no name, so it is gone with the process, however that ends. */
async function openUnnamed(): Promise<FileHandle> {
  const name = path.join(tmpdir(), `taskthread-record-${randomUUID()}`);
  const file = await open(name, 'wx+', 0o600);
  await unlink(name);
  return file;
}

async function append(file: FileHandle, chunks: AsyncIterable<string | Buffer>): Promise<void> {
  let written = 0;
  for await (const chunk of chunks) {
    written += chunk.length;
    // Other archives are written at the same time.
    const { bavail, bsize } = await statfs(tmpdir());
    if (written > Math.min(MAX_BYTES, bavail * bsize * SHARE_OF_FREE_DISK)) throw new ArchiveTooLarge();
    await file.appendFile(chunk);
  }
}

async function* bytesOf(file: FileHandle): AsyncGenerator<Uint8Array> {
  for (let at = 0; ; ) {
    const { bytesRead, buffer } = await file.read({ buffer: Buffer.allocUnsafe(CHUNK_BYTES), position: at });
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
