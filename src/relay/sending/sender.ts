import { AgentNotFoundError } from '../../agent/errors.ts';
import { noteWithButtons } from '../../render/messages/button-notes.ts';
import * as strings from '../../render/strings/index.ts';
import type { FileNote, Thread, Turn } from '../../store/schema.ts';
import type { WholeMessage } from '../../store/threads/messages.ts';
import type { TaskIntent } from '../../store/threads/threads.ts';
import { isAtService, isFrozen, isSendInDoubt, mayBeAtService } from '../../store/threads/turn-phase.ts';
import { messageKeyOf } from '../../store/threads/turns.ts';
import type { Settings } from '../../store/workspaces/settings-store.ts';
import { closingAt } from '../access/access-policy.ts';
import { AccountGone } from '../installations/service-accounts.ts';
import type { ThreadWork } from '../runtime/deps.ts';
import { trySendEphemeral } from '../runtime/private-notices.ts';
import { withRetry } from '../runtime/retry-and-giving-up.ts';
import { Interruption, isInterruption, TurnEnded } from '../runtime/turn-exceptions.ts';
import type { FilePatience } from './allowed-files.ts';
import {
  type Attachments,
  type SharedItem,
  type UploadProgressListener,
  uploadAttachments,
} from './attachments.ts';
import { findProject, forgetMissingProject } from './channel-project.ts';
import { deliverOnce, lastMessageId, refusalOf, settleSends } from './delivery.ts';
import { completed, messageOfTurn, type OutgoingMessage, readOutgoingMessage } from './outgoing-message.ts';
import { turnsResent } from './resent-message.ts';
import { recordSentContent } from './sent-content.ts';
import { ensureCurrentAccount, ensureThreadTask, newTaskOptions } from './thread-task.ts';

/** What the thread shows while a message is sent, and how steps are retried. */
export interface SenderOptions {
  /** The thread as it was when the turn began here. */
  thread?: Thread | undefined;
  /** The message as it was then; undefined if it must be read. */
  message?: WholeMessage | undefined;
  /** What new tasks of the channel begin with. */
  channelSettings: Pick<Settings, 'model' | 'instructions'>;
  onUploadProgress?: UploadProgressListener;
  onFileNotes?: (notes: readonly FileNote[]) => void;
  onStep?: (step: 'uploading' | 'working') => void;
  /** Records that the thread's task is about to be started. */
  recordTaskIntent(intent: TaskIntent): Promise<void>;
  /** Aborted if the message must not be sent. Its reason is thrown. */
  stopSignal: AbortSignal;
  withRetry: <T>(step: () => Promise<T>) => Promise<T>;
}

/** Sends one turn's message to the service in recorded steps: project, task, files, message. */
export class Sender {
  readonly #work: ThreadWork;
  readonly #options: SenderOptions;
  #turn: Turn;
  /** The thread and the message as this run knows them; read again after an error, because a wait follows. */
  #thread: Thread | undefined;
  #message: WholeMessage | undefined;
  #outgoing: OutgoingMessage | undefined;
  /** The turn has failed before, or in another process. */
  #hasWaited: boolean;
  /** The task that this run has started, until it is recorded. */
  #startedTaskId: string | null = null;
  /** What this run has left of the thread's, once each, so that a service that contradicts itself causes no loop. */
  readonly #left = new Set<'task' | 'project'>();
  readonly #failingFiles = new Map<string, FilePatience>();

  constructor(work: ThreadWork, turn: Turn, options: SenderOptions) {
    this.#work = work;
    this.#turn = turn;
    this.#options = options;
    this.#thread = options.thread;
    this.#message = options.message;
    this.#hasWaited = turn.attempts > 0;
  }

