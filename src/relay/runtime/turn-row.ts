import type { Message, Turn } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import type { PostOutcome } from '../../store/threads/posts.ts';
import type { TaskIntent } from '../../store/threads/threads.ts';
import { isOver, isSendInDoubt } from '../../store/threads/turn-phase.ts';
import type { LastStep, TurnUpdate } from '../../store/threads/turn-steps.ts';
import { messageKeyOf } from '../../store/threads/turns.ts';
import type { ThreadWork } from './deps.ts';
import { Interruption, TurnEnded } from './turn-exceptions.ts';

/** How long (ms) a step may wait to be recorded with the next one. */
const RECORD_DELAY_MS = 1_000;

/** Takes a step with the posts that are to be recorded with it. */
type WithPosts = <T>(step: (posts: readonly PostOutcome[]) => Promise<T>) => Promise<T>;

/** A turn as this process last recorded it: each step records here what it has learned, and reads here what is known. */
export class TurnRow {
  readonly #work: Pick<ThreadWork, 'deps' | 'lease'>;
  readonly #withPosts: WithPosts;
  #turn: Turn;
  /** A call of this process, or of an earlier attempt that intended to send, may have sent the message. */
  mayHaveSent: boolean;
  /** What waits to be recorded. */
  #unrecorded: TurnUpdate | undefined;
  #recordTimer: NodeJS.Timeout | undefined;
  /** The call that records it, while it is under way: if it fails, the values wait again. */
  #recording: Promise<void> | undefined;

  constructor(
    work: Pick<ThreadWork, 'deps' | 'lease'>,
    turn: Turn,
    withPosts: WithPosts = (step) => step([]),
  ) {
    this.#work = work;
    this.#turn = turn;
    this.mayHaveSent = isSendInDoubt(turn);
    this.#withPosts = withPosts;
  }

  get turn(): Turn {
    return this.#turn;
  }

  /** Whether the message must be looked for at the service: a call may have sent it, and nobody knows. */
  get needsSearch(): boolean {
    return this.mayHaveSent && isSendInDoubt(this.#turn);
  }

  /** Keeps the row that a statement has returned, with what waits to be recorded. */
  learn(turn: Turn): Turn {
    this.#turn = { ...turn, ...this.#unrecorded };
    return this.#turn;
  }

  /** Reads the turn as it is now. Throws TurnEnded if it is gone. */
  async read({ turns }: Pick<Store, 'turns'> = this.#work.deps.store): Promise<Turn> {
    const now = await turns.get(this.#turn.workspace, this.#turn.id);
    if (now === undefined) throw new TurnEnded('withdrawn', null);
    return this.learn(now);
  }

  /** Like `read`, but throws TurnEnded after a stop, and an Interruption after a stop of the run that passes the message on. */
  async readUnlessStopped(store: Store = this.#work.deps.store): Promise<Turn> {
    const now = await this.read(store);
    if (now.stop_requested_at !== null) throw new TurnEnded('cancelled', null);
    if (now.passed_on_by_turn_id === null) return now;
    const run = await store.turns.get(now.workspace, now.passed_on_by_turn_id);
    const isStopping = run !== undefined && !isOver(run) && run.stop_requested_at !== null;
    if (isStopping || (await store.pausedThreads.pausedBy(now)) !== undefined)
      throw new Interruption('waits_again');
    return now;
  }

  /**
   * Takes a statement that freezes the message or intends to send it; false if it records nothing. A stop must come before it,
   * or find what it records. Of a turn's own stop, the turn's row says which came first. A message that another run passes on
   * stops with that run, so the thread is locked from the check to the statement. Throws like `readUnlessStopped`.
   */
  async writeUnlessStopped(write: (store: Store) => Promise<Turn | undefined>): Promise<boolean> {
    const { store } = this.#work.deps;
    // If the answer to the statement is lost, this process still knows that it has made no call.
    this.mayHaveSent = false;
    const lockAndWrite = async (locked: Store) => {
      await locked.threads.lock(this.#turn);
      await this.readUnlessStopped(locked);
      return write(locked);
    };
    const isPassedOn = this.#turn.passed_on_by_turn_id !== null;
    const written = await (isPassedOn ? store.transaction(lockAndWrite) : write(store));
    if (written !== undefined) this.learn(written);
    return written !== undefined;
  }

  /** Records that the message is at the service. */
  async recordSent(values: TurnUpdate): Promise<void> {
    this.learn(await this.#work.deps.store.turns.recordSent(this.#turn, values));
  }

  /** Records a step, and what waits to be recorded. */
  async record(values: TurnUpdate, taskIntent?: TaskIntent): Promise<void> {
    await this.write(async ({ values: earlier, posts }) => {
      const before = this.#turn;
      const all = { ...earlier, ...values };
      const recorded = await this.#work.deps.store.turns.record(before, all, { posts, taskIntent });
      // Meanwhile another statement may have returned a later row, or a later step waits.
      this.#turn = this.#turn === before ? recorded : { ...this.#turn, ...all };
    });
  }

  /** Takes a statement that records a step, or finishes the turn, with what waits to be recorded and with its posts. */
  async write(step: (rest: Required<Pick<LastStep, 'values' | 'posts'>>) => Promise<unknown>): Promise<void> {
    const values = await this.#takeUnrecorded();
    try {
      await this.#withPosts((posts) => step({ values, posts }));
    } catch (error) {
      this.#unrecorded = { ...values, ...this.#unrecorded };
      throw error;
    }
  }

  /** Gives the turn an earlier message, unless its own is frozen or it was stopped. */
  async reassign(message: Message): Promise<void> {
    const reassigned = await this.#work.deps.store.turns.reassign(this.#turn, message);
    if (reassigned !== undefined) this.learn(reassigned);
  }

  /** The thread leaves this task, and the turn's message is to be frozen anew. */
  async leaveTask(taskId: string): Promise<void> {
    const unsent = await this.#work.deps.store.transaction(async ({ threads, messages, turns }) => {
      await threads.leaveTask(this.#turn, taskId);
      await messages.leaveUnsent(messageKeyOf(this.#turn), 'waiting');
      return turns.record(this.#turn, { prompt: null, quotation_length: 0, send_intended_at: null });
    });
    this.learn(unsent);
  }

  /** Records a step, by which the turn reaches `phase`, with the next one or in a moment: it can be found out again. */
  recordSoon(values: TurnUpdate, phase = this.#turn.phase): void {
    this.#turn = { ...this.#turn, ...values, phase };
    this.#unrecorded = { ...this.#unrecorded, ...values };
    this.#recordTimer ??= setTimeout(() => {
      const { deps, lease } = this.#work;
      if (lease.remainingMs() <= 0) return;
      const onFailed = (err: unknown) =>
        deps.log.debug({ err, turn: this.#turn.id }, 'the next step records this one, too');
      this.#recording = this.record({}).catch(onFailed);
    }, RECORD_DELAY_MS);
  }

  /** Takes what waits to be recorded, for a statement that records it now. */
  async #takeUnrecorded(): Promise<TurnUpdate> {
    await this.#recording;
    clearTimeout(this.#recordTimer);
    this.#recordTimer = undefined;
    const values = this.#unrecorded ?? {};
    this.#unrecorded = undefined;
    return values;
  }
}
