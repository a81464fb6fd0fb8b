import type { Job, Thread, Turn } from '../../store/schema.ts';
import { PLAN_WAIT } from '../../store/threads/person-waits.ts';
import type { TaskIntent } from '../../store/threads/threads.ts';
import { isAtService } from '../../store/threads/turn-phase.ts';
import type { TurnUpdate } from '../../store/threads/turn-steps.ts';
import { turnLocationOf } from '../../store/threads/turns.ts';
import { ASKED_FOR, type ForwardingOptions, MidRunForwarding } from '../controls/messages-during-a-run.ts';
import { stopRequesterName } from '../reading/display-names.ts';
import { LiveReply } from '../replies/live-reply.ts';
import { type AnsweredMessage, ReplyReader } from '../replies/reply-reader.ts';
import { ReplyState } from '../replies/reply-state.ts';
import type { RelayDeps, SettledTurnContext, ThreadWork, WorkspaceClient } from '../runtime/deps.ts';
import type { Lease } from '../runtime/lease.ts';
import { inBackground } from '../runtime/poller.ts';
import { RefusalDoubt, slackPatience, type WaitCause, withRetry } from '../runtime/retry-and-giving-up.ts';
import { TurnEnded } from '../runtime/turn-exceptions.ts';
import type { AllowedMessage } from '../sending/next-message.ts';

/** What a turn began with, if it began in this run. */
export interface BegunWork {
  message: AllowedMessage;
  thread: Thread;
  /** When (`performance.now()`). */
  begunAt: number;
}

/** How long (ms) a step may wait to be recorded with the next one. */
const RECORD_DELAY_MS = 250;

/** What the steps of one turn share. */
export class TurnContext implements ThreadWork {
  readonly deps: RelayDeps;
  readonly workspace: WorkspaceClient;
  readonly lease: Lease;
  readonly job: Job;
  readonly state: ReplyState;
  readonly reply: LiveReply;
  /** The job of the run was done together with the turn. */
  isJobDone = false;
  /** What the turn began with, until its message is at the service; undefined if it began in another run. */
  begun: BegunWork | undefined;
  /** The thread as it was then, with the model of a task that began since. */
  #thread: Thread | undefined;
  #turn: Turn;
  readonly #stopController = new AbortController();
  /** Aborted with a TurnEnded when a person asks to stop the turn. */
  readonly stopSignal = this.#stopController.signal;
  readonly #doubt: RefusalDoubt;
  /** The task that the message was sent to: it stays the same. */
  #task: { account_id: string; taskId: string } | undefined;
  #forwarding: MidRunForwarding | undefined;
  /** What the run waits for a person to answer, as recorded. */
  #wait: string | undefined;
  /** What waits to be recorded. */
  #unrecorded: TurnUpdate | undefined;
  #recordTimer: NodeJS.Timeout | undefined;
  /** Recording it, while that is under way: if it fails, the values wait again. */
  #recording: Promise<void> | undefined;

  constructor({ deps, workspace, lease }: ThreadWork, turn: Turn, begun: BegunWork | undefined, job: Job) {
    this.deps = deps;
    this.workspace = workspace;
    this.lease = lease;
    this.job = job;
    this.begun = begun;
    this.#thread = begun?.thread;
    this.#turn = turn;
    const { waits_since: waitsSince, waits_for: wait } = turn;
    this.#wait = waitsSince === null || wait === PLAN_WAIT ? undefined : (wait ?? undefined);
    this.state = new ReplyState(turn, deps.settings, () => this.reply.onChanged());
    this.reply = new LiveReply(this, turnLocationOf(turn), this.state, begun?.begunAt);
    this.#doubt = new RefusalDoubt(deps.settings);
  }

  /** The turn as last recorded. */
  get turn(): Turn {
    return this.#turn;
  }

  /** A person asks to stop the turn: the reply shows it, and what is not sent yet never is. */
  requestStop(): void {
    if (this.stopSignal.aborted) return;
    this.#stopController.abort(new TurnEnded('cancelled', null));
    const show = (name: string) => this.state.onStopRequested(name);
    this.stopRequester().then(show, () => show(''));
  }

