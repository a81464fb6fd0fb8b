import { AgentError, undefinedIfNotFound } from '../../agent/errors.ts';
import { NO_LONGER_NEEDED } from '../../calls/waits.ts';
import { sleepWithLease, throwIfInterrupted } from '../runtime/outage-waits.ts';
import type { TurnMemory } from '../runtime/reply-memory.ts';
import { isReplySettled, keptSizeOf, type ReadReply, toReadReply } from './reply-blocks.ts';
import { type AnsweredMessage, acquireRead, isAtRest, lookForReply } from './reply-finder.ts';

/** An edit shows a read that is at most this old (ms) without another one. */
const FRESH_READ_MS = 400;
/** How long (ms) an edit waits for the permit to read, and for the read; then it shows the last read. */
const DUE_READ_TIMEOUT_MS = 1_000;
/** The longest pause between two reads of a silent reply (ms). */
const MAX_SILENT_INTERVAL_MS = 5_000;
/** How often in `settledTaskMs` the task of a reply that does not change is read: the reply may never settle. */
const TASK_READS = 6;

/** Where a reply is kept, and who gets it. */
export interface ReplyReaderOptions {
  memory: TurnMemory;
  /** Gets every state of the reply that is read. */
  onRead: (reply: ReadReply) => void;
  /** There is no room for the reply; false once there is. */
  onMemoryWait?: (isWaiting: boolean) => void;
}

/** The end of a reply. `hasSettled`: else it never did, and only its task did. */
export interface SettledReply {
  reply: ReadReply;
  hasSettled: boolean;
}

/** What is known of a reply after a read. */
interface LastRead {
  /** When (`performance.now()`). */
  at: number;
  /** Identifies what was read; '' before the first read. */
  fingerprint: string;
  /** How long to wait for the next read (ms), if the rate allows it sooner. */
  silentPauseMs: number;
  /** When the task of the reply is to be read, and since when it has shown itself settled. */
  taskDueAt: number;
  taskRestsSince: number | undefined;
}

/** Reads one reply until it has settled. */
export class ReplyReader {
  readonly #message: AnsweredMessage;
  readonly #options: ReplyReaderOptions;
  /** The service's id of the reply: another one than at first, if the service gave a wrong one. */
  replyId: string;
  #last: LastRead = {
    at: Number.NEGATIVE_INFINITY,
    fingerprint: '',
    silentPauseMs: 0,
    taskDueAt: 0,
    taskRestsSince: undefined,
  };
  #currentRead: Promise<ReadReply> | undefined;
  #settled: SettledReply | undefined;
  /** Aborted by the next read: the follower and a due edit wait for each other's. */
  #nextRead = new AbortController();

  constructor(message: AnsweredMessage, replyId: string, options: ReplyReaderOptions) {
    this.#message = message;
    this.replyId = replyId;
    this.#options = options;
  }

  /**
   * Reads until the reply has settled, and returns it. A reply that never settles is returned as it is, with its task's
   * status, once the task has been settled for `settledTaskMs` without a change of the reply. Throws an AgentError.
   */
  async readToEnd(): Promise<SettledReply> {
    const { rate, lease } = this.#message;
    const leave = rate.join();
    try {
      while (this.#settled === undefined) {
        const pauseMs = Math.max(rate.intervalMs(), this.#last.silentPauseMs);
        const left = this.#last.at + pauseMs - performance.now();
        const wake = this.#nextRead.signal;
        if (left > 0) await sleepWithLease(left, lease, wake);
        else if (await rate.acquire(lease.signal, wake)) await this.#readOnce();
      }
      return this.#settled;
    } finally {
      leave();
    }
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
    const { rate, lease } = this.#message;
    const granted = await rate.acquire(lease.signal, this.#nextRead.signal, DUE_READ_TIMEOUT_MS);
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
    return this.#settled !== undefined || performance.now() - this.#last.at < FRESH_READ_MS;
  }

  /** Reads the reply and, where that does not change, its task. */
  async #readOnce(): Promise<void> {
    throwIfInterrupted(this.#message.lease);
    const hasRead = this.#last.fingerprint !== '';
    const reply = await (hasRead ? this.read() : undefinedIfNotFound(() => this.read()));
    if (reply === undefined) {
      const { replyId } = await lookForReply(this.#message);
      this.replyId = replyId ?? this.replyId;
      await this.read();
    } else if (this.#settled === undefined && this.#last.at >= this.#last.taskDueAt)
      await this.#readTask(reply);
  }

  async #read(): Promise<ReadReply> {
    const { agent, taskId, lease } = this.#message;
    const { memory, onRead, onMemoryWait } = this.#options;
    const get = async () =>
      toReadReply(await agent.getMessage(taskId, this.replyId, { signal: lease.signal }));
    const reply = await memory.read('reply', get, keptSizeOf, { lease, onWait: onMemoryWait });
    this.#last = this.#knownAfter(reply);
    if (isReplySettled(reply)) this.#settled = { reply, hasSettled: true };
    onRead(reply);
    this.#nextRead.abort(NO_LONGER_NEEDED);
    this.#nextRead = new AbortController();
    return reply;
  }

  #knownAfter({ fingerprint }: ReadReply): LastRead {
    const { rate, settledTaskMs } = this.#message;
    const at = performance.now();
    if (fingerprint !== this.#last.fingerprint) {
      const taskDueAt = at + settledTaskMs / TASK_READS;
      return { at, fingerprint, silentPauseMs: 0, taskDueAt, taskRestsSince: undefined };
    }
    const pauseMs = Math.max(rate.intervalMs(), this.#last.silentPauseMs * 1.3);
    return { ...this.#last, at, silentPauseMs: Math.min(MAX_SILENT_INTERVAL_MS, pauseMs) };
  }

  /** Reads the task of a reply that does not change. */
  async #readTask(reply: ReadReply): Promise<void> {
    const { agent, taskId, lease, settledTaskMs } = this.#message;
    await acquireRead(this.#message);
    const { fingerprint } = this.#last;
    const { status } = await agent.getTask(taskId, { signal: lease.signal });
    // An edit may have read more of the reply meanwhile.
    if (this.#settled !== undefined || this.#last.fingerprint !== fingerprint) return;
    const now = performance.now();
    const taskRestsSince = isAtRest(this.#message, status) ? (this.#last.taskRestsSince ?? now) : undefined;
    this.#last = { ...this.#last, taskDueAt: now + settledTaskMs / TASK_READS, taskRestsSince };
    if (taskRestsSince === undefined || now - taskRestsSince < settledTaskMs) return;
    const outcome = status === 'cancelled' || status === 'failed' ? status : 'completed';
    this.#settled = { reply: { ...reply, status: outcome }, hasSettled: false };
  }
}
