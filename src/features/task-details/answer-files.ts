import { AgentNotFoundError } from '../../agent/errors.ts';
import type { ResultFile } from '../../agent/service-schema.ts';
import { anySignal } from '../../calls/retries-and-waits.ts';
import { ResultWithoutLink, resultBytes } from '../../relay/replies/result-bytes.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import { displayedFileName } from '../../render/messages/result-list.ts';
import * as strings from '../../render/strings/index.ts';
import { withDigest } from '../../slack/file-response.ts';
import { JOB_KIND } from '../../store/jobs/jobs.ts';
import type { ArchiveContents, ArchiveKind, RecordWork } from './archive-delivery.ts';
import {
  type ArchiveEntry,
  ArchiveTooLarge,
  FILES_TIMEOUT_MS,
  firstWholeDownload,
  MAX_ARCHIVE_BYTES,
} from './archive-file.ts';
import { archiveName, entryName } from './archive-names.ts';

/** The files that the agent made for a turn. */
export function answerFiles({ store, log }: Pick<RelayDeps, 'store' | 'log'>): ArchiveKind {
  async function pack(work: RecordWork, { turn }: { turn: string | undefined }): Promise<ArchiveContents> {
    const { results, isComplete } = await work.agent.allResults(work.taskId, { signal: work.lease.signal });
    const claimed = await store.results.ofThread(work.row);
    const own = results.filter(({ id }) => claimed.get(id)?.turn_id === turn);
    if (own.length === 0) throw goneFiles();
    if (own.reduce((sum, { sizeBytes }) => sum + (sizeBytes ?? 0), 0) > MAX_ARCHIVE_BYTES)
      throw new ArchiveTooLarge();
    const missing: string[] = [];
    const note = () =>
      [
        ...(missing.length === 0 ? [] : [strings.answerFiles.missing(missing)]),
        ...(isComplete ? [] : [strings.resultsIncomplete]),
      ].join(' ');
    const day = new Date().toISOString().slice(0, 10);
    const name = `${archiveName(`files-${day}-${work.row.task_title ?? ''}`)}.zip`;
    return { name, entries: (ends) => entriesOf({ work, results: own, missing }, ends), note };
  }

  /** The files one after the other, each whole on the disk before it is packed; `missing` gets those that cannot be had. */
  async function* entriesOf(
    { work, results, missing }: { work: RecordWork; results: readonly ResultFile[]; missing: string[] },
    ends: AbortSignal,
  ): AsyncGenerator<ArchiveEntry> {
    const names = new Set<string>();
    const signal = anySignal([ends, AbortSignal.timeout(FILES_TIMEOUT_MS)]);
    let failure: unknown;
    for (const result of results) {
      const bytes = (until: AbortSignal) => answerFileBytes(work, result, until);
      const limits = { signal, maxBytes: MAX_ARCHIVE_BYTES };
      await using copy = await firstWholeDownload([bytes, bytes], limits).catch((error: unknown) => {
        if (error instanceof ArchiveTooLarge || ends.aborted) throw error;
        const why = error instanceof ResultWithoutLink ? strings.noLink : strings.answerFiles.notDownloaded;
        missing.push(`${displayedFileName(result.name)} (${why})`);
        failure = error;
        log.warn({ err: error, result: result.id }, 'an archive goes without a file');
        return undefined;
      });
      if (copy !== undefined) yield [entryName(result.name, names), copy.content];
    }
    // A storage that gives no file at all may give them later.
    if (names.size === 0) throw failure;
  }

  return { kind: JOB_KIND.answerFiles, control: 'download_all', words: strings.answerFiles, pack };
}

/** A file that the agent made, until `signal` ends it; keeps its SHA-256 once all bytes have passed. Throws as `resultBytes`. */
export function answerFileBytes(
  work: RecordWork,
  result: ResultFile,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const limits = { maxBytes: MAX_ARCHIVE_BYTES, timeoutMs: FILES_TIMEOUT_MS, signal };
  const bytes = resultBytes(work, result, limits);
  return withDigest(bytes, (sha256) => work.deps.store.results.recordDigest(work.row, result.id, sha256));
}

/** The service no longer has any of them. */
function goneFiles(): AgentNotFoundError {
  return new AgentNotFoundError({ sentence: 'The task has no results of this turn.', outcome: 'refused' });
}
