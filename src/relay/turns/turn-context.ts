import type { Job, Thread, Turn } from '../../store/schema.ts';
import { PLAN_WAIT } from '../../store/threads/person-waits.ts';
import { isAtService } from '../../store/threads/turn-phase.ts';
import { turnLocationOf } from '../../store/threads/turns.ts';
import { PassingOn, type PassOnListener, type PassOnTime } from '../controls/messages-during-a-run.ts';
import { stopRequesterName } from '../reading/display-names.ts';
import type { FirstReply } from '../replies/first-reply-intent.ts';
import { LiveReply } from '../replies/live-reply.ts';
import { type AnsweredMessage, ReplyReader } from '../replies/reply-reader.ts';
import { ReplyState } from '../replies/reply-state.ts';
import type { RelayDeps, SettledTurnContext, ThreadWork, WorkspaceClient } from '../runtime/deps.ts';
import type { Lease } from '../runtime/lease.ts';
import { inBackground } from '../runtime/poller.ts';
import { RefusalDoubt, type WaitCause, withRetry } from '../runtime/retry-and-giving-up.ts';
import { TurnEnded } from '../runtime/turn-exceptions.ts';
import { TurnRow } from '../runtime/turn-row.ts';
import type { AllowedMessage } from '../sending/next-message.ts';

/** What a turn began with, if no earlier attempt began it. */
export interface BegunWork {
  message: AllowedMessage;
  thread: Thread;
  firstReply: FirstReply;
}

/** What the steps of one turn share. */
export class TurnContext implements ThreadWork {
  readonly deps: RelayDeps;
  readonly workspace: WorkspaceClient;
  readonly lease: Lease;
  readonly job: Job;
  readonly state: ReplyState;
  readonly reply: LiveReply;
  /** The statement that finished the turn has also ended its job. */
  isJobDone = false;
  /** What the turn began with, as long as its message is unsent. Undefined if an earlier attempt began it. */
  begun: BegunWork | undefined;
  /** What is kept of the thread for hours, as it was when the turn's message was sent. */
  #threadAtSend: Pick<Thread, 'participant_ids' | 'task_model'> | undefined;
  readonly row: TurnRow;
  readonly #stopController = new AbortController();
  /** Aborted with a TurnEnded when a person asks to stop the turn. */
  readonly stopSignal = this.#stopController.signal;
  readonly #doubt: RefusalDoubt;
  /** The task that the message was sent to: it stays the same. */
  #task: { account_id: string; taskId: string } | undefined;
  #passingOn: PassingOn | undefined;
  /** The name of the run's wait for a person, as recorded; undefined without one, and while a settled plan waits. */
  #waitName: string | undefined;

  constructor({ deps, workspace, lease }: ThreadWork, turn: Turn, begun: BegunWork | undefined, job: Job) {
    this.deps = deps;
    this.workspace = workspace;
    this.lease = lease;
    this.job = job;
    this.begun = begun;
    this.row = new TurnRow(this, turn, (step) => this.reply.posts.recordWith(step));
    const { waits_since: waitsSince, waits_for: name } = turn;
    this.#waitName = waitsSince === null || name === PLAN_WAIT ? undefined : (name ?? undefined);
    this.state = new ReplyState(turn, deps.settings, () => this.reply.onChanged());
    this.reply = new LiveReply(this, this.state, begun?.firstReply);
    this.#doubt = new RefusalDoubt(deps.settings);
  }

  /** The turn as last recorded. */
  get turn(): Turn {
    return this.row.turn;
  }

  /** A person stops the turn: its reply says so, and no message is sent any more. `sendStop` stops its run. */
  requestStop(): void {
    if (this.stopSignal.aborted) return;
    this.#stopController.abort(new TurnEnded('cancelled', null));
    const showStopping = (name: string) => this.state.onStopRequested(name);
    stopRequesterName(this.deps, this.turn).then(showStopping, () => showStopping(''));
  }

  /** Runs a step until it succeeds or fails for good; the thread shows what it waits for. */
  withRetry<T>(step: () => Promise<T>): Promise<T> {
    const about = { turn: this.turn.id };
    const onWait = (waitCause: WaitCause) => this.state.update({ waitCause });
    // A "gone", "refused" or unreadable answer counts only after a wait, which is longer while the task still answers.
    const doubt = async (error: unknown) => {
      // Until the thread's task is known, the workspace's account is the one that a task would get.
      const account = this.#task?.account_id ?? this.deps.accountOf(this.turn.workspace);
      const sentTo = isAtService(this.turn) ? this.#task?.taskId : undefined;
      return this.#doubt.waitAfter(error, () => this.deps.agent(account), sentTo);
    };
    const onSuccess = this.#onAnswered;
    return withRetry(this, step, { about, onWait, onSuccess, wake: this.stopSignal, doubt });
  }

