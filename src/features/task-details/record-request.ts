import type { RelayDeps } from '../../relay/runtime/deps.ts';
import { sourcesOf } from '../../render/messages/sources.ts';
import {
  type CrateContent,
  crateMetadata,
  METADATA_NAME,
  PAGE_NAME,
} from '../../render/record/crate-metadata.ts';
import { pageEnd, pageStart, turnHtml } from '../../render/record/record-page.ts';
import * as strings from '../../render/strings/index.ts';
import { JOB_KIND } from '../../store/jobs/jobs.ts';
import type { ArchiveContents, ArchiveKind } from './archive-delivery.ts';
import { type RecordWork, readReviews, readTask, readTurns } from './record-contents.ts';

const PROGRESS_INTERVAL_MS = 4_000;

type Show = Parameters<ArchiveKind['pack']>[2];

/** The record of a task. */
export function taskRecord({ rendering }: Pick<RelayDeps, 'rendering'>): ArchiveKind {
  async function pack(
    work: RecordWork,
    { person }: { person: string },
    show: Show,
  ): Promise<ArchiveContents> {
    const crate = {
      task: await readTask(work, person),
      turns: [],
      sources: new Set<string>(),
      leftOut: 0,
    };
    const day = new Date().toISOString().slice(0, 10);
    const entries = [
      [PAGE_NAME, page(work, crate, show)] as const,
      [METADATA_NAME, metadataOf(crate)] as const,
    ];
    return { name: `task-record-${day}-${crate.task.title}`, entries, note: () => '' };
  }

  /** The page, turn by turn; `crate` gets what the metadata hold. */
  async function* page(work: RecordWork, crate: CrateContent, show: Show): AsyncGenerator<string> {
    yield pageStart(crate.task);
    let shownAt = Date.now();
    for await (const turn of readTurns(work)) {
      work.lease.signal.throwIfAborted();
      if (turn === undefined) {
        crate.leftOut += 1;
        continue;
      }
      yield* inSlices(work, turnHtml(turn));
      const { answer, ...asked } = turn;
      crate.turns.push(asked);
      if (typeof answer === 'object') for (const { url } of sourcesOf(answer)) crate.sources.add(url);
      if (Date.now() - shownAt < PROGRESS_INTERVAL_MS) continue;
      shownAt = Date.now();
      await show(strings.taskRecord.progress(turn.number));
    }
    yield* inSlices(work, pageEnd(await readReviews(work), crate.leftOut));
  }

  /** Each piece is one slice of a share that is not that of replies. */
  async function* inSlices(
    { workspace, lease }: RecordWork,
    pieces: Generator<string>,
  ): AsyncGenerator<string> {
    for (;;) {
      const share = `${workspace.id}/record`;
      const { value, done } = await rendering.run(share, () => pieces.next(), lease.signal);
      if (done === true) return;
      yield value;
    }
  }

  return { kind: JOB_KIND.taskRecord, control: 'task_record', words: strings.taskRecord, pack };
}

/** Read once the page is written. */
function* metadataOf(crate: CrateContent): Generator<string> {
  yield crateMetadata(crate);
}
