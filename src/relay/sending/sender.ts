import { AgentNotFoundError, isBusy } from '../../agent/errors.ts';
import { noteWithButtons } from '../../render/messages/button-notes.ts';
import * as strings from '../../render/strings/index.ts';
import type { FileNote, Thread, Turn } from '../../store/schema.ts';
import type { WholeMessage } from '../../store/threads/messages.ts';
import type { TaskIntent } from '../../store/threads/threads.ts';
import { isAtService, isFrozen, isSendInDoubt, mayBeAtService } from '../../store/threads/turn-phase.ts';
import type { Settings } from '../../store/workspaces/settings-store.ts';
import { closingAt } from '../access/access-policy.ts';
import { AccountGone } from '../installations/service-accounts.ts';
import type { ThreadWork } from '../runtime/deps.ts';
import { trySendEphemeral } from '../runtime/private-notices.ts';
import { FailingTime, withRetry } from '../runtime/retry-and-giving-up.ts';
import { Interruption, isInterruption, TurnEnded } from '../runtime/turn-exceptions.ts';
import type { TurnRow } from '../runtime/turn-row.ts';
import type { FilePatience } from './allowed-files.ts';
import { type Attachments, type UploadProgressListener, uploadAttachments } from './attachments.ts';
import { ensureProject, forgetMissingProject } from './channel-project.ts';
import { type Delivery, deliverOnce, lastMessageId, refusalOf, settleSends } from './delivery.ts';
import { messageOfTurn, type OutgoingMessage, readOutgoingMessage, withRest } from './outgoing-message.ts';
import { resendChain } from './resent-message.ts';
import { recordSentContent } from './sent-content.ts';
import { ensureCurrentAccount, ensureThreadTask, hasFrozenMessage, newTaskOptions } from './thread-task.ts';

/** A turn whose message is sent, and what its thread shows meanwhile. */
export interface SendingTurn extends ThreadWork {
  readonly row: TurnRow;
  readonly state?: {
    update(shown: { phase: 'uploading' | 'working'; sentence: undefined }): void;
    setUploadProgress: UploadProgressListener;
    setFileNotes(notes: readonly FileNote[]): void;
  };
  /** Aborted if the message must not be sent. Its reason is thrown. */
  readonly stopSignal: AbortSignal;
  withRetry<T>(step: () => Promise<T>): Promise<T>;
}

/** What is known of a turn when its sending begins in this process. */
interface KnownAtStart {
  /** The thread as it was when the turn began, if it began in this process. */
  thread?: Thread | undefined;
  /** The message as it was then; undefined if it must be read. */
  message?: WholeMessage | undefined;
  /** The channel's settings that shape a new task. */
  channelSettings: Pick<Settings, 'model' | 'instructions'>;
}

/** Sends one turn's message to the service in recorded steps: project, task, files, message. */
export class Sender {
  readonly #work: SendingTurn;
  readonly #known: KnownAtStart;
  /** The thread and the message as they were last read. After an error they are read again, because a wait follows. */
  #thread: Thread | undefined;
  #message: WholeMessage | undefined;
  #outgoing: OutgoingMessage | undefined;
  /**
   * The row and the service may know more than this process: an attempt has failed, an earlier process froze
   * the message, or the message repeats another whose send is in doubt. Freezing the message here resets this.
   */
  #isStale: boolean;
  /** The task that this process has started, until it is recorded. */
  #startedTaskId: string | null = null;
  /** What the thread has left in this process: each once, so that a contradictory service causes no loop. */
  readonly #left = new Set<'task' | 'project'>();
  readonly #failingFiles = new Map<string, FilePatience>();
  #busyAtRest = new FailingTime();

  constructor(work: SendingTurn, known: KnownAtStart) {
    this.#work = work;
    this.#known = known;
    this.#thread = known.thread;
    this.#message = known.message;
    this.#isStale = work.row.turn.attempts > 0 || isFrozen(work.row.turn);
  }

