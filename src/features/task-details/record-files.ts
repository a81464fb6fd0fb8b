import type { AgentClient } from '../../agent/agent-client.ts';
import { undefinedIfNotFound } from '../../agent/errors.ts';
import type { FileRecord } from '../../agent/service-schema.ts';
import { anySignal } from '../../calls/retries-and-waits.ts';
import { slackFileName } from '../../relay/reading/slack-file-names.ts';
import { ResultWithoutLink, resultBytes } from '../../relay/replies/result-bytes.ts';
import { UNNAMED_FILE } from '../../render/file-names.ts';
import type { RecordedFile } from '../../render/record/record-page.ts';
import { noLink, recordNotes } from '../../render/strings/index.ts';
import { FileRefusedError, type SlackFile } from '../../slack/downloadable-files.ts';
import { withDigest, withExactSize } from '../../slack/file-response.ts';
import type { RecordWork } from './archive-delivery.ts';
import {
  type ArchiveEntry,
  ArchiveTooLarge,
  type Download,
  FILES_TIMEOUT_MS,
  firstWholeDownload,
  freeBytes,
  MAX_ARCHIVE_BYTES,
} from './archive-file.ts';

/** A file of a task, and the ways to its bytes. */
export interface TaskFile extends Omit<RecordedFile, 'place'> {
  /** In the order in which they are tried. */
  downloads: readonly Download[];
  /** Why nobody wants it in an archive. */
  leftOut?: string;
}

/**
 * The files that people sent: from the service, as the agent read them, or else from Slack. What was deleted in Slack is
 * left out. Throws an AgentError, a SlackError or a StoreError.
 */
export async function readInputs(work: RecordWork, ids: readonly string[]): Promise<TaskFile[]> {
  const { deps, workspace, agent, row, lease } = work;
  const { signal } = lease;
  const sent = await deps.store.uploads.sent(row.workspace, ids);
  const files = ids.map(async (id): Promise<TaskFile> => {
    const { slackFileId, sha256 = null } = sent.get(id) ?? {};
    const [file, found] = await Promise.all([
      undefinedIfNotFound(() => agent.getFile(id, { signal })),
      slackFileId === undefined ? undefined : workspace.downloads.lookUp(slackFileId, signal),
    ]);
    const shared = typeof found === 'object' ? found : undefined;
    const isDeleted = found === 'deleted' || found === 'unseen';
    return {
      id,
      name: file?.filename ?? (shared && slackFileName(shared)) ?? UNNAMED_FILE,
      sizeBytes: file?.sizeBytes ?? shared?.size ?? null,
      mimeType: file?.mimeType ?? shared?.mimetype ?? '',
      sha256,
      ownerId: shared?.user,
      downloads: [
        file && ((ends: AbortSignal) => serviceBytes(agent, file, ends)),
        shared && ((ends: AbortSignal) => slackBytes(work, shared, sha256, ends)),
      ].filter((bytes) => bytes !== undefined),
      ...(isDeleted && { leftOut: recordNotes.files.deleted }),
    };
  });
  return Promise.all(files);
}

/** A file that somebody sent, as the agent read it. Throws an AgentError, or an Error for another size than the stated one. */
export async function* serviceBytes(
  agent: AgentClient,
  { id, sizeBytes }: FileRecord,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const { body } = await agent.openFileContent(id, { signal });
  yield* sizeBytes === null ? body : withExactSize(body, sizeBytes);
}

/** The same from Slack. Throws FileRefusedError where it was edited since, or another SlackError. */
function slackBytes(work: RecordWork, file: SlackFile, sha256: string | null, signal: AbortSignal) {
  return withDigest(work.workspace.downloads.read(file, { signal }), (digest) => {
    if (sha256 !== null && digest !== sha256) throw new FileRefusedError(file.id, 'changed');
  });
}

