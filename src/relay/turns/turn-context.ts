import type { AgentClient } from '../../agent/agent-client.ts';
import type { Message, Thread, Turn } from '../../store/schema.ts';
import type { TaskIntent } from '../../store/threads/threads.ts';
import type { TurnUpdate } from '../../store/threads/turn-steps.ts';
import { turnLocationOf } from '../../store/threads/turns.ts';
import { stopRequesterName } from '../controls/stop-control.ts';
import type { WaitingReactions } from '../controls/waiting-reactions.ts';
import { LiveReply } from '../replies/live-reply.ts';
import { ReplyReader, type ReplyReaderOptions } from '../replies/reply-reader.ts';
import { ReplyState } from '../replies/reply-state.ts';
import type { RelayDeps, ThreadWork, WorkspaceClient } from '../runtime/deps.ts';
import type { Lease } from '../runtime/lease.ts';
import { RefusalDoubt, SlackPatience } from '../runtime/patience.ts';
import type { ReadRate } from '../runtime/read-rate.ts';
import { withRetry } from '../runtime/retry.ts';
import { TurnEnded } from '../runtime/turn-interruptions.ts';
import { messageOfTurn } from '../sending/outgoing-message.ts';
import type { JobCompletion } from './dispatcher.ts';

/** What a turn began with. */
export interface BegunWork {
  message: Message;
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
  readonly waitingReactions: Pick<WaitingReactions, 'cleanUp' | 'addToWaiting'>;
  readonly state: ReplyState;
  readonly reply: LiveReply;
  /** The turn as last recorded. */
  turn: Turn;
  /** The service's id of the reply, if it is known before the reply is followed. */
  knownReplyId: string | undefined;
  /** Completes the job of the run. */
  completion: JobCompletion | undefined;
  /** Offers the thread's next message to the run, while one is followed; false if it was not offered. */
  passOn: (isAsked: boolean) => boolean = () => false;
  readonly #readRateFor: (account: string) => ReadRate;
  readonly #stopController = new AbortController();
  readonly #doubt: RefusalDoubt;
  /** The turn's message and thread as they were when the turn began here, until the message is sent. */
  begun: BegunWork | undefined;
  /** Who had written to the thread's task when the turn began here; undefined: it began elsewhere. */
  readonly #earlierParticipants: readonly string[] | undefined;
  /** The turn whose content this one sends again; undefined: not read yet. */
  resendsTurnId: string | null | undefined;
  /** The task that the message was sent to: it stays the same. */
  knownTask: { account_id: string; taskId: string } | undefined;
  /** What waits to be recorded. */
  #unrecorded: TurnUpdate | undefined;
  #recordTimer: NodeJS.Timeout | undefined;

  constructor(
    { deps, workspace, lease }: ThreadWork,
    turn: Turn,
    readRateFor: (account: string) => ReadRate,
    waitingReactions: Pick<WaitingReactions, 'cleanUp' | 'addToWaiting'>,
    begun?: BegunWork,
  ) {
    this.deps = deps;
    this.workspace = workspace;
    this.turn = turn;
    this.lease = lease;
    this.waitingReactions = waitingReactions;
    this.#readRateFor = readRateFor;
    this.state = new ReplyState(turn, deps.settings, () => this.reply.onChanged());
    this.reply = new LiveReply(this, turnLocationOf(turn), this.state, begun?.begunAt);
    this.#doubt = new RefusalDoubt(deps.settings);
    this.begun = begun;
    this.resendsTurnId = begun?.message.resends_turn_id;
    this.#earlierParticipants = begun?.thread.participant_ids;
  }

  /** Aborted with a TurnEnded when a person asks to stop the turn. */
  get stopSignal(): AbortSignal {
    return this.#stopController.signal;
  }

  /** A person asks to stop the turn: the reply shows it, and what is not sent yet never is. */
  requestStop(): void {
    if (this.stopSignal.aborted) return;
    this.#stopController.abort(new TurnEnded('cancelled', null));
    this.stopRequester().then(
      (name) => this.state.onStopRequested(name),
      () => this.state.onStopRequested(''),
    );
  }

  /** The name of the person who asked to stop the turn; '' if nobody did, or the name is unknown. */
  async stopRequester(): Promise<string> {
    return stopRequesterName(this.deps, this.turn);
  }

