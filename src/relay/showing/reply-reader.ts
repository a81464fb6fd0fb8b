import type { AgentClient } from '../../agent/client.ts';
import type { Message as AgentMessage } from '../../agent/schema.ts';
import type { Lease } from '../lease.ts';
import { checkpoint, passing, pause, type Wait } from '../patience.ts';
import { fingerprint } from './fingerprint.ts';
import type { ReadRate } from './read-rate.ts';

/** A read this fresh (ms) serves an edit; an older one is made anew. */
const freshMs = 400;
/** How often a task that still works in the background is asked (ms). */
const backgroundEveryMs = 2_000;
/** An edit waits so long (ms) for a turn to read, and for the read; then it shows what was read last. */
const dueMs = 1_000;
/** A silent reply is read less and less often, down to once in so long (ms). */
const longestPauseMs = 5_000;

/** Whose reply is read, how, and who hears of it. */
export interface ReplyReaderOptions {
  agent: AgentClient;
  taskId: string;
  userMessageId: string;
  rate: ReadRate;
  lease: Lease;
  /** Hears every state of the reply that is read, and its fingerprint. */
  onRead(message: AgentMessage, print: string): void;
}

/** Reads one reply until it has settled. */
export class ReplyReader {
  readonly #options: ReplyReaderOptions;
  #replyId: string | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<AgentMessage> | undefined;
  #settled = false;
  /** The settled reply, once it was read; a list's or a send's answer does not count. */
  #end: AgentMessage | undefined;
  /** The fingerprint of the last read. */
  #print = '';
  /** What the follower, and an edit that is due, wait for: a read of the other's ends it. */
  readonly #wait: Wait = { end: undefined };
  #dueWait: Wait | undefined;

  constructor(options: ReplyReaderOptions) {
    this.#options = options;
  }

  /**
   * Finds the reply to our message. Undefined where the task settled without one. Throws AgentError.
   */
  async find(known: AgentMessage | null): Promise<AgentMessage | undefined> {
    const found = known !== null && this.#answersUs(known) ? known : await this.#search();
    if (found === undefined) return undefined;
    this.#replyId = found.id;
    this.#take(found);
    return found;
  }

  /** Reads until the reply has settled; the answer is its last state. Throws AgentError. */
  async toEnd(): Promise<AgentMessage> {
    const { rate, lease } = this.#options;
    const leave = rate.join();
    try {
      let waitMs = 0;
      let seen = '';
      for (;;) {
        if (this.#end !== undefined) return this.#end;
        // A read that served an edit serves here too, and may have found that a silent reply moves again.
        if (waitMs > 0 && this.#print !== seen) waitMs = rate.intervalMs();
        seen = this.#print;
        const left = this.#readAt + waitMs - performance.now();
        if (left > 0) {
          await pause(left, lease, this.#wait);
          continue;
        }
        const had = await rate.turn(lease.signal, { wait: this.#wait });
        checkpoint(lease);
        if (!had) continue;
        await this.read();
        const base = rate.intervalMs();
        waitMs =
          this.#print === seen
            ? Math.min(Math.max(longestPauseMs, base), Math.max(base, waitMs * 1.3))
            : base;
        seen = this.#print;
      }
    } finally {
      leave();
    }
  }

  /** The reply as it is now; several who ask at once share one read. */
  async read(): Promise<AgentMessage> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** Makes sure that what is shown next is fresh, as far as the rate allows and the service answers. */
  async freshen(): Promise<void> {
    if (this.#isFresh()) return;
    const { rate, lease } = this.#options;
    const wait: Wait = { end: undefined };
    this.#dueWait = wait;
    const had = await rate.turn(lease.signal, { due: true, withinMs: dueMs, wait });
    if (this.#dueWait === wait) this.#dueWait = undefined;
    if (!had || this.#isFresh()) return;
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, dueMs);
    try {
      await Promise.race([this.read(), late]);
    } catch (error) {
      // Whoever follows the reply meets it too, and the thread is told.
      if (passing(error) === undefined) throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #isFresh(): boolean {
    return this.#replyId === undefined || this.#settled || performance.now() - this.#readAt < freshMs;
  }

  async #read(): Promise<AgentMessage> {
    const { agent, taskId, lease } = this.#options;
    if (this.#replyId === undefined) throw new Error('The reply has not been found yet.');
    const message = await agent.getMessage(taskId, this.#replyId, { signal: lease.signal });
    this.#take(message);
    if (this.#settled) this.#end = message;
    this.#wait.end?.();
    this.#dueWait?.end?.();
    return message;
  }

  #take(message: AgentMessage): void {
    this.#readAt = performance.now();
    this.#settled = isSettled(message);
    this.#print = fingerprint(message);
    this.#options.onRead(message, this.#print);
  }

  /** Looks for the reply, at the rate's pace after a first look. */
  async #search(): Promise<AgentMessage | undefined> {
    const { agent, taskId, rate, lease } = this.#options;
    const leave = rate.join();
    try {
      for (let settledReads = 0; ; ) {
        const found = await this.#look();
        if (found !== undefined) return found;
        await this.#turn();
        const task = await agent.getTask(taskId, { signal: lease.signal });
        settledReads = isSettledTask(task.status) ? settledReads + 1 : 0;
        // The task may settle between the two reads, so a settled task is looked at twice more.
        if (settledReads > 2) return undefined;
        await pause(rate.intervalMs(), lease);
        await this.#turn();
      }
    } finally {
      leave();
    }
  }

  async #turn(): Promise<void> {
    await this.#options.rate.turn(this.#options.lease.signal);
    checkpoint(this.#options.lease);
  }

  /** The assistant message that names ours, or else the first one after ours. */
  async #look(): Promise<AgentMessage | undefined> {
    const { agent, taskId, userMessageId, lease } = this.#options;
    let first: AgentMessage | undefined;
    let next = false;
    for await (const message of agent.messagesAfter(taskId, userMessageId, { signal: lease.signal })) {
      if (message.role === 'user') next = true;
      if (message.role !== 'assistant') continue;
      const answered = message.input?.userMessageId ?? null;
      if (answered === userMessageId) return message;
      if (answered === null && !next) first ??= message;
    }
    return first;
  }

  #answersUs(message: AgentMessage): boolean {
    const answered = message.input?.userMessageId;
    return answered === undefined || answered === null || answered === this.#options.userMessageId;
  }
}

/** Whether a reply is complete, whatever came of it. */
export function isSettled(message: AgentMessage): boolean {
  return (
    message.status === 'completed' ||
    message.status === 'cancelled' ||
    message.status === 'failed' ||
    (message.status === null && message.completedAt !== null)
  );
}

/** Whether a task has come to rest. */
export function isSettledTask(status: string): boolean {
  return status === 'completed' || status === 'cancelled' || status === 'failed';
}

/**
 * A reply may be complete while its task still works: results and the next message wait for it, but not longer than
 * `mostMs`. The answer is whether it still works, or was cancelled; `onWait` hears that it works.
 */
export async function worksOn(
  agent: AgentClient,
  taskId: string,
  mostMs: number,
  lease: Lease,
  onWait: () => void,
): Promise<'working' | 'cancelled' | 'over'> {
  const until = performance.now() + mostMs;
  for (;;) {
    const { status } = await agent.getTask(taskId, { signal: lease.signal });
    if (isSettledTask(status)) return status === 'cancelled' ? 'cancelled' : 'over';
    onWait();
    if (performance.now() >= until) return 'working';
    await pause(backgroundEveryMs, lease);
  }
}
