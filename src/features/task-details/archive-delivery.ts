import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { AgentNotFoundError } from '../../agent/errors.ts';
import { type TaskRefusal, taskUseRefusal } from '../../relay/access/control-permission.ts';
import { filesRefusal } from '../../relay/access/quotas.ts';
import { type ButtonHandlers, type TurnPress, turnOf } from '../../relay/runtime/control-request.ts';
import type { RelayDeps, TaskWork } from '../../relay/runtime/deps.ts';
import type { JobKind, JobOutcome } from '../../relay/runtime/job-runner.ts';
import type { Lease } from '../../relay/runtime/lease.ts';
import { Interruption } from '../../relay/runtime/turn-exceptions.ts';
import { once, postJobNotice, waitUntilCallEnded } from '../../relay/runtime/unknown-outcome.ts';
import { escapeMrkdwn } from '../../render/markdown/pings.ts';
import * as strings from '../../render/strings/index.ts';
import { isPermanentRefusal, MessageGoneError } from '../../slack/errors.ts';
import type { Job, ThreadKey } from '../../store/schema.ts';
import type { TaskRow } from '../../store/tasks/tasks.ts';
import { taskIdOf } from '../../store/threads/turns.ts';
import { openAndFillModal, updateModal } from '../modals.ts';
import { type ArchiveEntries, ArchiveTooLarge, type DiskFile, withArchive } from './archive-file.ts';

/** When an archive is begun (ms): the modal shows first that it was asked for. */
const BEGIN_MS = 1_000;
const MAX_MODALS = 1_000;

/** The file's id is recorded with the job's intent, just before the file is shared. */
const payloadSchema = z.object({
  task: z.string(),
  turn: z.string().optional(),
  file_id: z.string().optional(),
});

/** What collecting an archive runs with. */
export type RecordWork = TaskWork & { readonly row: TaskRow };

/** What an archive holds. */
export interface ArchiveContents {
  name: string;
  entries: ArchiveEntries;
  /** Once it is packed: what it lacks, or ''. */
  note: () => string;
}

/** What one kind of archives packs, with the sentences about it. */
export interface ArchiveKind {
  readonly kind: string;
  /** The action id of its button, for the audit trail. */
  readonly control: string;
  readonly words: Readonly<Record<'begun' | 'uploading' | 'done' | 'gone' | 'tooLarge' | 'failed', string>>;
  /**
   * Collects a task's record, or the files of a turn; `show` tells the person how far that is. Throws ArchiveTooLarge, an
   * AgentError, a SlackError or a StoreError.
   */
  readonly pack: (
    work: RecordWork,
    of: { person: string; turn: string | undefined },
    show: (sentence: string) => Promise<unknown>,
  ) => Promise<ArchiveContents>;
}

/** A thread's task, or of that a turn, and who wants its archive. */
type ArchiveRequest = ThreadKey & { task: string; turn?: string; person: string };

/** Shows a sentence in the modal; false once it is closed. */
type ShowInModal = (sentence: string) => Promise<boolean>;

/** An archive on its way: its task, its job, and the direct conversation that it goes to. */
type Sending = Pick<RecordWork, 'workspace' | 'row' | 'lease'> & { job: Job; dm: string };

export type ArchiveDelivery = ReturnType<typeof archiveDelivery>;