  /** What was waited for has come: the thread says so, also in the middle of a step, which may go on for hours. */
  readonly #onAnswered = () => {
    this.#doubt.clear();
    this.state.update({ waitCause: undefined });
  };

  /** Posts the first reply, unless it is there, and records when people first saw it. */
  async openReply(): Promise<void> {
    await this.withRetry(() => this.reply.open());
    if (this.turn.first_visible_at === null) this.row.recordSoon({ first_visible_at: new Date() });
  }

  /** The turn's thread as it is now. */
  async thread(): Promise<Thread> {
    return this.deps.store.threads.getOrThrow(this.turn);
  }

  /** Who has written in the thread, and its task's model; null: the service's default. */
  async participantsAndModel(): Promise<Pick<Thread, 'participant_ids' | 'task_model'>> {
    return this.#threadAtSend ?? (await this.thread());
  }

  /** Takes note that the turn's message is at the service, in this thread's task. */
  onSent(thread: Thread): void {
    this.#threadAtSend = { participant_ids: thread.participant_ids, task_model: thread.task_model };
    this.begun = undefined;
    const { task_id: taskId } = this.turn;
    if (taskId !== null) this.#task = { account_id: thread.account_id, taskId };
  }

  /** What it takes to work on the thread's task. Throws if the thread has no task yet. */
  async task(): Promise<SettledTurnContext & { account_id: string }> {
    const { deps, workspace, lease } = this;
    if (this.#task === undefined) {
      const { account_id, task_id: taskId } = await this.thread();
      if (taskId === null) throw new Error('The turn has no task.');
      this.#task = { account_id, taskId };
    }
    const { account_id } = this.#task;
    const memory = deps.replyMemory.of(this.turn, account_id);
    return { deps, workspace, lease, ...this.#task, agent: deps.agent(account_id), turn: this.turn, memory };
  }

  /** The turn's message at the service, as the search for its reply takes it. Throws if it was not sent. */
  async answeredMessage(): Promise<AnsweredMessage> {
    const { user_message_id: userMessageId } = this.turn;
    if (userMessageId === null) throw new Error('The message of the turn was not sent.');
    const { account_id, agent, taskId, lease } = await this.task();
    return {
      agent,
      taskId,
      userMessageId,
      lease,
      rate: this.deps.readRate(account_id),
      settledTaskMs: this.deps.settings.settledTaskMs,
      isStopped: () => this.stopSignal.aborted,
      onAnswered: this.#onAnswered,
      otherReplies: () => this.deps.store.tasks.otherReplies(this.turn, taskId),
    };
  }

  /** Makes the reply's reader. Each read is shown, may pass a message on, and throws if the place is gone. */
  async makeReader(message: AnsweredMessage, replyId: string): Promise<ReplyReader> {
    const { memory } = await this.task();
    const reader = new ReplyReader(message, replyId, {
      memory,
      onRead: (read) => {
        if (this.reply.unreachable !== undefined) throw this.reply.unreachable;
        this.state.onRead(read, this.deps.settings);
        this.#recordWait();
        this.passOn('in_pause');
      },
      onMemoryWait: () => this.state.update({ waitCause: 'service_busy' }),
    });
    this.reply.beforeEdit = () => reader.refresh();
    return reader;
  }

  /** Records in the background whether the run waits for a person. If that fails, the next read repeats it. */
  #recordWait(): void {
    const recordedName = this.#waitName;
    const wait = this.state.silence.personWait(this.state.isOpenPlan, recordedName);
    if (wait?.name === recordedName) return;
    this.#waitName = wait?.name;
    const { store, settings, log } = this.deps;
    const record = async () => {
      try {
        if (recordedName !== undefined) await store.personWaits.end(this.turn, recordedName);
        if (wait !== undefined)
          await store.personWaits.begin(this.turn, wait.name, wait.quietMs, settings.remindMs);
      } catch (error) {
        this.#waitName = recordedName;
        throw error;
      }
    };
    inBackground(record(), log, 'could not record whether a run waits for a person');
  }

  /** Lets the run have the thread's waiting messages from now on, through `passOn`. */
  allowPassingOn(listener: PassOnListener): PassingOn {
    const { stopSignal } = this;
    this.#passingOn = new PassingOn(this, turnLocationOf(this.turn), { stopSignal, ...listener });
    return this.#passingOn;
  }

  /** Looks for a message to pass on: at once, or only if the run pauses. Returns whether it looks then. */
  passOn(when: PassOnTime): boolean {
    if (when === 'at_once') return this.#passingOn?.look() === true;
    const pause = this.state.silence.pauseAfter(this.deps.settings.passOnMs);
    return pause !== undefined && this.#passingOn?.look(pause) === true;
  }
}
