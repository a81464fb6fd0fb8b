import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { within } from '../calls/retries-and-waits.ts';
import { isEarlierTs } from '../relay/runtime/incoming-message.ts';
import { FailingTime } from '../relay/runtime/retry-and-giving-up.ts';
import { StoreError } from '../store/errors.ts';

export interface BufferableEvent {
  /** Slack's id, the same in each delivery. */
  id: string;
  /** Events of one thread are written in the order of their ts. */
  thread: string;
  ts: string;
  size(): number;
  /** Throws a StoreError if the database cannot take it now. `isKept`: Slack does not wait for it any more. */
  write(isKept: boolean): Promise<void>;
  /** Records that it is missing. Throws a StoreError if the database cannot take that either. */
  recordLoss(): Promise<void>;
  /** It was refused for too long: whom it concerns should know. Returns at once; never throws. */
  onGivenUp?(): void;
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
  /** How long an event may fail, while the database takes other writes, before it is given up (ms). */
  badThingMs?: number;
  /** From when on it is trouble that no event is written (ms): a short outage passes before. */
  troubleMs?: number;
  /** Whether the database has taken another write after `at` (`performance.now()`). */
  hasWrittenAfter?: (at: number) => boolean;
}

interface KeptEvent {
  event: BufferableEvent;
  bytes: number;
  written: PromiseWithResolvers<void>;
  /** How often it failed for another reason than an outage. */
  refusals: number;
}

interface KeptThread {
  readonly events: Map<string, KeptEvent>;
  failing: FailingTime;
  /** The pause after the last failure (ms), and when it ends (`performance.now()`). */
  pauseMs: number;
  dueAt: number;
  isWriting: boolean;
}

/** Refused so often, an event is given up: not each error that comes with an outage says so. */
const MAX_REFUSALS = 3;
/** How many threads are written at a time once the database is back. */
const MAX_PARALLEL = 20;
/** The longest pause of a thread at which the database fails while it takes others (ms). */
const MAX_PAUSE_MS = 15_000;
/** How long the end of the process waits until what is missing is recorded (ms). */
const LAST_RECORD_MS = 1_000;

/**
 * Writes events, and keeps those in memory that the database cannot take, until it can: Slack sends an event again after
 * a minute at the earliest. Each stays unacknowledged, so that Slack's retry is a second copy, should this process end.
 */
export class EventBuffer {
  readonly #options: Required<EventBufferOptions>;
  /** In the order in which the threads are tried: those that fail go to the end. */
  readonly #kept = new Map<string, KeptThread>();
  /** Those that are being written for the first time, by id: Slack sends one again that takes long. */
  readonly #tried = new Map<string, Promise<void>>();
  readonly #stopped = new AbortController();
  #events = 0;
  #bytes = 0;
  #isWriting = false;
  #lastWrittenAt = Number.NEGATIVE_INFINITY;
  /** Since when (`performance.now()`) each event failed, and why the last one did. */
  #failure: { since: number; why: unknown } | undefined;

