import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';

/** What copying an archive tells, and what ends it. */
export interface CopyOptions {
  /** Called with the number of bytes, each time some have been read. */
  onBytes: (count: number) => void;
  signal: AbortSignal;
}

/** Packs the folder into a new file, which only its owner can read. Throws if the file exists, or tar fails. */
export async function packFolder(
  folder: string,
  file: string,
  { onBytes, signal }: CopyOptions,
): Promise<void> {
  const target = createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true });
  await once(target, 'open');
  const tar = spawn('tar', ['-C', folder, '-cf', '-', '.'], {
    // Else macOS adds a file for each file's extended attributes.
    env: { ...process.env, COPYFILE_DISABLE: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const copied = pipeline(tar.stdout, counted(onBytes), createGzip(), target, { signal });
  await bothDone(ended(tar, tar.stderr), copied);
}

/** Unpacks an archive into an empty folder; the files belong to this process. Throws if tar or the archive fails. */
export async function unpackFolder(
  file: string,
  folder: string,
  { onBytes, signal }: CopyOptions,
): Promise<void> {
  const source = createReadStream(file);
  await once(source, 'open');
  // Without `--ignore-zeros`, tar may end before it is given the last bytes: they would have nobody to go to.
  const args = ['-C', folder, '--no-same-owner', '--ignore-zeros', '-xpf', '-'];
  const tar = spawn('tar', args, { stdio: ['pipe', 'ignore', 'pipe'] });
  const copied = pipeline(source, counted(onBytes), createGunzip(), tar.stdin, { signal });
  await bothDone(ended(tar, tar.stderr), copied);
}

function counted(onBytes: CopyOptions['onBytes']) {
  return async function* (source: AsyncIterable<Uint8Array>) {
    for await (const chunk of source) {
      onBytes(chunk.byteLength);
      yield chunk;
    }
  };
}

/** Waits for both, whatever becomes of them; then throws the first failure. */
async function bothDone(...work: Promise<void>[]): Promise<void> {
  const failure = (await Promise.allSettled(work)).find(({ status }) => status === 'rejected');
  if (failure?.status === 'rejected') throw failure.reason;
}

async function ended(tar: ChildProcess, errors: NodeJS.ReadableStream): Promise<void> {
  const [said, [code]] = await Promise.all([text(errors), once(tar, 'close')]);
  if (code !== 0) throw new Error(`tar has failed: ${said.trim()}`);
}

/** The bytes of all files in a folder. */
export async function folderBytes(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map(({ parentPath, name }) => stat(path.join(parentPath, name))));
  return sizes.reduce((sum, { size }) => sum + size, 0);
}

const PROGRESS_BYTES = 100_000_000;
const megabytes = (bytes: number) => Math.ceil(bytes / 1_000_000);

/** Says how much is done, for every 100 MB. */
export function progressOf(verb: string, totalBytes: number, say: (line: string) => void) {
  let done = 0;
  let next = PROGRESS_BYTES;
  return (count: number): void => {
    done += count;
    if (done < next) return;
    next += PROGRESS_BYTES;
    say(`${verb} ${megabytes(done)} of ${megabytes(totalBytes)} MB so far.`);
  };
}
