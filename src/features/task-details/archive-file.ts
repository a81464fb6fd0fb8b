import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, statfs, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { anySignal } from '../../calls/retries-and-waits.ts';

/** What people may upload to Slack at most (bytes). */
export const MAX_ARCHIVE_BYTES = 1_000_000_000;
/** The part of the free disk that one archive may take. */
const SHARE_OF_FREE_DISK = 0.2;
const CHUNK_BYTES = 65_536;

/** How long all downloads for an archive may take (ms), so that its job of half an hour has time for the rest. */
export const FILES_TIMEOUT_MS = 20 * 60_000;

/** The archive is longer than the disk, or Slack, has room for. */
export class ArchiveTooLarge extends Error {}

/** A file on the disk, which nobody else can open. Each look at `content` reads it from its beginning. */
export interface DiskFile {
  readonly sizeBytes: number;
  /** In hexadecimal digits. */
  readonly sha256: string;
  readonly content: AsyncIterable<Uint8Array>;
}

/** One that can be added to until it is disposed of. */
interface OpenDiskFile extends DiskFile, AsyncDisposable {
  /** Throws ArchiveTooLarge, and what reading the chunks throws. */
  append(chunks: Chunks): Promise<void>;
}

type Chunks = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

/** The name of a file in an archive, and what it holds, which is read when the files before it are packed. */
export type ArchiveEntry = readonly [name: string, content: Chunks];

/** What an archive holds, which is made until `signal` ends that. */
export type ArchiveEntries = (signal: AbortSignal) => AsyncIterable<ArchiveEntry> | Iterable<ArchiveEntry>;

/**
 * Packs files one after the other into a ZIP archive, and passes it on while it exists. It is never whole in memory. Throws
 * ArchiveTooLarge, what making the entries throws, and the reason of `signal`.
 */
export async function withArchive<T>(
  entries: ArchiveEntries,
  signal: AbortSignal,
  use: (archive: DiskFile) => Promise<T>,
): Promise<T> {
  await using archive = await openDiskFile();
  const zip = new ZipFile();
  const { outputStream: output } = zip;
  const fail = (error: Error) => void (output instanceof Readable && output.destroy(error));
  zip.on('error', fail);
  const isOver = new AbortController();
  const packed = pack(zip, entries, anySignal([signal, isOver.signal])).catch(fail);
  try {
    await pipeline(output, (chunks: Chunks) => archive.append(chunks), { signal });
  } finally {
    isOver.abort();
    await packed;
  }
  return await use(archive);
}

async function pack(zip: ZipFile, entries: ArchiveEntries, ends: AbortSignal): Promise<void> {
  for await (const [name, content] of entries(ends)) {
    const source = Readable.from(content, { objectMode: false });
    zip.addReadStream(source, name);
    await finished(source, { signal: ends }).finally(() => source.destroy());
  }
  zip.end();
}

/** A file's bytes, until `signal` ends them. */
export type Download = (signal: AbortSignal) => AsyncIterable<Uint8Array>;

/**
 * The first of several downloads of a file that comes whole, on the disk. Throws ArchiveTooLarge where it has more than
 * `maxBytes`, else what the last download threw, and at once where `signal` is aborted.
 */
export async function firstWholeDownload(
  downloads: readonly Download[],
  { signal, maxBytes }: { signal: AbortSignal; maxBytes: number },
): Promise<DiskFile & AsyncDisposable> {
  let failure: unknown;
  for (const bytes of downloads) {
    signal.throwIfAborted();
    const file = await openDiskFile(maxBytes);
    try {
      await file.append(bytes(signal));
      return file;
    } catch (error) {
      await file[Symbol.asyncDispose]();
      if (error instanceof ArchiveTooLarge || signal.aborted) throw error;
      failure = error;
    }
  }
  throw failure;
}

/** An empty file of at most so many bytes. It has no name, so that it is gone with the process, however that ends. */
export async function openDiskFile(maxBytes = MAX_ARCHIVE_BYTES): Promise<OpenDiskFile> {
  const name = path.join(tmpdir(), `taskthread-archive-${randomUUID()}`);
  const file = await open(name, 'wx+', 0o600);
  await unlink(name);
  const hash = createHash('sha256');
  let sizeBytes = 0;
  return {
    get sizeBytes() {
      return sizeBytes;
    },
    get sha256() {
      return hash.copy().digest('hex');
    },
    get content() {
      return bytesOf(file);
    },
    async append(chunks) {
      for await (const chunk of chunks) {
        const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
        sizeBytes += bytes.length;
        if (sizeBytes > Math.min(maxBytes, await freeBytes())) throw new ArchiveTooLarge();
        hash.update(bytes);
        await file.appendFile(bytes);
      }
    },
    [Symbol.asyncDispose]: () => file.close(),
  };
}

/** What one more file on the disk may take: other archives are written at the same time. */
export async function freeBytes(): Promise<number> {
  const { bavail, bsize } = await statfs(tmpdir());
  return bavail * bsize * SHARE_OF_FREE_DISK;
}

async function* bytesOf(file: FileHandle): AsyncGenerator<Uint8Array> {
  for (let at = 0; ; ) {
    const { bytesRead, buffer } = await file.read({ buffer: Buffer.allocUnsafe(CHUNK_BYTES), position: at });
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