  constructor(options: EventBufferOptions) {
    this.#options = {
      maxEvents: 10_000,
      maxBytes: 32 * 1024 * 1024,
      deadlineMs: 2_700,
      retryMs: 500,
      badThingMs: 10 * 60_000,
      troubleMs: 15_000,
      hasWrittenAfter: () => false,
      ...options,
    };
  }

  /**
   * Writes an event, after the earlier ones of its thread that are kept. Throws a StoreError if it is not written in time;
   * it is then written later, if there is room for it.
   */
  async write(event: BufferableEvent): Promise<void> {
    const written =
      this.#tried.get(event.id) ?? (this.#kept.has(event.thread) ? this.#keep(event) : this.#tryOnce(event));
    if ((await within(this.#options.deadlineMs, written, 'late' as const)) === 'late')
      throw new StoreError('unavailable', 'The database did not answer in time.');
  }

  /** Why nothing is recorded, as a sentence: the events of several threads fail, and none was written for a while. */
  get trouble(): string | undefined {
    const { since = Number.POSITIVE_INFINITY, why } = this.#failure ?? {};
    const failingMs = performance.now() - since;
    if (failingMs < this.#options.troubleMs || this.#kept.size < 2) return undefined;
    return `no event was recorded for ${Math.round(failingMs / 1_000)} s (${String(why)})`;
  }

  /** Gives up what is kept: Slack sends it to another process, or after the next start. What it no longer sends is read back. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    const kept = [...this.#kept.values()].flatMap(({ events }) => [...events.values()]);
    const recorded = Promise.allSettled(kept.map(({ event }) => event.recordLoss()));
    await within(LAST_RECORD_MS, recorded, undefined);
  }

  #tryOnce(event: BufferableEvent): Promise<void> {
    const written = this.#writeOut(event, false)
      .finally(() => this.#tried.delete(event.id))
      .catch((error: unknown) => {
        if (error instanceof StoreError) this.#keep(event).catch(() => undefined);
        throw error;
      });
    this.#tried.set(event.id, written);
    return written;
  }

  async #writeOut(event: BufferableEvent, isKept: boolean): Promise<void> {
    try {
      await event.write(isKept);
      this.#lastWrittenAt = performance.now();
      this.#failure = undefined;
    } catch (error) {
      this.#failure = { since: this.#failure?.since ?? performance.now(), why: error };
      throw error;
    }
  }

  async #keep(event: BufferableEvent): Promise<void> {
    const begun = { events: new Map(), failing: new FailingTime(), pauseMs: 0, dueAt: 0, isWriting: false };
    const thread: KeptThread = this.#kept.get(event.thread) ?? begun;
    const known = thread.events.get(event.id);
    if (known !== undefined) return known.written.promise;
    const { maxEvents, maxBytes, log } = this.#options;
    const bytes = event.size();
    if (this.#events >= maxEvents || this.#bytes + bytes > maxBytes)
      throw new StoreError('unavailable', 'The database is unavailable, and the memory for events is full.');
    const kept = { event, bytes, written: Promise.withResolvers<void>(), refusals: 0 };
    thread.events.set(event.id, kept);
    this.#kept.set(event.thread, thread);
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
    const before = this.#events;
    const running = new Set<Promise<void>>();
    let parallel = 1;
    while (this.#events > 0 && !this.#stopped.signal.aborted) {
      const now = performance.now();
      for (const [name, thread] of this.#kept) {
        if (running.size >= parallel) break;
        if (thread.isWriting || thread.dueAt > now) continue;
        thread.isWriting = true;
        const run = this.#writeFirst(name, thread).then((isBack) => {
          thread.isWriting = false;
          if (isBack) parallel = MAX_PARALLEL;
          else if (this.#lastWrittenAt < now) parallel = 1;
          running.delete(run);
        });
        running.add(run);
      }
      await Promise.race([...running, sleep(retryMs)]);
      if (parallel === 1) await sleep(retryMs);
    }
    this.#isWriting = false;
    log.info({ events: before - this.#events }, 'recorded the events that were kept in memory');
  }

  /** Whether the database answered: it took the thread's first event, or refused it. */
  async #writeFirst(name: string, thread: KeptThread): Promise<boolean> {
    const all = [...thread.events.values()];
    const first = all.reduce((one, other) => (isEarlierTs(other.event.ts, one.event.ts) ? other : one));
    try {
      await this.#writeOut(first.event, true);
    } catch (error) {
      const isRefused = !(error instanceof StoreError);
      if (isRefused) first.refusals += 1;
      if (isRefused && first.refusals < MAX_REFUSALS) return true;
      const isGivenUp = isRefused || (await this.#isBad(thread));
      const [loss] = await Promise.allSettled(isGivenUp ? [first.event.recordLoss()] : []);
      if (loss?.status !== 'fulfilled') {
        // The others are tried first.
        thread.dueAt = performance.now() + thread.pauseMs;
        this.#kept.delete(name);
        this.#kept.set(name, thread);
        return false;
      }
      // Slack sends a mention twice; only one of the two says whom to tell.
      for (const copy of [...thread.events.values()].filter(({ event }) => event.ts === first.event.ts)) {
        this.#options.log.error({ err: error, event: copy.event.id }, 'an event could not be recorded');
        copy.event.onGivenUp?.();
        copy.written.reject(error);
        this.#remove(name, thread, copy);
      }
      return true;
    }
    first.written.resolve();
    this.#remove(name, thread, first);
    return true;
  }

  /** Whether the thread's first event has failed for too long while the database took other writes. */
  async #isBad(thread: KeptThread): Promise<boolean> {
    const { badThingMs, hasWrittenAfter } = this.#options;
    const failedMs = await thread.failing.count((at) => this.#lastWrittenAt > at || hasWrittenAfter(at));
    // In an outage all wait for the same, and are written soon after it.
    thread.pauseMs = failedMs > 0 ? Math.min(MAX_PAUSE_MS, 2 * thread.pauseMs) : this.#options.retryMs;
    return failedMs >= badThingMs;
  }

  #remove(name: string, thread: KeptThread, { event, bytes }: KeptEvent): void {
    thread.events.delete(event.id);
    thread.failing = new FailingTime();
    if (thread.events.size === 0) this.#kept.delete(name);
    if (this.#kept.size === 0) this.#failure = undefined;
    this.#events -= 1;
    this.#bytes -= bytes;
  }
}