  /** The name of the person who asked to stop the turn; '' if nobody did, or the name is unknown. */
  async stopRequester(): Promise<string> {
    return stopRequesterName(this.deps, this.#turn);
  }

  /** Runs a step until it succeeds or fails for good; the thread shows what it waits for. */
  async withRetry<T>(step: () => Promise<T>): Promise<T> {
    const about = { turn: this.#turn.id };
    const onWait = (waitCause: WaitCause | undefined) => this.state.update({ waitCause });
    const judgeSlack = slackPatience(this);
    const judge = async (error: unknown) => {
      const wait = await judgeSlack(error);
      if (wait !== undefined && wait.cause !== 'service_unreachable') return wait;
      const account = this.#task?.account_id ?? this.deps.accountOf(this.#turn.workspace);
      const sentTo = isAtService(this.#turn) ? this.#task?.taskId : undefined;
      return this.#doubt.waitAfter(error, () => this.deps.agent(account), sentTo);
    };
    const value = await withRetry(this, step, { about, onWait, wake: this.stopSignal, judge });
    this.#doubt.clear();
    return value;
  }

  /** Records a step, and what waits to be recorded. */
  async record(values: TurnUpdate, taskIntent?: TaskIntent): Promise<void> {
    const earlier = await this.takeUnrecorded();
    const { turns } = this.deps.store;
    try {
      const recorded = await this.reply.posts.recordWith((posts) =>
        turns.record(this.#turn, { ...earlier, ...values }, { posts, taskIntent }),
      );
      const { phase } = this.#unrecorded === undefined ? recorded : this.#turn;
      this.#turn = { ...recorded, ...this.#unrecorded, phase };
      if (taskIntent !== undefined && this.#thread !== undefined)
        this.#thread = { ...this.#thread, task_model: taskIntent.model ?? null };
    } catch (error) {
      this.#unrecorded = { ...earlier, ...this.#unrecorded };
      throw error;
    }
  }

  /** Records a step, which reaches this phase, with the next one, or in a moment: until then it can be found out again. */
  recordSoon(values: TurnUpdate, phase = this.#turn.phase): void {
    this.#turn = { ...this.#turn, ...values, phase };
    this.#unrecorded = { ...this.#unrecorded, ...values };
    this.#recordTimer ??= setTimeout(() => {
      if (this.lease.remainingMs() <= 0) return;
      const onFailed = (err: unknown) =>
        this.deps.log.debug({ err, turn: this.#turn.id }, 'the next step records this one, too');
      this.#recording = this.record({}).catch(onFailed);
    }, RECORD_DELAY_MS);
  }

  /** What waits to be recorded, for a caller that records it. */
  async takeUnrecorded(): Promise<TurnUpdate> {
    await this.#recording;
    clearTimeout(this.#recordTimer);
    this.#recordTimer = undefined;
    const values = this.#unrecorded ?? {};
    this.#unrecorded = undefined;
    return values;
  }

  /** Posts the first reply, before any call to the service. */
  async openReply(): Promise<void> {
    await this.withRetry(() => this.reply.open());
    if (this.#turn.first_visible_at === null && this.#unrecorded === undefined)
      this.recordSoon({ first_visible_at: new Date() });
  }

  async thread(): Promise<Thread> {
    return this.deps.store.threads.getOrThrow(this.#turn);
  }

  /** Who wrote in the thread before the turn. */
  async participants(): Promise<readonly string[]> {
    return (this.#thread ?? (await this.thread())).participant_ids;
  }

  /** The turn's message is at the service, as this turn has recorded. */
  onSent(turn: Turn, account_id: string): void {
    this.#turn = turn;
    this.begun = undefined;
    if (turn.task_id !== null) this.#task = { account_id, taskId: turn.task_id };
  }

  /** The model of the thread's task; null: the service's default. */
  async taskModel(): Promise<string | null> {
    return (this.#thread ?? (await this.thread())).task_model;
  }

  /** The thread's task, with what the turn keeps of it. Throws if the thread has no task yet. */
  async task(): Promise<SettledTurnContext & { account_id: string }> {
    const { deps, workspace, lease } = this;
    if (this.#task === undefined) {
      const { account_id, task_id: taskId } = await this.thread();
      if (taskId === null) throw new Error('The turn has no task.');
      this.#task = { account_id, taskId };
    }
    const { account_id } = this.#task;
    const memory = deps.replyMemory.of(this.#turn, account_id);
    const agent = deps.agent(account_id);
    return { deps, workspace, lease, ...this.#task, agent, turn: this.#turn, memory };
  }

  /** The turn's message, which the service has, for the search for its reply. */
  async answeredMessage(): Promise<AnsweredMessage> {
    const { user_message_id: userMessageId } = this.#turn;
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
      otherReplies: () => this.deps.store.tasks.otherReplies(this.#turn, taskId),
    };
  }

  /** Reads the reply with this id: what is read is shown, and may let the run have another message. */
  async startReading(message: AnsweredMessage, replyId: string): Promise<ReplyReader> {
    const { memory } = await this.task();
    const reader = new ReplyReader(message, replyId, {
      memory,
      onRead: (read) => {
        this.#doubt.clear();
        if (this.reply.unreachable !== undefined) throw this.reply.unreachable;
        this.state.onRead(read, this.deps.settings);
        this.#recordWait();
        this.passOn(false);
      },
      onMemoryWait: (isWaiting) => this.state.update({ waitCause: isWaiting ? 'service_busy' : undefined }),
    });
    this.reply.beforeEdit = () => reader.refresh();
    return reader;
  }

  /** Records that the run waits for a person, or no longer does; if that fails, with the next read. */
  #recordWait(): void {
    const before = this.#wait;
    const found = this.state.silence.personWait(this.state.isOpenPlan, before);
    if (found?.wait === before) return;
    this.#wait = found?.wait;
    const { store, settings, log } = this.deps;
    const record = async () => {
      try {
        if (before !== undefined) await store.personWaits.end(this.#turn, before);
        if (found !== undefined)
          await store.personWaits.begin(this.#turn, found.wait, found.quietMs, settings.remindMs);
      } catch (error) {
        this.#wait = before;
        throw error;
      }
    };
    inBackground(record(), log, 'could not record whether a run waits for a person');
  }

  /** Forwards the thread's waiting messages from now on, when the run pauses or a person asks for it. */
  startForwarding(listener: Pick<ForwardingOptions, 'onForwarded' | 'onRequeued'>): MidRunForwarding {
    const { stopSignal } = this;
    this.#forwarding = new MidRunForwarding(this, turnLocationOf(this.#turn), { stopSignal, ...listener });
    return this.#forwarding;
  }

  /** Offers the thread's next message to the run, in a pause or at once if asked; false if it was not offered. */
  passOn(isAsked: boolean): boolean {
    const pause = isAsked ? ASKED_FOR : this.state.silence.pauseAfter(this.deps.settings.passOnMs);
    return pause !== undefined && this.#forwarding?.offer(pause) === true;
  }
}
