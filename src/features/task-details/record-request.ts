import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { AgentNotFoundError } from '../../agent/errors.ts';
import { type TaskRefusal, taskUseRefusal } from '../../relay/access/control-permission.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import type { JobKind, JobOutcome } from '../../relay/runtime/job-runner.ts';
import type { Lease } from '../../relay/runtime/lease.ts';
import { Interruption } from '../../relay/runtime/turn-exceptions.ts';
import { postJobNotice, waitUntilCallEnded } from '../../relay/runtime/unknown-outcome.ts';
import { sourcesOf } from '../../render/messages/sources.ts';
import {
  type CrateContent,
  crateMetadata,
  METADATA_NAME,
  PAGE_NAME,
} from '../../render/record/crate-metadata.ts';
import { pageEnd, pageStart, turnHtml } from '../../render/record/record-page.ts';
import * as strings from '../../render/strings/index.ts';
import { MessageGoneError, SlackError } from '../../slack/errors.ts';
import { FileNotShownError } from '../../slack/file-uploads.ts';
import { JOB_KIND } from '../../store/jobs/jobs.ts';
import type { Job, ThreadKey } from '../../store/schema.ts';
import type { TaskRow } from '../../store/tasks/tasks.ts';
import {
  type Archive,
  ArchiveTooLarge,
  type RecordWork,
  readReviews,
  readTask,
  readTurns,
  withArchive,
} from './record-contents.ts';

/** When a record is begun (ms): the modal shows first that it was asked for. */
const BEGIN_MS = 1_000;
const MAX_MODALS = 1_000;
/** How often the modal shows how far a record is (ms). */
const PROGRESS_INTERVAL_MS = 4_000;
/** Most characters of an archive's name. File systems take 255 bytes. */
const MAX_NAME_CHARACTERS = 60;

/** The file's id is recorded with the job's intent, just before the file is shared. */
const payloadSchema = z.object({ task: z.string(), file_id: z.string().optional() });

/** Shows a sentence in the modal; false once it is closed. */
type ShowInModal = (sentence: string) => Promise<boolean>;

/** A record on its way: its task, its job, and the direct conversation that it goes to. */
type Sending = Pick<RecordWork, 'workspace' | 'row' | 'lease'> & { job: Job; dm: string };

