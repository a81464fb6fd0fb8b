import type { Logger } from 'pino';
import type { PermitStore } from './permit-store.ts';
import type { RateLimit } from './rate-limits.ts';

/** Who goes first: the smaller order, then the smaller `since`, then who asked first. */
export interface Priority {
  /** 0 may use the lane's deep burst. */
  order: number;
  /** Any clock, but the same for all who wait in a lane, such as when unseen text came in (ms). */
  since: number;
}

/** What somebody who waits in a lane says about itself. The functions are asked whenever a permit is to be had. */
export interface PermitRequest {
  priority?: (() => Priority) | undefined;
  /** Not before this moment, on the clock of `performance.now()` (ms). */
  notBefore?: (() => number) | undefined;
  /** Withdraws the wish. */
  signal?: AbortSignal | undefined;
  /** Withdraws it too. Not one signal for both: `AbortSignal.any` weighs a kilobyte, and thousands wait here. */
  leaseSignal?: AbortSignal | undefined;
  /** Give up when there is no permit within this time (ms). */
  maxWaitMs?: number | undefined;
}

/** The right to send one request now. */
export interface Permit {
  /** Gives it back unused, for the next one who waits in this process. */
  release(): void;
}

interface Waiter extends PermitRequest {
  askedAt: number;
  deadline: number;
  currentPriority: Priority;
  /** Its own moment (`notBefore`). */
  earliestAt: number;
  /** May use the deep burst. */
  usesDeepBurst: boolean;
  /** When its moment has come and the lane is open for it. */
  readyAt: number;
  /** With undefined: no permit came in time. */
  resolve(permit: Permit | undefined): void;
  reject(error: unknown): void;
}

/** A permit that was given back can be used for so long (ms): later it would count in another minute. */
const RETURNED_PERMIT_TTL_MS = 1_000;
/** After so many permits in a row that passed over a lower order, the one who waits longest gets one. */
const MAX_TIMES_PASSED_OVER = 10;
/**
 * After a grant, a process asks so much later than the store says (ms), and half of it after each refusal: all are told
 * the same moment, and the one that is nearest to the store would always be the first.
 */
const GRANT_BACKOFF_MS = 32;
const STORE_RETRY_MS = { first: 250, max: 5_000 };
/** setTimeout's own limit is 2^31 - 1. */
const MAX_SLEEP_MS = 3_600_000;
const DEFAULT_ORDER = 1;

/** One lane of one workspace in this process: orders those who wait and asks the store when it is worth it. */
export class PermitQueue {
  readonly #store: PermitStore;
  readonly #workspace: string;
  readonly #limitKey: string;
  readonly #rateLimit: RateLimit;
  readonly #log: Logger;
  readonly #waiters = new Set<Waiter>();
  #isRunning = false;
  #wakeSleeper: (() => void) | undefined;
  #pausedUntil = 0;
  /** Until when the store has nothing: for the usual burst, and for the deep one. */
  #exhaustedUntil = { usual: 0, deep: 0 };
  #returnedPermitsUntil: number[] = [];
  #timesPassedOver = 0;
  #storeRetryMs = 0;
  #grantBackoffMs = 0;

  constructor(options: {
    store: PermitStore;
    workspace: string;
    lane: string;
    rule: RateLimit;
    log: Logger;
  }) {
    this.#store = options.store;
    this.#workspace = options.workspace;
    this.#limitKey = options.lane;
    this.#rateLimit = options.rule;
    this.#log = options.log;
  }

  /** Nobody waits and nothing needs to be remembered. */
  get isIdle(): boolean {
    return (
      !this.#isRunning && this.#pausedUntil <= performance.now() && this.#returnedPermitsUntil.length === 0
    );
  }