/** The task's results, and the turns that posted them, by their ids. Throws an AgentError. */
export async function readResults(work: RecordWork) {
  const { deps, agent, taskId, row, lease } = work;
  const claimed = await deps.store.results.ofThread(row);
  const listed = await agent.allResults(taskId, { signal: lease.signal });
  const results = listed.results.map(({ downloadUrl, ...result }): TaskFile => {
    const download = (signal: AbortSignal) => {
      const limits = { maxBytes: MAX_ARCHIVE_BYTES, timeoutMs: FILES_TIMEOUT_MS, signal };
      const bytes = resultBytes(work, { downloadUrl, ...result }, limits);
      return withDigest(bytes, (sha256) => deps.store.results.recordDigest(row, result.id, sha256));
    };
    return { ...result, sha256: claimed.get(result.id)?.sha256 ?? null, downloads: [download, download] };
  });
  return { claimed, results, isComplete: listed.isComplete };
}

/**
 * Packs files one after the other, each whole on the disk before it is packed, as far as `maxBytes` of all have room.
 * `nameEntry` gives each a name that no other entry has. `failure` is why the last one is missing that could not be had.
 */
export function filePacker(work: RecordWork, maxBytes: number, nameEntry: (name: string) => string) {
  const { tooMuch, noSpace, tooSlow, gone, failed } = recordNotes.files;
  const timeLimit = AbortSignal.timeout(FILES_TIMEOUT_MS);
  /** By id: a file may be sent several times. */
  const packed = new Map<string, RecordedFile>();
  let usedBytes = 0;
  let failure: unknown;

  /** Yields those that have room and can be had, in a folder; returns all. Throws the reason of `ends`. */
  async function* pack(
    files: readonly TaskFile[],
    ends: AbortSignal,
    folder = '',
  ): AsyncGenerator<ArchiveEntry, RecordedFile[]> {
    const recorded: RecordedFile[] = [];
    for (const file of files) {
      const one = packed.get(file.id) ?? (yield* packOne(file, ends, folder));
      packed.set(file.id, one);
      recorded.push(one);
    }
    return recorded;
  }

  async function* packOne(
    taskFile: TaskFile,
    ends: AbortSignal,
    folder: string,
  ): AsyncGenerator<ArchiveEntry, RecordedFile> {
    const { downloads, leftOut, ...file } = taskFile;
    const leftBytes = maxBytes - usedBytes;
    // The archive has each file once more.
    const diskBytes = (await freeBytes()) / 2;
    const room = Math.min(leftBytes, diskBytes);
    const noRoom = diskBytes < leftBytes ? noSpace : tooMuch(maxBytes);
    let why = leftOut ?? (downloads.length === 0 ? gone : undefined);
    if (why === undefined && (maxBytes === 0 || (file.sizeBytes ?? 0) > room)) {
      why = noRoom;
      failure = new ArchiveTooLarge();
    }
    if (why !== undefined) return { ...file, place: { leftOut: why } };
    const signal = anySignal([ends, timeLimit]);
    await using copy = await firstWholeDownload(downloads, { signal, maxBytes: room }).catch(
      (error: unknown) => {
        if (ends.aborted) throw error;
        work.deps.log.warn({ err: error, file: file.id }, 'an archive goes without a file');
        failure = error;
        why = error instanceof ResultWithoutLink ? noLink : failed;
        if (signal.aborted) why = tooSlow;
        if (error instanceof ArchiveTooLarge) why = noRoom;
        return undefined;
      },
    );
    if (copy === undefined) return { ...file, place: { leftOut: why ?? failed } };
    const { sizeBytes, sha256, content } = copy;
    const entry = nameEntry(file.name);
    usedBytes += sizeBytes;
    yield [folder + entry, content];
    return { ...file, sizeBytes, sha256, place: { entry } };
  }

  /** The files that are left out so far, with the reason. */
  const missing = () =>
    [...packed.values()].flatMap(({ name, place }) =>
      'leftOut' in place ? [{ name, why: place.leftOut }] : [],
    );
  return { pack, missing, failure: () => failure };
}
