import type { AgentClient } from '../../agent/agent-client.ts';
import { AgentError, undefinedIfNotFound } from '../../agent/errors.ts';
import type { Task } from '../../agent/service-schema.ts';
import type { Lease } from '../runtime/lease.ts';
import type { ReadRate } from '../runtime/read-rate.ts';
import type { TurnMemory } from '../runtime/reply-memory.ts';
import { type InterruptibleWait, sleepWithLease, throwIfInterrupted } from '../runtime/retry.ts';
import { isReplySettled, keptSizeOf, type ReadReply, toReadReply } from './reply-blocks.ts';

/** An edit shows a read that is at most this old (ms) without another one. */
const FRESH_READ_MS = 400;
/** How long (ms) an edit waits for the permit to read, and for the read; then it shows the last read. */
const DUE_READ_TIMEOUT_MS = 1_000;
/** The longest pause between two reads of a silent reply (ms). */
const MAX_SILENT_INTERVAL_MS = 5_000;
/** How long (ms) a task of which nothing more is expected must show itself settled to count as settled. */
export const SETTLED_TASK_SHORT_MS = 3_000;
/** How often in `settledTaskMs` the task of a reply that does not change is read: the reply may never settle. */
const TASK_READS = 6;

export interface ReplyReaderOptions {
  agent: AgentClient;
  taskId: string;
  userMessageId: string;
  rate: ReadRate;
  lease: Lease;
  /** How long (ms) a task must show itself settled to count as settled: its status may lag behind a message. */
  settledTaskMs: number;
  /** Whether a person has asked to stop the turn. */
  isStopped(): boolean;
  /** The ids of the replies to other messages of the task, the latest first. */
  otherReplies(): Promise<readonly string[]>;
  memory: TurnMemory;
  /** Gets every state of the reply that is read. */
  onRead(reply: ReadReply): void;
  /** There is no room for the reply; false once there is. */
  onMemoryWait?: (isWaiting: boolean) => void;
}

/** Reads one reply until it has settled. */
export class ReplyReader {
  readonly #options: ReplyReaderOptions;
  #replyId: string | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #currentRead: Promise<ReadReply> | undefined;
  #isSettled = false;
  /** The settled reply, once it was read by itself: in a list, or in the answer to a send, it may be incomplete. */
  #settledReply: ReadReply | undefined;
  #endedWithTask = false;
  /** The fingerprint of the last read. */
  #lastFingerprint = '';
  #taskDueAt = 0;
  #taskSettledSince: number | undefined;
  /** Whether the service names the message that a reply answers, by the reply before ours. */
  #repliesAreNamed: boolean | undefined;
  /** The waits of the follower and of a due edit: the other's read ends them. */
  readonly #followerWait: InterruptibleWait = { end: undefined };
  #dueWait: InterruptibleWait | undefined;

  constructor(options: ReplyReaderOptions) {
    this.#options = options;
  }

  /** Whether the reply never settled: its task did. */
  get endedWithTask(): boolean {
    return this.#endedWithTask;
  }

  /**
   * Finds the reply to our message, unless its id is known; returns its id, or undefined once the task shows itself settled
   * without one for `settledMs`. Throws an AgentError.
   */
  async find(
    knownId: string | undefined,
    settledMs: () => number | Promise<number> = () =>
      this.#options.isStopped() ? SETTLED_TASK_SHORT_MS : this.#options.settledTaskMs,
  ): Promise<string | undefined> {
    this.#replyId = knownId ?? (await this.#waitForReply(settledMs));
    return this.#replyId;
  }

