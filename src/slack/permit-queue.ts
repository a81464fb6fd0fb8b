import type { Logger } from 'pino';
import { type Asking, currentAsking } from '../calls/askers.ts';
import type { LeaseGuard } from '../calls/retries-and-waits.ts';
import { SlackLeaseError } from './errors.ts';

/** The rate limits that all processes share. */
export interface PermitStore {
  /**
   * Asks for one permit of a workspace's rate limit. Returns 0 if granted, otherwise the ms until it is worth asking
   * again. `burst` permits are granted at once after a long rest. Callers may pass another burst each time.
   */
  take(workspace: string, limitKey: string, rateLimit: { perMinute: number; burst: number }): Promise<number>;
  /** After a refusal by Slack: no process gets a permit for `ms`, and after that all go slower for some minutes. */
  pause(workspace: string, limitKey: string, ms: number): Promise<void>;
}

/**
 * The rate of a method. At most `burst + perMinute` permits fall into any minute, so keep the sum at or below Slack's
 * limit. Final edits may use `deepBurst` while others wait.
 */
export interface RateLimit {
  readonly perMinute: number;
  readonly burst: number;
  readonly deepBurst?: number;
}

/** Who goes first: the smaller order, then the smaller `since`, then the earlier request. */
export interface Priority {
  /** 0 may use the deep burst. */
  order: number;
  /**
   * In ms on any clock that all requests of this order share, such as when unseen text arrived. Left out: askers take
   * turns, so that nobody's many requests hold up another's first one.
   */
  since?: number;
}

/** A request for a permit. Its functions are called whenever a permit is available. */
export interface PermitRequest {
  /** Left out: by how soon the asker needs it. */
  priority?: (() => Priority) | undefined;
  /** Not before this moment, on the clock of `performance.now()` (ms). */
  notBefore?: (() => number) | undefined;
  /** Withdraws the request. */
  signal?: AbortSignal | undefined;
  /** Withdraws it with a SlackLeaseError when the lease is lost. */
  guard?: LeaseGuard | undefined;
  /** Give up without a permit after this time (ms). */
  maxWaitMs?: number | undefined;
  /** One that was waited for before: the first call needs no other. */
  permit?: Permit | undefined;
}

/** The right to send one request now. */
export interface Permit {
  /** Returns it unused, for the next request in this process. */
  release(): void;
}

export interface PermitQueueOptions {
  store: PermitStore;
  workspace: string;
  limitKey: string;
  rateLimit: RateLimit;
  log: Logger;
}

interface Waiter extends PermitRequest {
  askedAt: number;
  asking: Asking;
  deadline: number;
  currentPriority: Required<Priority>;
  /** Its `notBefore`. */
  earliestAt: number;
  /** May use the deep burst. */
  usesDeepBurst: boolean;
  /** When both `earliestAt` and the rate limit allow it. */
  readyAt: number;
  /** With undefined if no permit came in time. */
  resolve(permit: Permit | undefined): void;
  reject(error: unknown): void;
  onAbort: () => void;
}

/** How long a returned permit can be used (ms): later it would count in another minute. */
const RETURNED_PERMIT_TTL_MS = 1_000;
/** After this many permits in a row that passed over a lower priority, the longest-waiting request gets one. */
const MAX_TIMES_PASSED_OVER = 10;
/**
 * After a grant, a process asks this much later than the store says (ms), and half as much after each refusal. The store
 * tells all processes the same moment, so the one with the fastest connection would otherwise always win.
 */
const GRANT_BACKOFF_MS = 32;
const STORE_RETRY_MS = { first: 250, max: 5_000 };
/** setTimeout's own limit is 2^31 - 1. */
const MAX_SLEEP_MS = 3_600_000;

/** One rate limit of one workspace in this process: orders the requests and asks the store when it is worth it. */
export class PermitQueue {
  /** When this process's last call under a channel's limit ended (as `performance.now()`), or will have. */
  lastCallEnd: Promise<number> | undefined;
  readonly #options: PermitQueueOptions;
  readonly #waiters = new Set<Waiter>();
  #isRunning = false;
  #wakeSleeper: (() => void) | undefined;
  /** When this process last served each asker since somebody waits (`performance.now()`). */
  readonly #servedAt = new Map<string, number>();
  #pausedUntil = 0;
  /** When the store has permits again, for the usual and for the deep burst. */
  #exhaustedUntil = { usual: 0, deep: 0 };
  #returnedPermitsUntil: number[] = [];
  #timesPassedOver = 0;
  #storeRetryMs = 0;
  #grantBackoffMs = 0;