  get #turn(): Turn {
    return this.#work.row.turn;
  }

  /** Takes the remaining steps; returns the thread with its task. Throws TurnEnded or Interruption instead. */
  async send(): Promise<Thread> {
    // The first frozen message fixes a task's options. A task without a frozen message may be this turn's own.
    const hasFixedOptions = async (thread: Thread) => thread.task_id !== null && hasFrozenMessage(thread);
    const hadFixedOptions = await this.#takeStep(hasFixedOptions);
    return this.#withProject(async (projectId) => {
      const taskId = await this.#takeStep((thread) => this.#ensureTask(thread, projectId));
      const frozen = isFrozen(this.#turn) ? undefined : await this.#freeze(taskId);
      if (frozen !== undefined && hadFixedOptions) this.#notifyFixedOptions(frozen);
      await this.#recordTask();
      this.#work.state?.update({ phase: 'working', sentence: undefined });
      await this.#work.withRetry(() => this.#tryToDeliver(taskId));
      return this.#threadUnderAccount();
    });
  }

  /** Uploads files that were shared without text, and records them for the thread's next message. */
  async keepFiles(): Promise<readonly FileNote[]> {
    const read = () => this.#takeStep((thread) => this.#readOutgoing(thread));
    const { attached_file_ids, notes } = await this.#withProject(async () => this.#uploadFiles(await read()));
    await this.#work.row.record({ attached_file_ids, file_notes: notes });
    return notes;
  }

  /** Takes steps that need the thread's project, and takes them again if the thread leaves its project or task meanwhile. */
  async #withProject<T>(steps: (projectId: string) => Promise<T>): Promise<T> {
    for (;;) {
      const projectId = await this.#takeStep((thread) => ensureProject(this.#work, thread, this.#turn));
      try {
        return await steps(projectId);
      } catch (error) {
        // The thread may have changed before the error, and changes again by what it leaves.
        this.#forgetRows();
        const startsOver = isInterruption(error, 'send_again') || (await this.#leaveLost(error));
        if (!startsOver) throw error;
        this.#forgetRows();
        this.#outgoing = undefined; // The files may have been lost with the project.
      }
    }
  }

  /** Takes a step with retries under the current account. Throws TurnEnded for what must not be sent. */
  async #takeStep<T>(step: (thread: Thread) => Promise<T>): Promise<T> {
    return this.#work.withRetry(async () => {
      if (!mayBeAtService(this.#turn)) await this.#throwIfUnwanted();
      try {
        return await step(await this.#threadUnderAccount());
      } catch (error) {
        this.#isStale = true;
        this.#forgetRows();
        // A wait may follow, in which this process may end: the next one must find the task.
        await this.#recordTask();
        throw error;
      }
    });
  }

  /** Throws if the turn was stopped, or its place or project was closed to it while it waited. */
  async #throwIfUnwanted(): Promise<void> {
    this.#work.stopSignal.throwIfAborted();
    // Without a wait since the message was chosen, what was checked then still holds.
    if (!this.#isStale) return;
    const closing = await closingAt(this.#work.deps, this.#turn, this.#work.lease.signal);
    if (closing !== undefined) throw new TurnEnded('refused', strings.closedPlaces[closing]);
    const thread = await this.#threadUnderAccount();
    // Throws if the project may not be used here any more.
    if (thread.project_id !== null) await ensureProject(this.#work, thread, this.#turn);
  }

  /** Has the thread and the message read again before their next use. */
  #forgetRows(): void {
    this.#thread = undefined;
    this.#message = undefined;
  }

  /** Records the task that this process has started, if no other statement has recorded it. */
  async #recordTask(): Promise<void> {
    if (this.#startedTaskId === null) return;
    await this.#work.deps.store.threads.bindTask(this.#turn, this.#startedTaskId);
    this.#startedTaskId = null;
  }

  /** Reads the message as the agent is to get it. What an earlier read has composed is used again while it still holds. */
  async #readOutgoing(thread: Thread): Promise<OutgoingMessage> {
    this.#message ??= await messageOfTurn(this.#work, this.#turn);
    if (this.#message.is_partial) this.#message = await withRest(this.#work, this.#message);
    const { stopSignal } = this.#work;
    this.#outgoing = await readOutgoingMessage(this.#work, thread, this.#message, stopSignal, this.#outgoing);
    return this.#outgoing;
  }

  /** Uploads a message's files and freezes it. If it changes before that, uploads its new files first. */
  async #freeze(taskId: string): Promise<OutgoingMessage> {
    let uploaded: (Pick<OutgoingMessage, 'items'> & { attachments: Attachments }) | undefined;
    for (;;) {
      const outgoing = await this.#takeStep((thread) => this.#readOutgoing(thread));
      // Composed anew, it may have other files.
      if (uploaded?.items !== outgoing.items) {
        uploaded = { items: outgoing.items, attachments: await this.#uploadFiles(outgoing) };
        // The message is read again: the upload may have taken long.
        continue;
      }
      const { attachments } = uploaded;
      const outcome = await this.#takeStep(async (thread) => {
        const startedTaskId = this.#startedTaskId;
        const readLastId = () => lastMessageId(this.#work.deps.agent(thread.account_id), taskId);
        // A task started just now has no message. If the service does not answer now, the delivery asks again.
        const last = startedTaskId === null ? await readLastId().catch(() => undefined) : '';
        const hasInstructions = this.#known.channelSettings.instructions !== null;
        const toSend = { outgoing, attachments, lastMessageId: last, taskId, startedTaskId, hasInstructions };
        return recordSentContent(this.#work, thread, toSend);
      });
      if (outcome === 'frozen') {
        this.#isStale = false;
        this.#startedTaskId = null;
        this.#outgoing = undefined; // It is not needed again, and its tables may be large.
        return outgoing;
      }
      this.#forgetRows();
    }
  }

  /** The thread's task, started if need be. Throws an Interruption if the thread has another project now. */
  async #ensureTask(thread: Thread, projectId: string): Promise<string> {
    if (thread.task_id !== null) return thread.task_id;
    if (thread.project_id !== null && thread.project_id !== projectId) throw new Interruption('send_again');
    // The message that the turn began with may have been edited or deleted since.
    if (this.#message === this.#known.message) this.#message = undefined;
    const options = newTaskOptions(await this.#readOutgoing(thread), this.#known.channelSettings.model);
    // Retried apart from the start: a record whose answer was lost must not count as a start in doubt.
    const retrying = { about: { turn: this.#turn.id }, wake: this.#work.stopSignal };
    const record = (intent: TaskIntent) =>
      withRetry(this.#work, () => this.#work.row.record({}, intent), retrying);
    const { taskId, isRecorded } = await ensureThreadTask(this.#work, thread, projectId, options, record);
    if (!isRecorded) this.#startedTaskId = taskId;
    // An adopted task was started with the model of its recorded intent.
    const model = isRecorded ? thread.task_model : (options.model ?? null);
    const task = { project_id: projectId, task_id: taskId, task_model: model, task_intended_at: null };
    this.#thread = { ...thread, ...task };
    return taskId;
  }

  /** Tells an asker who chose options for a started task that these are fixed, and offers a new thread for them. */
  #notifyFixedOptions({ message, choices }: OutgoingMessage): void {
    const { skill: _, ...fixed } = choices;
    const { resends_turn_id, revises_turn_id, content } = message;
    // **Try again** repeats what was chosen, and the form that asks again keeps the choices of a started task.
    const isChosenAgain = revises_turn_id !== null && content?.choices !== undefined;
    if (resends_turn_id !== null || isChosenAgain || Object.keys(fixed).length === 0) return;
    const { workspace, channel, thread_ts: threadTs, asked_by: person, id } = this.#turn;
    const note = noteWithButtons(strings.optionsFixed, ['new_thread'], id);
    trySendEphemeral(this.#work.deps, { workspace, channel, person, threadTs }, note);
  }

  /** Uploads the message's files, and records and shows what became of them. */
  async #uploadFiles(outgoing: OutgoingMessage): Promise<Attachments> {
    const { items, notes, resent } = outgoing;
    const none: Attachments = { attached_file_ids: [], notes: [], uploadedBytes: 0 };
    // A resent message goes with the files that are at the service already.
    if (resent !== undefined) return none;
    // The turn's own notes are of an earlier upload: if an edit has taken their files away, they must go.
    if ([items, notes, this.#turn.file_notes ?? []].every((list) => list.length === 0)) return none;
    const uploaded = items.length === 0 ? none : await this.#upload(outgoing);
    const attachments = { ...uploaded, notes: [...uploaded.notes, ...notes] };
    this.#work.state?.setFileNotes(attachments.notes);
    await this.#work.row.record({ file_notes: attachments.notes, uploaded_bytes: attachments.uploadedBytes });
    return attachments;
  }

  async #upload({ items, keptNames }: OutgoingMessage): Promise<Attachments> {
    await this.#recordTask(); // Before the long wait for the files.
    this.#work.state?.update({ phase: 'uploading', sentence: undefined });
    const onProgress: UploadProgressListener = (files) => this.#work.state?.setUploadProgress(files);
    return this.#takeStep(async (thread) => {
      // From its first file on, the thread keeps a project: that of its channel now, which may have changed.
      const channelProject = () => ensureProject(this.#work, thread, this.#turn);
      const bind = async () => this.#work.deps.store.threads.bindProject(thread, await channelProject());
      const projectId = thread.project_id ?? (await bind());
      const files = { items, keptNames, failing: this.#failingFiles, onProgress };
      return uploadAttachments({ ...this.#work, thread, turn: this.#turn, projectId, ...files });
    });
  }

  /** Delivers the message, unless it is sent. After a wait, first reads what became of the turn. */
  async #tryToDeliver(taskId: string): Promise<void> {
    const { row, deps, stopSignal } = this.#work;
    if (this.#isStale) await row.read();
    // A transaction whose answer was lost may have let the thread leave its task: then the message is frozen no more.
    if (!isFrozen(this.#turn)) throw new Interruption('send_again');
    // An earlier attempt may have recorded the send although the commit's answer was lost.
    if (isAtService(this.#turn)) return;
    const task = { ...this.#work, agent: deps.agent((await this.#threadUnderAccount()).account_id), taskId };
    try {
      if ((await this.#settleEarlierSends(task)) === 'unsent') await deliverOnce(task, stopSignal);
    } catch (thrown) {
      this.#isStale = true;
      // `refusalOf` may ask the service. If that fails, that error is thrown in place of `thrown`.
      const mayLeave = this.#message?.resends_turn_id != null && !this.#left.has('task');
      const error = await refusalOf(thrown, task, { busyAtRest: this.#busyAtRest, mayLeave });
      const isTaskClosed = error instanceof TurnEnded && error.more.isTaskClosed === true;
      if (isTaskClosed || !isBusy(thrown)) this.#busyAtRest = new FailingTime(); // An outage does not count.
      if (isTaskClosed && (await this.#leaveTask(taskId))) throw new Interruption('send_again');
      throw error;
    }
  }

  /** Settles the sends in doubt, of the turn and of those that it repeats. Returns whether the turn's message is sent. */
  async #settleEarlierSends(task: Delivery): Promise<'sent' | 'unsent'> {
    this.#message ??= await messageOfTurn(this.#work, this.#turn);
    const resent = (await resendChain(this.#work.deps.store, this.#message)).filter(isSendInDoubt);
    this.#isStale ||= resent.length > 0;
    if (!this.#isStale) return 'unsent';
    await settleSends(task, resent);
    if (isAtService(this.#turn)) return 'sent';
    await this.#throwIfUnsentIsUnwanted();
    return 'unsent';
  }

  /** Throws if a frozen, surely unsent message is not to go as it is: after a stop, an edit or a deletion. */
  async #throwIfUnsentIsUnwanted(): Promise<void> {
    await this.#throwIfUnwanted();
    if (this.#turn.stop_requested_at !== null) throw new TurnEnded('cancelled', null);
    const { messages, pendingEdits } = this.#work.deps.store;
    const changes = (await messages.ofTurn(this.#turn)).map((message) => pendingEdits.get(message));
    for (const change of await Promise.all(changes)) {
      const hasChanged = change !== undefined && (change.is_deletion || change.content !== null);
      // An edit without content does not count. A change that another message sends stays with that message.
      if (hasChanged && change.sent_as_ts === null) throw new Interruption('waits_again');
    }
  }

  /**
   * After "not found", has the thread leave its task or, if it has none, a project that is gone. Returns whether the
   * thread has left one, so that the message is sent anew: false after other errors, and if the thread must stay.
   */
  async #leaveLost(error: unknown): Promise<boolean> {
    // Without the account, another task or project could not be reached either.
    if (!(error instanceof AgentNotFoundError) || error instanceof AccountGone) return false;
    return this.#work.withRetry(async () => {
      const thread = await this.#threadUnderAccount();
      if (thread.task_id !== null) return this.#leaveTask(thread.task_id);
      const isGone = !this.#left.has('project') && (await forgetMissingProject(this.#work.deps, thread));
      if (isGone) this.#left.add('project');
      return isGone;
    });
  }

  /** After **Try again**, leaves the task once, and returns whether it did. The message, frozen anew, quotes it. */
  async #leaveTask(taskId: string): Promise<boolean> {
    const { resends_turn_id } = await messageOfTurn(this.#work, this.#turn);
    if (resends_turn_id === null || this.#left.has('task')) return false;
    await this.#work.row.leaveTask(taskId);
    this.#left.add('task');
    this.#work.deps.log.info({ turn: this.#turn.id, left: taskId }, 'the thread continues in another task');
    return true;
  }

  /** The thread under its workspace's current account. Throws TurnEnded if its task is another account's. */
  async #threadUnderAccount(): Promise<Thread> {
    const thread = this.#thread ?? (await this.#work.deps.store.threads.getOrThrow(this.#turn));
    this.#thread = await ensureCurrentAccount(this.#work.deps, thread, this.#turn);
    return this.#thread;
  }
}
