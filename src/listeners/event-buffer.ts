import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isEarlierTs } from '../relay/runtime/incoming-message.ts';
import { StoreError } from '../store/errors.ts';

export interface BufferableEvent {
  /** Slack's id, the same in each delivery. */
  id: string;
  /** Events of one thread are written in the order of their ts. */
  thread: string;
  ts: string;
  size(): number;
  /** Throws a StoreError where the database cannot take it now. */
  write(): Promise<void>;
}

export interface EventBufferOptions {
  log: Logger;
  /** What is kept at most; beyond it, Slack's own retries serve. */
  maxEvents?: number;
  maxBytes?: number;
  /** How long a delivery waits (ms): Slack waits 3 s. */
  deadlineMs?: number;
  /** The pause before the database is tried again (ms). */
  retryMs?: number;
}

interface KeptEvent {
  event: BufferableEvent;
  bytes: number;
  written: PromiseWithResolvers<void>;
  /** How often it failed for another reason than an outage. */
  refusals: number;
}

/** Refused so often, an event is given up: not each error that comes with an outage says so. */
const MAX_REFUSALS = 3;
/** How many threads are written at a time once the database is back. */
const MAX_PARALLEL = 20;

/**
 * Writes events, and keeps those in memory that the database cannot take, until it can: Slack sends an event again after
 * a minute at the earliest. Each stays unacknowledged, so that Slack's retry is a second copy, should this process end.
 */
export class EventBuffer {
  readonly #options: Required<EventBufferOptions>;
  /** By thread, then by id. */
  readonly #kept = new Map<string, Map<string, KeptEvent>>();
  readonly #stopped = new AbortController();
  #events = 0;
  #bytes = 0;
  #isWriting = false;

  constructor(options: EventBufferOptions) {
    this.#options = {
      maxEvents: 10_000,
      maxBytes: 32 * 1024 * 1024,
      deadlineMs: 2_700,
      retryMs: 500,
      ...options,
    };
  }

  /**
   * Writes an event, after the earlier ones of its thread that are kept. Throws a StoreError if it is not written in time;
   * it is then written later, if there is room for it.
   */
  async write(event: BufferableEvent): Promise<void> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(new StoreError('unavailable', 'The database did not answer in time.')),
      this.#options.deadlineMs,
    );
    const written = this.#kept.has(event.thread) ? this.#keep(event) : this.#tryOnce(event);
    try {
      await Promise.race([written, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Gives up what is kept: Slack sends it to another process, or after the next start. */
  async stop(): Promise<void> {
    this.#stopped.abort();
  }

  async #tryOnce(event: BufferableEvent): Promise<void> {
    try {
      await event.write();
    } catch (error) {
      if (error instanceof StoreError) this.#keep(event).catch(() => undefined);
      throw error;
    }
  }

  async #keep(event: BufferableEvent): Promise<void> {
    const thread = this.#kept.get(event.thread) ?? new Map<string, KeptEvent>();
    const known = thread.get(event.id);
    if (known !== undefined) return known.written.promise;
    const { maxEvents, maxBytes, log } = this.#options;
    const bytes = event.size();
    if (this.#events >= maxEvents || this.#bytes + bytes > maxBytes)
      throw new StoreError('unavailable', 'The database is unavailable, and the memory for events is full.');
    const kept = { event, bytes, written: Promise.withResolvers<void>(), refusals: 0 };
    this.#kept.set(event.thread, thread.set(event.id, kept));
    this.#events += 1;
    this.#bytes += bytes;
    if (!this.#isWriting) {
      log.warn('events cannot be recorded; keeping them in memory until the database is back');
      void this.#writeKept();
    }
    return kept.written.promise;
  }

  /** Tries one event until the database takes it, then the others: the threads at once, each in its order. */
  async #writeKept(): Promise<void> {
    const { retryMs, log } = this.#options;
    this.#isWriting = true;
    let parallel = 1;
    let count = 0;
    while (this.#events > 0 && !this.#stopped.signal.aborted) {
      const threads = [...this.#kept.values()].slice(0, parallel);
      const isBack = await Promise.all(threads.map((thread) => this.#writeFirst(thread)));
      count += isBack.filter(Boolean).length;
      parallel = isBack.includes(false) ? 1 : MAX_PARALLEL;
      if (parallel === 1) await sleep(retryMs);
    }
    this.#isWriting = false;
    log.info({ events: count }, 'recorded the events that were kept in memory');
  }

  /** Whether the database answered: it took the thread's first event, or refused it. */
  async #writeFirst(thread: Map<string, KeptEvent>): Promise<boolean> {
    const all = [...thread.values()];
    const first = all.reduce((one, other) => (isEarlierTs(other.event.ts, one.event.ts) ? other : one));
    const { event, bytes, written } = first;
    try {
      await event.write();
      written.resolve();
    } catch (error) {
      if (error instanceof StoreError) return false;
      first.refusals += 1;
      if (first.refusals < MAX_REFUSALS) return true;
      this.#options.log.warn({ err: error, event: event.id }, 'an event could not be recorded');
      written.reject(error);
    }
    thread.delete(event.id);
    if (thread.size === 0) this.#kept.delete(event.thread);
    this.#events -= 1;
    this.#bytes -= bytes;
    return true;
  }
}