  constructor(options: PermitQueueOptions) {
    this.#options = options;
  }

  /** Nothing is waiting, and there is no state to keep. */
  get isIdle(): boolean {
    const now = performance.now();
    return !this.#isRunning && this.#pausedUntil <= now && !this.#hasReturnedPermit(now);
  }

  /** Nobody waits, and a permit may be available now. */
  get mayBeOpen(): boolean {
    return this.#waiters.size === 0 && this.#opensAt(false) <= performance.now();
  }

  /** Waits for a permit; undefined if none came within `maxWaitMs`. Rejects with the signal's reason. */
  request(request: PermitRequest): Promise<Permit | undefined> {
    if (request.signal?.aborted || request.guard?.signal.aborted)
      return Promise.reject(this.#reasonOf(request));
    return new Promise((resolve, reject) => {
      const askedAt = performance.now();
      const waiter: Waiter = {
        ...request,
        askedAt,
        asking: currentAsking(),
        deadline: askedAt + (request.maxWaitMs ?? Number.POSITIVE_INFINITY),
        currentPriority: { order: 0, since: askedAt },
        earliestAt: askedAt,
        usesDeepBurst: false,
        readyAt: askedAt,
        resolve,
        reject,
        onAbort: () => this.#leave(waiter).reject(this.#reasonOf(waiter)),
      };
      // `AbortSignal.any` would take a kilobyte for each of thousands of requests.
      waiter.signal?.addEventListener('abort', waiter.onAbort);
      waiter.guard?.signal.addEventListener('abort', waiter.onAbort);
      this.#waiters.add(waiter);
      this.#wakeLoop();
      if (!this.#isRunning) void this.#run();
    });
  }

  /** The request waits no more; returns it, to be settled. */
  #leave(waiter: Waiter): Waiter {
    this.#waiters.delete(waiter);
    waiter.signal?.removeEventListener('abort', waiter.onAbort);
    waiter.guard?.signal.removeEventListener('abort', waiter.onAbort);
    this.#wakeLoop();
    return waiter;
  }

  #reasonOf({ signal, guard }: PermitRequest): unknown {
    if (signal?.aborted) return signal.reason;
    const { limitKey: method } = this.#options;
    return new SlackLeaseError({ method, outcome: 'none', cause: guard?.signal.reason });
  }

