import { sourcesOf } from '../../render/messages/sources.ts';
import {
  type CrateContent,
  crateMetadata,
  ENTRY_FOLDER,
  METADATA_NAME,
  PAGE_NAME,
} from '../../render/record/crate-metadata.ts';
import {
  PAGE_END,
  pageStart,
  reviewsHtml,
  stepsHtml,
  taskFacts,
  turnHtml,
} from '../../render/record/record-page.ts';
import * as strings from '../../render/strings/index.ts';
import { JOB_KIND } from '../../store/jobs/jobs.ts';
import type { ArchiveContents, ArchiveKind, RecordWork } from './archive-delivery.ts';
import { type ArchiveEntry, openDiskFile } from './archive-file.ts';
import { archiveName, plainEntryName, toAscii } from './archive-names.ts';
import { readReviews, readTask, readTurns } from './record-contents.ts';
import { filePacker } from './record-files.ts';

const PROGRESS_INTERVAL_MS = 4_000;
/** Most characters of a notebook's entry: a field of its database, and here the metadata are whole in memory. */
const MAX_TEXT_CHARACTERS = 500_000;

/** The record of a task, as an `.eln` file: https://github.com/TheELNConsortium/TheELNFileFormat */
export const taskRecord: ArchiveKind = {
  kind: JOB_KIND.taskRecord,
  control: 'task_record',
  words: strings.taskRecord,
  pack: packRecord,
};

async function packRecord(
  work: RecordWork,
  { person }: { person: string },
  show: (sentence: string) => Promise<unknown>,
): Promise<ArchiveContents> {
  const task = await readTask(work, person);
  const day = task.savedAt.toISOString().slice(0, 10);
  const name = archiveName(`task-record-${day}-${toAscii(task.title)}`);
  const folder = `${name}/${ENTRY_FOLDER}/`;
  const names = new Set([PAGE_NAME]);
  const { maxRecordBytes } = work.deps.settings;
  const packer = filePacker(work, maxRecordBytes, (file) => plainEntryName(file, names));

  /** The files turn by turn, then the page, which is on the disk until then, and last what holds the page's sum. */
  async function* entries(ends: AbortSignal): AsyncGenerator<ArchiveEntry> {
    const known = { task, turns: [], sources: new Map<string, string>(), leftOut: 0 };
    const crate: Omit<CrateContent, 'page'> = { ...known, text: taskFacts(task) };
    await using page = await openDiskFile();
    const write = async (pieces: Iterable<string>) => {
      const part: string[] = [];
      await page.append(inSlices(work, pieces, part));
      crate.text = withPart(crate.text, part.join(''));
    };
    await page.append([pageStart(task)]);
    let shownAt = Date.now();
    for await (const turn of readTurns(work)) {
      ends.throwIfAborted();
      if (turn === undefined) {
        crate.leftOut += 1;
        continue;
      }
      const filesIn = yield* packer.pack(turn.filesIn, ends, folder);
      const filesOut = yield* packer.pack(turn.filesOut, ends, folder);
      const { answer, ...asked } = { ...turn, filesIn, filesOut };
      await write(turnHtml({ answer, ...asked }));
      await page.append(inSlices(work, stepsHtml(turn)));
      crate.turns.push(asked);
      if (typeof answer === 'object')
        for (const { url, label } of sourcesOf(answer)) crate.sources.set(url, label);
      if (Date.now() - shownAt < PROGRESS_INTERVAL_MS) continue;
      shownAt = Date.now();
      await show(strings.taskRecord.progress(turn.number));
    }
    await write(reviewsHtml(await readReviews(work), crate.leftOut));
    await page.append([PAGE_END]);
    yield [folder + PAGE_NAME, page.content];
    const { sizeBytes, sha256 } = page;
    yield [`${name}/${METADATA_NAME}`, [crateMetadata({ ...crate, page: { sizeBytes, sha256 } })]];
  }

  const note = () => {
    const { length } = packer.missing();
    return length === 0 ? '' : strings.taskRecord.missing(length);
  };
  return { name: `${name}.eln`, entries, note };
}

/** Each piece is one slice of a share that is not that of replies; `part` gets it, too. */
async function* inSlices(
  { deps, workspace, lease }: RecordWork,
  pieces: Iterable<string>,
  part: string[] = [],
): AsyncGenerator<string> {
  const iterator = pieces[Symbol.iterator]();
  for (;;) {
    const share = `${workspace.id}/record`;
    const { value, done } = await deps.rendering.run(share, () => iterator.next(), lease.signal);
    if (done === true) return;
    part.push(value);
    yield value;
  }
}

/** A notebook's text with one more part; with a remark instead of what has no room, and nothing after it. */
export function withPart(text: string, part: string): string {
  const goesOn = `<p>${strings.recordNotes.goesOn}</p>\n`;
  if (text.endsWith(goesOn)) return text;
  return text + (text.length + part.length > MAX_TEXT_CHARACTERS ? goesOn : part);
}