  /** Runs a step until it succeeds or fails for good; the thread shows what it waits for. */
  async withRetry<T>(step: () => Promise<T>): Promise<T> {
    const onWait = (cause: Parameters<ReplyState['setWaitCause']>[0], error: unknown) => {
      if (cause !== undefined)
        this.deps.log.warn({ err: error, turn: this.turn.id, cause }, 'retrying a step of a turn');
      this.state.setWaitCause(cause);
    };
    const patience = new SlackPatience(this);
    const judge = async (error: unknown) => {
      const wait = await patience.waitAfter(error);
      if (wait !== undefined && wait.cause !== 'service_unreachable') return wait;
      const account = this.knownTask?.account_id ?? this.deps.accountOf(this.turn.workspace);
      const sentTo = this.turn.user_message_id === null ? undefined : this.knownTask?.taskId;
      return this.#doubt.waitAfter(error, () => this.deps.agent(account), sentTo);
    };
    const value = await withRetry(this.lease, step, onWait, { wake: this.stopSignal, judge });
    this.#doubt.clear();
    return value;
  }

  /** Records a step, and what waits to be recorded. */
  async record(values: TurnUpdate, taskIntent?: TaskIntent): Promise<void> {
    const all = { ...this.takeUnrecorded(), ...values };
    const { turns } = this.deps.store;
    this.turn = await this.reply.posts.recordWith((posts) =>
      turns.record(this.turn, all, { posts, taskIntent }),
    );
  }

  /** Records a step with the next one, or in a moment. What it is about can be found out again until then. */
  recordSoon(values: TurnUpdate): void {
    this.turn = { ...this.turn, ...values };
    this.#unrecorded = { ...this.#unrecorded, ...values };
    this.#recordTimer ??= setTimeout(() => void this.#recordNow(), RECORD_DELAY_MS);
  }

  /** What waits to be recorded, for a caller that records it. */
  takeUnrecorded(): TurnUpdate {
    clearTimeout(this.#recordTimer);
    this.#recordTimer = undefined;
    const values = this.#unrecorded ?? {};
    this.#unrecorded = undefined;
    return values;
  }

  async #recordNow(): Promise<void> {
    const values = this.takeUnrecorded();
    if (this.lease.remainingMs() <= 0) return;
    try {
      const { turns } = this.deps.store;
      await this.reply.posts.recordWith((posts) => turns.record(this.turn, values, { posts }));
    } catch (error) {
      this.deps.log.debug({ err: error, turn: this.turn.id }, 'the next step records this one, too');
      this.#unrecorded = { ...values, ...this.#unrecorded };
    }
  }

  /** Posts the first reply, before any call to the service. */
  async openReply(): Promise<void> {
    await this.withRetry(() => this.reply.open());
    if (this.turn.first_visible_at === null && this.#unrecorded === undefined)
      this.recordSoon({ first_visible_at: new Date() });
  }

  /** The turn's message: as it was when the turn began here, or as it is. Throws TurnEnded if it is gone. */
  async message(): Promise<Message> {
    return this.begun?.message ?? (await messageOfTurn(this.deps, this.turn));
  }

  async thread(): Promise<Thread> {
    return this.deps.store.threads.getOrThrow(this.turn);
  }

  /** Whether somebody else has written to the thread's task, too. */
  async hasOtherParticipants(): Promise<boolean> {
    const participants = this.#earlierParticipants ?? (await this.thread()).participant_ids;
    return participants.some((person) => person !== this.turn.asked_by);
  }

  /** The thread's task, and the account that it belongs to. Throws if the thread has no task yet. */
  async task(): Promise<{ account_id: string; agent: AgentClient; taskId: string }> {
    if (this.knownTask === undefined) {
      const { account_id, task_id: taskId } = await this.thread();
      if (taskId === null) throw new Error('The turn has no task.');
      this.knownTask = { account_id, taskId };
    }
    return { ...this.knownTask, agent: this.deps.agent(this.knownTask.account_id) };
  }

  /** A reader of the reply to the turn's message, which the service has. */
  async createReader(onRead: ReplyReaderOptions['onRead']): Promise<ReplyReader> {
    const { user_message_id: userMessageId } = this.turn;
    if (userMessageId === null) throw new Error('The message of the turn was not sent.');
    const { account_id, agent, taskId } = await this.task();
    const rate = this.#readRateFor(account_id);
    const { settledTaskMs } = this.deps.settings;
    const memory = this.deps.replyMemory.of(this.turn, account_id);
    const onMemoryWait = (isWaiting: boolean) =>
      this.state.setWaitCause(isWaiting ? 'service_busy' : undefined);
    const known = { agent, taskId, userMessageId, rate, lease: this.lease, settledTaskMs };
    const onReadAgain: typeof onRead = (reply) => {
      this.#doubt.clear();
      onRead(reply);
    };
    const isStopped = () => this.stopSignal.aborted;
    const otherReplies = () => this.deps.store.tasks.otherReplies(this.turn, taskId);
    return new ReplyReader({
      ...known,
      isStopped,
      otherReplies,
      memory,
      onRead: onReadAgain,
      onMemoryWait,
    });
  }
}