  #wakeLoop(): void {
    this.#wakeSleeper?.();
  }

  /** Grants no permit in this process for `ms`, whatever the store says. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + ms);
    this.#wakeLoop();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    try {
      while (this.#waiters.size > 0) {
        const next = this.#pickNext();
        if (next === undefined) await this.#sleepUntilDue();
        else await this.#serve(next);
      }
    } finally {
      this.#servedAt.clear();
      this.#isRunning = false;
    }
  }

  /** The request to serve now, if any is ready. */
  #pickNext(): Waiter | undefined {
    const now = performance.now();
    for (const waiter of [...this.#waiters]) this.#refreshWaiter(waiter);
    const longest = this.#timesPassedOver < MAX_TIMES_PASSED_OVER ? undefined : this.#longestWaiting(now);
    for (const waiter of [...this.#waiters]) {
      waiter.usesDeepBurst = waiter.currentPriority.order === 0 || waiter === longest;
      waiter.readyAt = Math.max(waiter.earliestAt, this.#opensAt(waiter.usesDeepBurst));
    }
    this.#dropOverdue(now);
    const ready = [...this.#waiters].filter((waiter) => waiter.readyAt <= now).sort(byPriority);
    return longest !== undefined && ready.includes(longest) ? longest : ready[0];
  }

  /** Gives up at once the requests that cannot be served in time: each permit of an exhausted limit comes a step later. */
  #dropOverdue(now: number): void {
    const stepMs = 60_000 / this.#options.rateLimit.perMinute;
    let ahead = 0;
    for (const waiter of [...this.#waiters].sort(byPriority)) {
      const open = this.#opensAt(waiter.usesDeepBurst);
      const at = Math.max(waiter.earliestAt, open > now ? open + ahead * stepMs : now);
      if (at > waiter.deadline) this.#leave(waiter).resolve(undefined);
      else ahead += 1;
    }
  }

  /** Updates a request's priority and earliest time; one that throws is rejected. */
  #refreshWaiter(waiter: Waiter): void {
    try {
      const { order, since } = waiter.priority?.() ?? { order: waiter.asking.need };
      waiter.currentPriority = { order, since: since ?? this.#turnSince(waiter) };
      waiter.earliestAt = waiter.notBefore?.() ?? 0;
    } catch (error) {
      this.#leave(waiter).reject(error);
    }
  }

  /** Since when it is an asker's turn: when they asked, or were last served. */
  #turnSince({ asking: { askers }, askedAt }: Waiter): number {
    const served = [...askers].map((asker) => this.#servedAt.get(asker) ?? 0);
    return served.length === 0 ? askedAt : Math.max(askedAt, Math.min(...served));
  }

  #longestWaiting(now: number): Waiter | undefined {
    const due = [...this.#waiters].filter((waiter) => waiter.earliestAt <= now);
    return due.sort((a, b) => a.askedAt - b.askedAt)[0];
  }

  #opensAt(deep: boolean): number {
    if (this.#hasReturnedPermit(performance.now())) return this.#pausedUntil;
    return Math.max(this.#pausedUntil, deep ? this.#exhaustedUntil.deep : this.#exhaustedUntil.usual);
  }

  async #serve(first: Waiter): Promise<void> {
    const now = performance.now();
    if (this.#hasReturnedPermit(now)) {
      this.#returnedPermitsUntil.shift();
      this.#grant(first);
      return;
    }
    const { store, workspace, limitKey, rateLimit, log } = this.#options;
    const { perMinute, burst, deepBurst } = rateLimit;
    const { usesDeepBurst: deep } = first;
    let waitMs: number;
    try {
      const permits = { perMinute, burst: deep ? (deepBurst ?? burst) : burst };
      waitMs = await store.take(workspace, limitKey, permits);
      this.#storeRetryMs = 0;
    } catch (error) {
      this.#storeRetryMs = Math.min(STORE_RETRY_MS.max, this.#storeRetryMs * 2 || STORE_RETRY_MS.first);
      log.warn({ err: error, rateLimit: limitKey }, 'reading the rate limit failed; retrying soon');
      waitMs = this.#storeRetryMs;
    }
    if (waitMs > 0) {
      const until = performance.now() + waitMs + this.#grantBackoffMs;
      this.#exhaustedUntil.usual = Math.max(this.#exhaustedUntil.usual, until);
      if (deep || deepBurst === undefined) this.#exhaustedUntil.deep = until;
      this.#grantBackoffMs = Math.floor(this.#grantBackoffMs / 2);
      return;
    }
    this.#grantBackoffMs = GRANT_BACKOFF_MS;
    // The order may have changed while the store was asked.
    const chosen = this.#pickNext();
    if (chosen !== undefined) this.#grant(chosen);
    else this.#returnedPermitsUntil.push(performance.now() + RETURNED_PERMIT_TTL_MS);
  }

  #grant(waiter: Waiter): void {
    const now = performance.now();
    const { order } = waiter.currentPriority;
    const isPassingOver = [...this.#waiters].some(
      (other) => other.earliestAt <= now && other.currentPriority.order > order,
    );
    this.#timesPassedOver = isPassingOver ? this.#timesPassedOver + 1 : 0;
    for (const asker of waiter.asking.askers) this.#servedAt.set(asker, now);
    let isOpen = true;
    this.#leave(waiter).resolve({
      release: () => {
        if (!isOpen) return;
        isOpen = false;
        this.#returnedPermitsUntil.push(performance.now() + RETURNED_PERMIT_TTL_MS);
        this.#wakeLoop();
      },
    });
  }

  #hasReturnedPermit(now: number): boolean {
    this.#returnedPermitsUntil = this.#returnedPermitsUntil.filter((until) => until > now);
    return this.#returnedPermitsUntil.length > 0;
  }

  async #sleepUntilDue(): Promise<void> {
    let due = Number.POSITIVE_INFINITY;
    for (const waiter of this.#waiters) due = Math.min(due, waiter.readyAt, waiter.deadline);
    const ms = Math.min(MAX_SLEEP_MS, due - performance.now());
    if (this.#waiters.size === 0 || ms <= 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, Math.ceil(ms));
    this.#wakeSleeper = resolve;
    await promise;
    clearTimeout(timer);
    this.#wakeSleeper = undefined;
  }
}

function byPriority(a: Waiter, b: Waiter): number {
  return (
    a.currentPriority.order - b.currentPriority.order ||
    a.currentPriority.since - b.currentPriority.since ||
    a.askedAt - b.askedAt
  );
}