  /** Waits for a permit; undefined when none came within the wish's time. Rejects with the signal's reason. */
  request(request: PermitRequest): Promise<Permit | undefined> {
    const withdrawn = abortedSignal(request);
    if (withdrawn !== undefined) return Promise.reject(withdrawn.reason);
    return new Promise((resolve, reject) => {
      const askedAt = performance.now();
      const leave = () => {
        this.#waiters.delete(waiter);
        request.signal?.removeEventListener('abort', onAbort);
        request.leaseSignal?.removeEventListener('abort', onAbort);
        this.#wakeLoop();
      };
      const waiter: Waiter = {
        ...request,
        askedAt,
        deadline: askedAt + (request.maxWaitMs ?? Number.POSITIVE_INFINITY),
        currentPriority: { order: DEFAULT_ORDER, since: askedAt },
        earliestAt: askedAt,
        usesDeepBurst: false,
        readyAt: askedAt,
        resolve: (permit) => {
          leave();
          resolve(permit);
        },
        reject: (error) => {
          leave();
          reject(error);
        },
      };
      const onAbort = () => waiter.reject(abortedSignal(request)?.reason);
      request.signal?.addEventListener('abort', onAbort);
      request.leaseSignal?.addEventListener('abort', onAbort);
      this.#waiters.add(waiter);
      this.#wakeLoop();
      if (!this.#isRunning) void this.#run();
    });
  }

  /** Something has changed: look again. */
  #wakeLoop(): void {
    this.#wakeSleeper?.();
  }

  /** No permit of this process for `ms`, whatever the store says. */
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
      this.#isRunning = false;
    }
  }

  /** The one to be served now, if the lane and somebody's moment allow it. */
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

  /** What cannot be had in time is given up at once: of a dry lane, each permit comes a step later. */
  #dropOverdue(now: number): void {
    const stepMs = 60_000 / this.#rateLimit.perMinute;
    let ahead = 0;
    for (const waiter of [...this.#waiters].sort(byPriority)) {
      const open = this.#opensAt(waiter.usesDeepBurst);
      const at = Math.max(waiter.earliestAt, open > now ? open + ahead * stepMs : now);
      if (at > waiter.deadline) waiter.resolve(undefined);
      else ahead += 1;
    }
  }

  /** Asks a waiter for its rank and moment; one that throws is out. */
  #refreshWaiter(waiter: Waiter): void {
    try {
      waiter.currentPriority = waiter.priority?.() ?? { order: DEFAULT_ORDER, since: waiter.askedAt };
      waiter.earliestAt = waiter.notBefore?.() ?? 0;
    } catch (error) {
      waiter.reject(error);
    }
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
    const { perMinute, burst, deepBurst } = this.#rateLimit;
    const { usesDeepBurst: deep } = first;
    let wait: number;
    try {
      wait = await this.#store.take(this.#workspace, this.#limitKey, {
        perMinute,
        burst: deep ? (deepBurst ?? burst) : burst,
      });
      this.#storeRetryMs = 0;
    } catch (error) {
      this.#storeRetryMs = Math.min(STORE_RETRY_MS.max, this.#storeRetryMs * 2 || STORE_RETRY_MS.first);
      this.#log.warn({ err: error, lane: this.#limitKey }, 'The lanes cannot be read; asking again soon');
      wait = this.#storeRetryMs;
    }
    if (wait > 0) {
      this.#markExhausted(performance.now() + wait + this.#grantBackoffMs, deep || deepBurst === undefined);
      this.#grantBackoffMs = Math.floor(this.#grantBackoffMs / 2);
      return;
    }
    this.#grantBackoffMs = GRANT_BACKOFF_MS;
    // Time has passed: whoever is first now gets it.
    const chosen = this.#pickNext();
    if (chosen !== undefined) this.#grant(chosen);
    else this.#returnedPermitsUntil.push(performance.now() + RETURNED_PERMIT_TTL_MS);
  }

  #markExhausted(until: number, deep: boolean): void {
    this.#exhaustedUntil.usual = Math.max(this.#exhaustedUntil.usual, until);
    if (deep) this.#exhaustedUntil.deep = until;
  }

  #grant(waiter: Waiter): void {
    const now = performance.now();
    const { order } = waiter.currentPriority;
    const passes = [...this.#waiters].some(
      (other) => other.earliestAt <= now && other.currentPriority.order > order,
    );
    this.#timesPassedOver = passes ? this.#timesPassedOver + 1 : 0;
    let open = true;
    waiter.resolve({
      release: () => {
        if (!open) return;
        open = false;
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
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#wakeSleeper = undefined;
        resolve();
      };
      const timer = setTimeout(done, Math.ceil(ms));
      this.#wakeSleeper = done;
    });
  }
}

/** The signal that has withdrawn a wish. */
function abortedSignal({ signal, leaseSignal }: PermitRequest): AbortSignal | undefined {
  return [signal, leaseSignal].find((one) => one?.aborted === true);
}

function byPriority(a: Waiter, b: Waiter): number {
  return (
    a.currentPriority.order - b.currentPriority.order ||
    a.currentPriority.since - b.currentPriority.since ||
    a.askedAt - b.askedAt
  );
}