  /**
   * Reads until the reply has settled, and returns it. A reply that never settles is returned as it is, with its task's
   * status, once the task has been settled for `settledTaskMs` without a change of the reply. Throws an AgentError.
   */
  async readToEnd(): Promise<ReadReply> {
    const { rate, lease } = this.#options;
    const leave = rate.join();
    try {
      let waitMs = 0;
      let previousFingerprint = '';
      for (;;) {
        if (this.#settledReply !== undefined) return this.#settledReply;
        // A read for an edit counts here too, and may have found that a silent reply continues.
        if (waitMs > 0 && this.#lastFingerprint !== previousFingerprint) waitMs = rate.intervalMs();
        previousFingerprint = this.#lastFingerprint;
        const left = this.#readAt + waitMs - performance.now();
        if (left > 0) {
          await sleepWithLease(left, lease, this.#followerWait);
          continue;
        }
        const granted = await rate.acquire(lease.signal, this.#followerWait);
        throwIfInterrupted(lease);
        if (!granted) continue;
        const reply = await this.read();
        if (this.#settledReply === undefined && this.#readAt >= this.#taskDueAt) await this.#readTask(reply);
        const base = rate.intervalMs();
        waitMs =
          this.#lastFingerprint === previousFingerprint
            ? Math.min(Math.max(MAX_SILENT_INTERVAL_MS, base), Math.max(base, waitMs * 1.3))
            : base;
        previousFingerprint = this.#lastFingerprint;
      }
    } finally {
      leave();
    }
  }

  /** The id of the reply by the task's list, if none was read under another id that the service gave. */
  async findElsewhere(): Promise<string | undefined> {
    if (this.#lastFingerprint !== '') return undefined;
    const { agent, taskId, lease } = this.#options;
    const { named, unnamed } = await this.#listReplies();
    const found =
      named ??
      (await this.#ownAmong(unnamed, await agent.getTask(taskId, { signal: lease.signal })))?.messageId;
    if (found === undefined || found === this.#replyId) return undefined;
    this.#replyId = found;
    return found;
  }

  /** Reads the reply; concurrent callers share one read. */
  async read(): Promise<ReadReply> {
    this.#currentRead ??= this.#read().finally(() => {
      this.#currentRead = undefined;
    });
    return this.#currentRead;
  }

  /** Reads the reply for an edit that is about to show it, as far as the rate allows and the service answers. */
  async refresh(): Promise<void> {
    if (this.#isFresh()) return;
    const { rate, lease } = this.#options;
    const wait: InterruptibleWait = { end: undefined };
    this.#dueWait = wait;
    const granted = await rate.acquire(lease.signal, wait, DUE_READ_TIMEOUT_MS);
    if (this.#dueWait === wait) this.#dueWait = undefined;
    if (!granted || this.#isFresh()) return;
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, DUE_READ_TIMEOUT_MS);
    try {
      await Promise.race([this.read(), late]);
    } catch (error) {
      // The follower gets the same error, and the thread shows it.
      if (!(error instanceof AgentError)) throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #isFresh(): boolean {
    return this.#replyId === undefined || this.#isSettled || performance.now() - this.#readAt < FRESH_READ_MS;
  }

  async #read(): Promise<ReadReply> {
    const { agent, taskId, lease, memory, onMemoryWait } = this.#options;
    const id = this.#replyId;
    if (id === undefined) throw new Error('The reply has not been found yet.');
    const get = async () => toReadReply(await agent.getMessage(taskId, id, { signal: lease.signal }));
    const reply = await memory.read('reply', get, keptSizeOf, { lease, onWait: onMemoryWait });
    this.#recordRead(reply);
    if (this.#isSettled) this.#settledReply = reply;
    this.#followerWait.end?.();
    this.#dueWait?.end?.();
    return reply;
  }

  #recordRead(reply: ReadReply): void {
    const { fingerprint } = reply;
    this.#readAt = performance.now();
    this.#isSettled = isReplySettled(reply);
    if (fingerprint !== this.#lastFingerprint) {
      this.#taskDueAt = this.#readAt + this.#options.settledTaskMs / TASK_READS;
      this.#taskSettledSince = undefined;
    }
    this.#lastFingerprint = fingerprint;
    this.#options.onRead(reply);
  }

  /** Reads the task of a reply that does not change. */
  async #readTask(reply: ReadReply): Promise<void> {
    const { agent, taskId, lease, settledTaskMs } = this.#options;
    await this.#acquireRead();
    const fingerprint = this.#lastFingerprint;
    const { status } = await agent.getTask(taskId, { signal: lease.signal });
    // An edit may have read more of the reply meanwhile.
    if (this.#settledReply !== undefined || this.#lastFingerprint !== fingerprint) return;
    const now = performance.now();
    this.#taskDueAt = now + settledTaskMs / TASK_READS;
    this.#taskSettledSince = this.#isAtRest(status) ? (this.#taskSettledSince ?? now) : undefined;
    if (this.#taskSettledSince === undefined || now - this.#taskSettledSince < settledTaskMs) return;
    this.#isSettled = true;
    this.#endedWithTask = true;
    this.#settledReply = {
      ...reply,
      status: status === 'cancelled' || status === 'failed' ? status : 'completed',
    };
  }

  /** Waits for the reply to begin, at the pace of the rate. */
  async #waitForReply(settledMs: () => number | Promise<number>): Promise<string | undefined> {
    const { agent, taskId, rate, lease } = this.#options;
    const leave = rate.join();
    try {
      for (let settledSince: number | undefined; ; ) {
        const { named, unnamed } = await this.#listReplies();
        if (named !== undefined) return named;
        await this.#acquireRead();
        const task = await agent.getTask(taskId, { signal: lease.signal });
        const own = await this.#ownAmong(unnamed, task);
        if (own?.isCertain === true) return own.messageId;
        const now = performance.now();
        settledSince = this.#isAtRest(task.status) ? (settledSince ?? now) : undefined;
        if (settledSince !== undefined && now - settledSince >= (await settledMs())) return own?.messageId;
        await sleepWithLease(rate.intervalMs(), lease);
        await this.#acquireRead();
      }
    } finally {
      leave();
    }
  }

  async #acquireRead(): Promise<void> {
    await this.#options.rate.acquire(this.#options.lease.signal);
    throwIfInterrupted(this.#options.lease);
  }

  /** Whether nothing more is expected of a task in this status. After a stop, only a task at work goes on. */
  #isAtRest(status: string): boolean {
    return isTaskSettled(status) || (this.#options.isStopped() && status !== 'running');
  }

  /** The assistant message that names ours, and those before the next message that name none. */
  async #listReplies(): Promise<{ named?: string; unnamed: readonly string[] }> {
    const { agent, taskId, userMessageId, lease } = this.#options;
    const unnamed: string[] = [];
    let next = false;
    for await (const message of agent.messagesAfter(taskId, userMessageId, { signal: lease.signal })) {
      if (message.role === 'user') next = true;
      if (message.role !== 'assistant') continue;
      const answered = message.input?.userMessageId ?? null;
      if (answered === userMessageId) return { named: message.id, unnamed };
      if (answered === null && !next) unnamed.push(message.id);
    }
    return { unnamed };
  }

  /**
   * The first of these messages that is neither a review's nor another reply. `isCertain`: no message of the task may yet
   * name ours, as the reply before does not name its own.
   */
  async #ownAmong(
    unnamed: readonly string[],
    { reviews }: Task,
  ): Promise<{ messageId: string; isCertain: boolean } | undefined> {
    if (unnamed.length === 0) return undefined;
    const others = await this.#options.otherReplies();
    const messageId = unnamed.find(
      (id) => !others.includes(id) && !reviews.some((review) => review.messageId === id),
    );
    if (messageId === undefined) return undefined;
    this.#repliesAreNamed ??= await this.#isNamed(others[0]);
    return { messageId, isCertain: !this.#repliesAreNamed };
  }

  async #isNamed(replyId: string | undefined): Promise<boolean> {
    const { agent, taskId, lease } = this.#options;
    if (replyId === undefined) return false;
    const reply = await undefinedIfNotFound(() =>
      agent.getMessage(taskId, replyId, { signal: lease.signal }),
    );
    return (reply?.input?.userMessageId ?? null) !== null;
  }
}

/** Whether a task does not work: `idle` where it has none of our messages yet. */
export function isTaskSettled(status: string): status is 'completed' | 'cancelled' | 'failed' | 'idle' {
  return status === 'completed' || status === 'cancelled' || status === 'failed' || status === 'idle';
}
