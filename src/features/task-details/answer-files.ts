import { AgentNotFoundError } from '../../agent/errors.ts';
import { displayedFileName } from '../../render/messages/result-list.ts';
import * as strings from '../../render/strings/index.ts';
import { isPostedBy } from '../../store/files/posted-results.ts';
import { JOB_KIND } from '../../store/jobs/jobs.ts';
import type { ArchiveContents, ArchiveKind, RecordWork } from './archive-delivery.ts';
import { type ArchiveEntry, MAX_ARCHIVE_BYTES } from './archive-file.ts';
import { archiveName, entryName } from './archive-names.ts';
import { filePacker, readResults } from './record-files.ts';

/** Most bytes of an archive's files: those that do not shrink become a little longer in it. */
const MAX_FILES_BYTES = 0.99 * MAX_ARCHIVE_BYTES;

/** The files that the agent made for a turn. */
export const answerFiles: ArchiveKind = {
  kind: JOB_KIND.answerFiles,
  control: 'download_all',
  words: strings.answerFiles,
  pack: packAnswerFiles,
};

async function packAnswerFiles(
  work: RecordWork,
  { turn }: { turn: string | undefined },
): Promise<ArchiveContents> {
  const { claimed, results, isComplete } = await readResults(work);
  const files = results.filter(({ id }) => isPostedBy(turn ?? '', claimed.get(id)));
  // The service no longer has any of them.
  if (files.length === 0)
    throw new AgentNotFoundError({ sentence: 'The task has no results of this turn.', outcome: 'refused' });
  const names = new Set<string>();
  const packer = filePacker(work, MAX_FILES_BYTES, (name) => entryName(name, names));
  const note = () => {
    const missing = packer.missing().map(({ name, why }) => `${displayedFileName(name)} (${why})`);
    const sentences = missing.length === 0 ? [] : [strings.answerFiles.missing(missing)];
    return [...sentences, ...(isComplete ? [] : [strings.resultsIncomplete])].join(' ');
  };
  async function* entries(ends: AbortSignal): AsyncGenerator<ArchiveEntry> {
    yield* packer.pack(files, ends);
    // A storage that gives no file at all may give them later.
    if (names.size === 0) throw packer.failure();
  }
  const day = new Date().toISOString().slice(0, 10);
  return { name: `${archiveName(`files-${day}-${work.row.task_title ?? ''}`)}.zip`, entries, note };
}