/** Sends people the record of a task as one ZIP archive, in their direct messages. */
export function taskRecords(deps: RelayDeps) {
  /** The modals from which records were asked for, by person and thread; another process may have the job. */
  const modals = new LRUCache<string, ShowInModal>({ max: MAX_MODALS });
  const jobs: JobKind = {
    kind: JOB_KIND.taskRecord,
    // Its share of the disk, too.
    share: 1,
    timeoutMs: 30 * 60_000,
    giveUpAfterMs: 2 * 60 * 60_000,
    perform,
    onGivenUp: (job, lease) => tell(job, strings.taskRecord.failed, lease),
  };

  /** Asks for the record of a thread's task with this id, and shows how far it is. Throws a StoreError. */
  async function save(
    { task, person, ...thread }: ThreadKey & { task: string; person: string },
    show: ShowInModal,
  ): Promise<void> {
    const found = await visibleTask({ ...thread, person }, task);
    // If Slack does not say, it is asked again before anything is collected, and before it is sent.
    if ('sentence' in found && found.why !== 'unknown') return void (await show(found.sentence));
    const job = { ...thread, kind: JOB_KIND.taskRecord, key: person, person };
    modals.set(modalKey(job), show);
    await deps.store.jobs.add({ ...job, payload: { task } }, BEGIN_MS);
    await show(strings.taskRecord.begun);
  }

  /** The task, or why the person may not have it. */
  async function visibleTask(
    asked: ThreadKey & Pick<Job, 'person'>,
    task: string,
  ): Promise<TaskRow | TaskRefusal> {
    const row = await deps.store.tasks.get(asked);
    if (row?.task_id !== task) return { sentence: strings.tasks.notFound, why: 'other_task' };
    const use = { person: asked.person, control: 'task_record' };
    return (await taskUseRefusal(deps, row, use)) ?? row;
  }

  async function perform(job: Job, lease: Lease): Promise<JobOutcome> {
    const workspace = deps.workspace(job.workspace);
    if (workspace === undefined) return 'later';
    const { task, file_id } = payloadSchema.parse(job.payload);
    const dm = await workspace.posting.openDm(job.person, lease);
    if (job.intended_at !== null && file_id !== undefined) {
      await waitUntilCallEnded(job.intended_at, lease);
      if ((await workspace.uploads.shareOutcome(file_id, { channel: dm }, lease)) === 'shared') return 'done';
      await deps.store.jobs.forgetIntent(job);
    }
    let failure: string | undefined;
    try {
      const row = await visibleTask(job, task);
      const refusal = 'sentence' in row ? row : await send({ workspace, job, dm, row, lease });
      // A channel that Slack does not show may have another id, of which we are told soon.
      if (refusal?.why === 'unknown' || refusal?.why === 'hidden') return 'later';
      failure = refusal?.sentence;
    } catch (error) {
      failure = failureOf(error);
      if (failure === undefined) throw error;
      deps.log.warn({ err: error, task }, 'could not save the record of a task');
    }
    await tell(job, failure, lease);
    return 'done';
  }

  /** Collects the record, uploads and shares it, unless the person may no longer see the task. */
  async function send(sending: Sending): Promise<TaskRefusal | undefined> {
    const { job, row, lease } = sending;
    const work = {
      ...sending,
      deps,
      agent: deps.agent(row.account_id),
      taskId: row.task_id,
    };
    const crate = {
      task: await readTask(work, job.person),
      turns: [],
      sources: new Set<string>(),
      leftOut: 0,
    };
    const texts = { [PAGE_NAME]: page(job, work, crate), [METADATA_NAME]: metadataOf(crate) };
    return withArchive(texts, lease.signal, async (archive) => {
      await show(job, strings.taskRecord.uploading);
      return share(sending, archive, archiveName(crate.task.title));
    });
  }

  /** The page, turn by turn; `crate` gets what the metadata hold. */
  async function* page(job: Job, work: RecordWork, crate: CrateContent): AsyncGenerator<string> {
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
      await show(job, strings.taskRecord.progress(turn.number));
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
      const { value, done } = await deps.rendering.run(share, () => pieces.next(), lease.signal);
      if (done === true) return;
      yield value;
    }
  }

  /** Shares the archive once, unless the person may no longer see the task. */
  async function share(
    { workspace: { uploads }, job, dm, row, lease }: Sending,
    archive: Archive,
    name: string,
  ): Promise<TaskRefusal | undefined> {
    const { jobs } = deps.store;
    // Nobody sees the bytes before the file is shared, so its id is recorded then.
    const { fileId } = await uploads.stage({ name, ...archive, guard: lease });
    const now = await visibleTask(job, row.task_id);
    if ('sentence' in now) return now;
    if (!(await jobs.intend(job, { file_id: fileId }))) throw new Interruption('taken_over');
    try {
      await uploads.share({ channel: dm, files: [{ id: fileId, title: name }], guard: lease });
    } catch (error) {
      if (error instanceof SlackError && error.outcome === 'none') await jobs.forgetIntent(job);
      throw error;
    }
    return undefined;
  }

  /** Shows a sentence in the modal; false once that is closed. */
  async function show(job: Job, sentence: string): Promise<boolean> {
    const inModal = modals.get(modalKey(job));
    const isOpen = (await inModal?.(sentence).catch(() => false)) === true;
    if (!isOpen) modals.delete(modalKey(job));
    return isOpen;
  }

  /** Shows the end in the modal. A failure is told by direct message where that is closed; the file tells of itself. */
  async function tell(job: Job, failure: string | undefined, lease: Lease): Promise<void> {
    const isSeen = await show(job, failure ?? strings.taskRecord.done);
    modals.delete(modalKey(job));
    if (isSeen || failure === undefined) return;
    const key = `record/${job.created_at.getTime()}/${job.thread_ts}`;
    await postJobNotice(deps, job, lease, { key, text: failure, person: job.person });
  }

  return { jobs, save };
}

/** Read once the page is written. */
function* metadataOf(crate: CrateContent): Generator<string> {
  yield crateMetadata(crate);
}

/** Its words, so that the archives of one day differ: letters and digits, as every file system takes them. */
function archiveName(title: string): string {
  const words = title.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const name = Array.from(['task-record', new Date().toISOString().slice(0, 10), ...words].join('-'));
  return `${name.slice(0, MAX_NAME_CHARACTERS).join('').replace(/-$/, '')}.zip`;
}

function modalKey({ workspace, channel, thread_ts, person }: ThreadKey & Pick<Job, 'person'>): string {
  return [workspace, channel, thread_ts, person].join('/');
}

/** A sentence about what does not pass; undefined for what may. */
function failureOf(error: unknown): string | undefined {
  if (error instanceof ArchiveTooLarge) return strings.taskRecord.tooLarge;
  if (error instanceof FileNotShownError) return strings.taskRecord.failed;
  if (error instanceof MessageGoneError) return strings.tasks.notFound;
  return error instanceof AgentNotFoundError ? strings.taskRecord.gone : undefined;
}