  /** Takes the remaining steps. Throws TurnEnded if the message must not be sent. */
  async send(): Promise<{ turn: Turn; account_id: string }> {
    const isStarted = async (thread: Thread) => thread.task_id !== null && thread.participant_ids.length > 0;
    const wasTaskStarted = await this.#beforeSending(isStarted);
    return this.#withProject(async (projectId) => {
      const taskId = await this.#beforeSending((thread) => this.#ensureTask(thread, projectId));
      const frozen = isFrozen(this.#turn) ? undefined : await this.#freeze(taskId);
      if (frozen !== undefined && wasTaskStarted) this.#notifyFixedOptions(frozen.outgoing);
      await this.#recordTask();
      this.#options.onStep?.('working');
      let justFrozen = frozen?.turn;
      const turn = await this.#options.withRetry(() => {
        const attempt = this.#tryToDeliver(taskId, justFrozen);
        justFrozen = undefined;
        return attempt;
      });
      return { turn, account_id: (await this.#threadUnderAccount(turn)).account_id };
    });
  }

  /** Uploads files that were shared without text. They are kept for the thread's next message. */
  async keepFiles(): Promise<Attachments> {
    const read = () => this.#beforeSending((thread) => this.#read(thread));
    return this.#withProject(async () => this.#uploadFiles(await read()));
  }

  /** Takes steps that need the thread's project. Repeats them all if the thread gets another project meanwhile. */
  async #withProject<T>(steps: (projectId: string) => Promise<T>): Promise<T> {
    for (;;) {
      const projectId = await this.#beforeSending((thread) => findProject(this.#work, thread, this.#turn));
      try {
        return await steps(projectId);
      } catch (error) {
        this.#forget();
        if (!isInterruption(error, 'send_again') && !(await this.#leaveLost(projectId, error))) throw error;
        this.#forget();
        // What is sent again may have lost its files with the project.
        this.#outgoing = undefined;
      }
    }
  }

  /** Takes a step before the message is sent, with retries, each time under the current account. A stop ends the turn. */
  async #beforeSending<T>(step: (thread: Thread) => Promise<T>): Promise<T> {
    return this.#options.withRetry(async () => {
      if (!mayBeAtService(this.#turn)) await this.#throwIfUnwanted();
      try {
        return await step(await this.#threadUnderAccount(this.#turn));
      } catch (error) {
        this.#hasWaited = true;
        this.#forget();
        await this.#recordTask();
        throw error;
      }
    });
  }

  /** Throws if the turn was stopped, or its place or project was closed to it while the message waited for the service. */
  async #throwIfUnwanted(turn = this.#turn): Promise<void> {
    this.#options.stopSignal.throwIfAborted();
    if (!this.#hasWaited) return;
    const closing = await closingAt(this.#work.deps, turn, this.#work.lease.signal);
    if (closing !== undefined) throw new TurnEnded('refused', strings.closedPlaces[closing]);
    const thread = await this.#threadUnderAccount(turn);
    if (thread.project_id !== null) await findProject(this.#work, thread, turn);
  }

  #forget(): void {
    this.#thread = undefined;
    this.#message = undefined;
  }

  async #recordTask(): Promise<void> {
    if (this.#startedTaskId === null) return;
    await this.#work.deps.store.threads.bindTask(this.#turn, this.#startedTaskId);
    this.#startedTaskId = null;
  }

  async #read(thread: Thread): Promise<OutgoingMessage> {
    this.#message ??= await messageOfTurn(this.#work, this.#turn);
    if (this.#message.is_partial) this.#message = await completed(this.#work, this.#message);
    const { stopSignal } = this.#options;
    this.#outgoing = await readOutgoingMessage(this.#work, thread, this.#message, stopSignal, this.#outgoing);
    return this.#outgoing;
  }

  /** Uploads the message's files and freezes it, and both again where it has changed meanwhile. */
  async #freeze(taskId: string): Promise<{ outgoing: OutgoingMessage; turn: Turn }> {
    let uploaded: { items: readonly SharedItem[]; attachments: Attachments } | undefined;
    for (;;) {
      const outgoing = await this.#beforeSending((thread) => this.#read(thread));
      if (uploaded?.items !== outgoing.items) {
        uploaded = { items: outgoing.items, attachments: await this.#uploadFiles(outgoing) };
        // That may have taken long.
        continue;
      }
      const { attachments } = uploaded;
      const turn = await this.#beforeSending(async (thread) => {
        const startedTaskId = this.#startedTaskId;
        // Delivery reads it again where it cannot be read now.
        const read = () => lastMessageId(this.#work.deps.agent(thread.account_id), taskId);
        const last = startedTaskId === null ? await read().catch(() => undefined) : '';
        const hasInstructions = this.#options.channelSettings.instructions !== null;
        const frozen = { outgoing, attachments, lastMessageId: last, taskId, startedTaskId, hasInstructions };
        return recordSentContent(this.#work, thread, this.#turn, frozen);
      });
      this.#turn = turn;
      if (isFrozen(turn)) {
        this.#startedTaskId = null;
        // Its tables may be large.
        this.#outgoing = undefined;
        return { outgoing, turn };
      }
      this.#forget();
    }
  }

  async #ensureTask(thread: Thread, projectId: string): Promise<string> {
    if (thread.task_id !== null) return thread.task_id;
    if (thread.project_id !== null && thread.project_id !== projectId) throw new Interruption('send_again');
    // It may have been edited or deleted since the turn began.
    if (this.#message === this.#options.message) this.#message = undefined;
    const options = newTaskOptions(await this.#read(thread), this.#options.channelSettings.model);
    // By itself: a record whose answer was lost must not count as a start whose outcome is unknown.
    const retrying = { about: { turn: this.#turn.id }, wake: this.#options.stopSignal };
    const record = (intent: TaskIntent) =>
      withRetry(this.#work, () => this.#options.recordTaskIntent(intent), retrying);
    const { taskId, isRecorded } = await ensureThreadTask(this.#work, thread, projectId, options, record);
    if (!isRecorded) this.#startedTaskId = taskId;
    this.#thread = { ...thread, project_id: projectId, task_id: taskId, task_intended_at: null };
    return taskId;
  }

  /** Options of a whole task are fixed when it starts: a note says so and offers a new thread. */
  #notifyFixedOptions({ message, choices }: OutgoingMessage): void {
    const { skill: _, ...fixed } = choices;
    const { resends_turn_id, revises_turn_id, content } = message;
    // Of a question that is asked again with other choices, its task has them.
    const isChosenAgain = revises_turn_id !== null && content?.choices !== undefined;
    if (resends_turn_id !== null || isChosenAgain || Object.keys(fixed).length === 0) return;
    const { workspace, channel, thread_ts: threadTs, asked_by: person, id } = this.#turn;
    const note = noteWithButtons(strings.optionsFixed, ['new_thread'], id);
    trySendEphemeral(this.#work.deps, { workspace, channel, person, threadTs }, note);
  }

  async #uploadFiles({ items, notes, resent }: OutgoingMessage): Promise<Attachments> {
    const none: Attachments = { attached_file_ids: [], notes: [], uploadedBytes: 0 };
    // A resent message goes with the files that are at the service already.
    if (resent !== undefined) return none;
    if (![items, notes, this.#turn.file_notes].some((list) => list?.length)) return none;
    const uploaded = items.length === 0 ? none : await this.#upload(items);
    const attachments = { ...uploaded, notes: [...uploaded.notes, ...notes] };
    this.#options.onFileNotes?.(attachments.notes);
    this.#turn = await this.#work.deps.store.turns.record(this.#turn, {
      file_notes: attachments.notes,
      uploaded_bytes: attachments.uploadedBytes,
    });
    return attachments;
  }

  async #upload(items: readonly SharedItem[]): Promise<Attachments> {
    const { stopSignal, onUploadProgress = () => undefined, onStep } = this.#options;
    await this.#recordTask();
    onStep?.('uploading');
    return this.#beforeSending(async (thread) => {
      const { threads } = this.#work.deps.store;
      // The channel's project is the thread's from its first file on.
      const bind = async () => threads.bindProject(thread, await findProject(this.#work, thread, this.#turn));
      const projectId = thread.project_id ?? (await bind());
      const what = { thread, turn: this.#turn, projectId, items, failing: this.#failingFiles };
      return uploadAttachments({ ...this.#work, ...what, stopSignal, onProgress: onUploadProgress });
    });
  }

  /** Delivers the message; of a turn that was not `justFrozen`, it reads first what became of it. */
  async #tryToDeliver(taskId: string, justFrozen: Turn | undefined): Promise<Turn> {
    const { store } = this.#work.deps;
    const turn = justFrozen ?? (await store.turns.get(this.#turn.workspace, this.#turn.id));
    if (turn === undefined) throw new TurnEnded('withdrawn', null);
    const agent = this.#work.deps.agent((await this.#threadUnderAccount(turn)).account_id);
    const task = { ...this.#work, agent, taskId };
    // The intent was recorded just now, and nothing was sent since.
    const isIntended = justFrozen !== undefined && justFrozen.send_intended_at !== null;
    try {
      const inDoubt = await this.#sendsInDoubt(turn, isIntended);
      if (isIntended && inDoubt.length === 0)
        return await deliverOnce(task, turn, this.#options.stopSignal, true);
      const settled = inDoubt.length === 0 ? turn : await settleSends(task, turn, inDoubt);
      if (!isAtService(settled)) await this.#throwIfUnsentIsUnwanted(settled);
      return await deliverOnce(task, settled, this.#options.stopSignal, false);
    } catch (thrown) {
      this.#hasWaited = true;
      const error = await refusalOf(thrown, task, turn);
      const isTaskClosed = error instanceof TurnEnded && error.more.isTaskClosed === true;
      if (isTaskClosed && (await this.#leaveTask(taskId))) throw new Interruption('send_again');
      throw error;
    }
  }

  /** The turns of whose send of this message nobody knows the outcome: this one, and those whose message it sends again. */
  async #sendsInDoubt(turn: Turn, isIntended: boolean): Promise<Turn[]> {
    this.#message ??= await messageOfTurn(this.#work, turn);
    const resent = await turnsResent(this.#work.deps.store, this.#message);
    return [...(isIntended ? [] : [turn]), ...resent].filter(isSendInDoubt);
  }

  /** Throws if a frozen message that surely was not sent must not be sent, or was edited or deleted meanwhile. */
  async #throwIfUnsentIsUnwanted(turn: Turn): Promise<void> {
    await this.#throwIfUnwanted(turn);
    if (turn.stop_requested_at !== null) throw new TurnEnded('cancelled', null);
    const { messages, earlyEdits } = this.#work.deps.store;
    const changes = (await messages.ofTurn(turn)).map((message) => earlyEdits.get(message));
    for (const change of await Promise.all(changes)) {
      const hasChanged = change !== undefined && (change.is_deletion || change.content !== null);
      if (hasChanged && change.sent_as_ts === null) throw new Interruption('waits_again');
    }
  }

  /** Leaves what the service no longer knows: the thread's project, once, or its task. False if there is nothing to leave. */
  async #leaveLost(projectId: string, error: unknown): Promise<boolean> {
    if (!(error instanceof AgentNotFoundError) || error instanceof AccountGone) return false;
    return this.#options.withRetry(async () => {
      const thread = await this.#threadUnderAccount(this.#turn);
      if (thread.task_id !== null) return this.#leaveTask(thread.task_id);
      if (this.#left.has('project')) return false;
      const lost = { ...thread, project_id: thread.project_id ?? projectId };
      if (!(await forgetMissingProject(this.#work.deps, lost))) return false;
      this.#left.add('project');
      return true;
    });
  }

  /** Leaves the thread's task for another, once, where a person retries: the message is frozen anew, with what was said in this one. */
  async #leaveTask(taskId: string): Promise<boolean> {
    const { store, log } = this.#work.deps;
    const { resends_turn_id } = await messageOfTurn(this.#work, this.#turn);
    if (resends_turn_id === null || this.#left.has('task')) return false;
    this.#turn = await store.transaction(async ({ threads, messages, turns }) => {
      await threads.leaveTask(this.#turn, taskId);
      await messages.leaveUnsent(messageKeyOf(this.#turn), 'waiting');
      return turns.record(this.#turn, { prompt: null, quotation_length: 0, send_intended_at: null });
    });
    this.#left.add('task');
    log.info({ turn: this.#turn.id, left: taskId }, 'the thread continues in another task');
    return true;
  }

  async #threadUnderAccount(turn: Turn): Promise<Thread> {
    const { store, accountOf } = this.#work.deps;
    const thread = this.#thread ?? (await store.threads.getOrThrow(turn));
    this.#thread = await ensureCurrentAccount(store, accountOf, thread, turn);
    return this.#thread;
  }
}
