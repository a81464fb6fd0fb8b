import { randomUUID } from 'node:crypto';
import { type FileHandle, open, statfs, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';

/** What people may upload to Slack at most (bytes). */
export const MAX_ARCHIVE_BYTES = 1_000_000_000;
/** The part of the free disk that one archive may take. */
const SHARE_OF_FREE_DISK = 0.2;
const CHUNK_BYTES = 65_536;

/** The archive is longer than the disk, or Slack, has room for. */
export class ArchiveTooLarge extends Error {}

/** A file on the disk, which nobody else can open. */
export interface DiskFile {
  sizeBytes: number;
  content: AsyncIterable<Uint8Array>;
}

type Chunks = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

/** The name of a file in an archive, and what it holds, which is read when the files before it are packed. */
export type ArchiveEntry = readonly [name: string, content: Chunks];

/**
 * Packs files one after the other into a ZIP archive, and passes it on while it exists. It is never whole in memory. Throws
 * ArchiveTooLarge, what making the entries throws, and the reason of `signal`.
 */
export async function withArchive<T>(
  entries: AsyncIterable<ArchiveEntry> | Iterable<ArchiveEntry>,
  signal: AbortSignal,
  use: (archive: DiskFile) => Promise<T>,
): Promise<T> {
  await using archive = await writeDiskFile(async (file) => {
    const zip = new ZipFile();
    const { outputStream: output } = zip;
    const fail = (error: Error) => void (output instanceof Readable && output.destroy(error));
    zip.on('error', fail);
    const isOver = new AbortController();
    const packed = pack(zip, entries, isOver.signal).catch(fail);
    try {
      await pipeline(output, (chunks: Chunks) => append(file, chunks), { signal });
    } finally {
      isOver.abort();
      await packed;
    }
  });
  return await use(archive);
}

async function pack(
  zip: ZipFile,
  entries: AsyncIterable<ArchiveEntry> | Iterable<ArchiveEntry>,
  isOver: AbortSignal,
): Promise<void> {
  for await (const [name, content] of entries) {
    const source = Readable.from(content, { objectMode: false });
    zip.addReadStream(source, name);
    await finished(source, { signal: isOver }).finally(() => source.destroy());
  }
  zip.end();
}

/** Keeps bytes on the disk until they are disposed of. Throws ArchiveTooLarge, and what reading the bytes throws. */
export async function copyOnDisk(bytes: AsyncIterable<Uint8Array>): Promise<DiskFile & AsyncDisposable> {
  return writeDiskFile((file) => append(file, bytes));
}

/** A file that has no name, so that it is gone with the process, however that ends. */
async function writeDiskFile(
  write: (file: FileHandle) => Promise<void>,
): Promise<DiskFile & AsyncDisposable> {
  const name = path.join(tmpdir(), `taskthread-archive-${randomUUID()}`);
  const file = await open(name, 'wx+', 0o600);
  try {
    await unlink(name);
    await write(file);
    const { size: sizeBytes } = await file.stat();
    return { sizeBytes, content: bytesOf(file), [Symbol.asyncDispose]: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function append(file: FileHandle, chunks: Chunks): Promise<void> {
  let written = 0;
  for await (const chunk of chunks) {
    written += chunk.length;
    // Other archives are written at the same time.
    const { bavail, bsize } = await statfs(tmpdir());
    if (written > Math.min(MAX_ARCHIVE_BYTES, bavail * bsize * SHARE_OF_FREE_DISK))
      throw new ArchiveTooLarge();
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
