import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as nextTick, setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import {
  type ArchiveEntry,
  ArchiveTooLarge,
  firstWholeDownload,
  withArchive,
} from '../../../src/features/task-details/archive-file.ts';
import { findFreeDisk } from '../../support/free-disk.ts';

/** More than is packed in a few milliseconds. */
const LONG = randomBytes(1_000_000).toString('hex');
const never = new AbortController().signal;

afterEach(() => void vi.unstubAllEnvs());

test('an archive has no name on the disk, and the size that is said', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'record-archive-'));
  vi.stubEnv('TMPDIR', folder);
  await withArchive(
    () => Object.entries({ one: [LONG, LONG], two: ['short'] }),
    never,
    async ({ sizeBytes, content }) => {
      let bytes = 0;
      for await (const chunk of content) bytes += chunk.length;
      expect(bytes).toBe(sizeBytes);
      expect(bytes).toBeGreaterThan(LONG.length);
      expect(await readdir(folder)).toEqual([]);
    },
  );
});

test('an archive that is ended early, or whose texts fail, says why, and ends nothing else', async () => {
  const stop = new AbortController();
  async function* endless() {
    for (;;) yield LONG;
  }
  async function* failing() {
    await nextTick();
    yield LONG;
    throw new Error('No more words.');
  }
  const use = async () => expect.unreachable();
  const ended = withArchive(() => [['one', endless()]], stop.signal, use);
  const failed = withArchive(
    () => [
      ['one', failing()],
      ['two', ['short']],
    ],
    never,
    use,
  );
  await expect(failed).rejects.toThrow('No more words.');
  stop.abort();
  await expect(ended).rejects.toThrow('aborted');
  const sizeOf = async ({ sizeBytes }: { sizeBytes: number }) => sizeBytes;
  expect(await withArchive(() => [['one', ['fresh']]], never, sizeOf)).toBeGreaterThan(5);
});

test('an archive without room ends the download that is under way', async ({ onTestFinished }) => {
  onTestFinished(findFreeDisk(0).restore);
  const ended = vi.fn<() => void>();
  async function* slow(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    await sleep(5_000, undefined, { signal }).catch(ended);
    yield Buffer.of();
  }
  async function* entries(ends: AbortSignal): AsyncGenerator<ArchiveEntry> {
    yield ['one', ['short']];
    await firstWholeDownload([slow], { signal: ends, maxBytes: 1 });
  }
  await expect(withArchive(entries, never, async () => expect.unreachable())).rejects.toThrow(
    ArchiveTooLarge,
  );
  expect(ended).toHaveBeenCalledOnce();
});

test('no download begins once the time is over', async () => {
  const begun = vi.fn<() => AsyncGenerator<Uint8Array>>(async function* () {
    yield Buffer.of();
  });
  const limits = { signal: AbortSignal.abort(new Error('It is over.')), maxBytes: 1 };
  await expect(firstWholeDownload([begun], limits)).rejects.toThrow('It is over.');
  expect(begun).not.toHaveBeenCalled();
});