/** Sends people archives of one kind, each as one file in their direct messages. */
export function archiveDelivery(deps: RelayDeps, { kind, control, words, pack }: ArchiveKind) {
  /** The modals from which archives were asked for, by job; another process may have the job. */
  const modals = new LRUCache<string, ShowInModal>({ max: MAX_MODALS });
  const jobs: JobKind = {
    kind,
    // Its share of the disk, too.
    share: 1,
    timeoutMs: 30 * 60_000,
    giveUpAfterMs: 2 * 60 * 60_000,
    perform,
    onGivenUp: (job, lease) => tell(job, words.failed, lease),
  };

  /** Asks for an archive, whose progress `show` tells; returns what the person is told first. Throws a StoreError. */
  async function request(asked: ArchiveRequest, show: ShowInModal): Promise<string> {
    const { task, turn, person, workspace, channel, thread_ts } = asked;
    const found = await visibleTask(asked, task);
    // If Slack does not say, it is asked again before anything is collected, and before it is sent.
    if ('sentence' in found && found.why !== 'unknown') return found.sentence;
    const tooOften = await filesRefusal(deps.store, asked, control);
    if (tooOften !== undefined) return tooOften;
    const job = { workspace, channel, thread_ts, kind, key: `${turn ?? task}/${person}`, person };
    modals.set(modalKey(job), show);
    // Once an archive is sent, a press asks for another one, although the job may not be over yet.
    const isSent = (await deps.store.jobs.get(job))?.intended_at != null;
    const asking = { ...job, payload: { task, turn } };
    await (isSent ? deps.store.jobs.want(asking, BEGIN_MS) : deps.store.jobs.add(asking, BEGIN_MS));
    return words.begun;
  }

  /** The task, which the thread may have replaced since, or why the person may not have it. */
  async function visibleTask(
    asked: ThreadKey & Pick<Job, 'person'>,
    task: string,
  ): Promise<TaskRow | TaskRefusal> {
    const row = await deps.store.tasks.get(asked);
    if (row === undefined || ![row.task_id, ...row.former_task_ids].includes(task))
      return { sentence: strings.tasks.notFound, why: 'other_task' };
    return (await taskUseRefusal(deps, row, { person: asked.person, control })) ?? { ...row, task_id: task };
  }

  async function perform(job: Job, lease: Lease): Promise<JobOutcome> {
    const workspace = deps.workspace(job.workspace);
    if (workspace === undefined) return 'later';
    const { task, file_id } = payloadSchema.parse(job.payload);
    try {
      const dm = await workspace.posting.openDm(job.person, lease);
      if (job.intended_at !== null && file_id !== undefined) {
        await waitUntilCallEnded(workspace, job.intended_at, lease);
        const outcome = await workspace.uploads.shareOutcome(file_id, { channel: dm }, lease);
        if (outcome === 'shared') return 'done';
        await deps.store.jobs.forgetIntent(job);
      }
      const row = await visibleTask(job, task);
      const refusal = 'sentence' in row ? row : await send({ workspace, job, dm, row, lease });
      // A channel that Slack does not show may have another id, of which we are told soon.
      if (refusal?.why === 'unknown' || refusal?.why === 'hidden') return 'later';
      if (refusal !== undefined) await tell(job, refusal.sentence, lease);
    } catch (error) {
      const failure = failureOf(error);
      if (failure === undefined) throw error;
      deps.log.warn({ err: error, task, kind }, 'could not send an archive');
      await tell(job, failure, lease);
    }
    return 'done';
  }

  /** Collects the archive, uploads and shares it, unless the person may no longer see the task. */
  async function send(sending: Sending): Promise<TaskRefusal | undefined> {
    const { job, row, lease } = sending;
    const { turn } = payloadSchema.parse(job.payload);
    const work = { ...sending, deps, agent: deps.agent(row.account_id), taskId: row.task_id };
    const { name, entries, note } = await pack(work, { person: job.person, turn }, (sentence) =>
      show(job, sentence),
    );
    return withArchive(entries, lease.signal, async (archive) => {
      await show(job, words.uploading);
      const refusal = await share(sending, archive, { name, note: note() });
      // The file tells of itself where the modal is closed.
      if (refusal === undefined) await show(job, `${words.done} ${note()}`.trim());
      return refusal;
    });
  }

  /** Shares the archive once, unless the person may no longer see the task. */
  async function share(
    { workspace: { uploads }, job, dm, row, lease }: Sending,
    archive: DiskFile,
    { name, note }: { name: string; note: string },
  ): Promise<TaskRefusal | undefined> {
    const { jobs } = deps.store;
    // Nobody sees the bytes before the file is shared, so its id is recorded then.
    const { fileId } = await uploads.stage({ name, ...archive, guard: lease });
    const now = await visibleTask(job, row.task_id);
    if ('sentence' in now) return now;
    if (!(await jobs.intend(job, { file_id: fileId }))) throw new Interruption('taken_over');
    const comment = note === '' ? undefined : escapeMrkdwn(note);
    const request = { channel: dm, files: [{ id: fileId, title: name }], comment, guard: lease };
    await once({ act: () => uploads.share(request), ifNoEffect: () => jobs.forgetIntent(job) }, lease);
    return undefined;
  }

  async function show(job: Job, sentence: string): Promise<boolean> {
    const key = modalKey(job);
    const inModal = modals.get(key);
    const isOpen = (await inModal?.(sentence).catch(() => false)) === true;
    // Meanwhile another press may have opened another modal.
    if (!isOpen && modals.get(key) === inModal) modals.delete(key);
    return isOpen;
  }

  /** Shows a failure in the modal, or by direct message where that is closed. */
  async function tell(job: Job, sentence: string, lease: Lease): Promise<void> {
    if (await show(job, sentence)) return;
    const key = `${kind}/${job.created_at.getTime()}/${job.thread_ts}`;
    await postJobNotice(deps, job, lease, { key, text: sentence, person: job.person });
  }

  function failureOf(error: unknown): string | undefined {
    if (error instanceof ArchiveTooLarge) return words.tooLarge;
    // Admins may allow no such file, or no direct message.
    if (isPermanentRefusal(error)) return words.failed;
    if (error instanceof MessageGoneError) return strings.tasks.notFound;
    return error instanceof AgentNotFoundError ? words.gone : undefined;
  }

  return { jobs, request };
}

/** Handles the presses below an answer that send the files of its turn, or the record of its task. */
export function archiveButtons(
  deps: RelayDeps,
  { files, records }: { files: ArchiveDelivery; records: ArchiveDelivery },
): ButtonHandlers<'download_all' | 'save_record'> {
  const asking = (title: string, delivery: ArchiveDelivery) => (press: TurnPress) =>
    openAndFillModal(deps, press, title, async (workspace, viewId) => {
      const turn = await turnOf(deps.store, press);
      const thread = turn && (await deps.store.threads.get(turn));
      const task = thread && taskIdOf(turn, thread);
      if (turn === undefined || !task) return strings.tasks.notFound;
      const { channel, thread_ts, id } = turn;
      const asked = { workspace: workspace.id, channel, thread_ts, task, person: press.person };
      const show = (sentence: string) => updateModal(workspace, viewId, title, sentence);
      return delivery.request(delivery === files ? { ...asked, turn: id } : asked, show);
    });
  return {
    download_all: asking(strings.buttons.download_all.label, files),
    save_record: asking(strings.buttons.save_record.label, records),
  };
}

function modalKey({ workspace, channel, thread_ts, key }: ThreadKey & Pick<Job, 'key'>): string {
  return [workspace, channel, thread_ts, key].join('/');
}
