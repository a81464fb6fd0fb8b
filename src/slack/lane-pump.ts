import type { Logger } from 'pino';
import type { LaneStore } from './lane-store.ts';
import type { LaneRule } from './limits.ts';

/** Who goes first: the smaller order, then the smaller `since`, then who asked first. */
export interface Rank {
  /** 0 may use the lane's deep burst. */
  order: number;
  /** Any clock, but the same for all who wait in a lane, such as when unseen text came in (ms). */
  since: number;
}

/** What somebody who waits in a lane says about itself. The functions are asked whenever a permit is to be had. */
export interface Wish {
  rank?: (() => Rank) | undefined;
  /** Not before this moment, on the clock of `performance.now()` (ms). */
  notBefore?: (() => number) | undefined;
  /** Withdraws the wish. */
  signal?: AbortSignal | undefined;
  /** Withdraws it too. Not one signal for both: `AbortSignal.any` weighs a kilobyte, and thousands wait here. */
  guardSignal?: AbortSignal | undefined;
  /** Give up when there is no permit within this time (ms). */
  withinMs?: number | undefined;
}

/** The right to send one request now. */
export interface Permit {
  /** Gives it back unused, for the next one who waits in this process. */
  release(): void;
}

interface Waiter extends Wish {
  askedAt: number;
  deadline: number;
  rankNow: Rank;
  /** Its own moment (`notBefore`). */
  moment: number;
  /** May use the deep burst. */
  deep: boolean;
  /** When its moment has come and the lane is open for it. */
  readyAt: number;
  /** With undefined: no permit came in time. */
  settle(permit: Permit | undefined): void;
  fail(error: unknown): void;
}

/** A permit that was given back can be used for so long (ms): later it would count in another minute. */
const SPARE_MS = 1_000;
/** After so many permits in a row that passed over a lower order, the one who waits longest gets one. */
const PATIENCE = 10;
/**
 * After a grant, a process asks so much later than the store says (ms), and half of it after each refusal: all are told
 * the same moment, and the one that is nearest to the store would always be the first.
 */
const COURTESY_MS = 32;
const BACKOFF_MS = { first: 250, most: 5_000 };
/** setTimeout's own limit is 2^31 - 1. */
const LONGEST_SLEEP_MS = 3_600_000;
const USUAL_ORDER = 1;

/** One lane of one workspace in this process: orders those who wait and asks the store when it is worth it. */
export class LanePump {
  readonly #store: LaneStore;
  readonly #workspace: string;
  readonly #lane: string;
  readonly #rule: LaneRule;
  readonly #log: Logger;
  readonly #waiters = new Set<Waiter>();
  #running = false;
  #wake: (() => void) | undefined;
  #heldUntil = 0;
  /** Until when the store has nothing: for the usual burst, and for the deep one. */
  #dryUntil = { usual: 0, deep: 0 };
  #spareUntil: number[] = [];
  #passedOver = 0;
  #backoffMs = 0;
  #courtesyMs = 0;

  constructor(options: {
    store: LaneStore;
    workspace: string;
    lane: string;
    rule: LaneRule;
    log: Logger;
  }) {
    this.#store = options.store;
    this.#workspace = options.workspace;
    this.#lane = options.lane;
    this.#rule = options.rule;
    this.#log = options.log;
  }

  /** Nobody waits and nothing needs to be remembered. */
  get idle(): boolean {
    return !this.#running && this.#heldUntil <= performance.now() && this.#spareUntil.length === 0;
  }

  /** Waits for a permit; undefined when none came within the wish's time. Rejects with the signal's reason. */
  ask(wish: Wish): Promise<Permit | undefined> {
    const withdrawn = withdrawal(wish);
    if (withdrawn !== undefined) return Promise.reject(withdrawn.reason);
    return new Promise((resolve, reject) => {
      const askedAt = performance.now();
      const leave = () => {
        this.#waiters.delete(waiter);
        wish.signal?.removeEventListener('abort', onAbort);
        wish.guardSignal?.removeEventListener('abort', onAbort);
        this.#nudge();
      };
      const waiter: Waiter = {
        ...wish,
        askedAt,
        deadline: askedAt + (wish.withinMs ?? Number.POSITIVE_INFINITY),
        rankNow: { order: USUAL_ORDER, since: askedAt },
        moment: askedAt,
        deep: false,
        readyAt: askedAt,
        settle: (permit) => {
          leave();
          resolve(permit);
        },
        fail: (error) => {
          leave();
          reject(error);
        },
      };
      const onAbort = () => waiter.fail(withdrawal(wish)?.reason);
      wish.signal?.addEventListener('abort', onAbort);
      wish.guardSignal?.addEventListener('abort', onAbort);
      this.#waiters.add(waiter);
      this.#nudge();
      if (!this.#running) void this.#run();
    });
  }

  /** Something has changed: look again. */
  #nudge(): void {
    this.#wake?.();
  }

  /** No permit of this process for `ms`, whatever the store says. */
  hold(ms: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, performance.now() + ms);
    this.#nudge();
  }

  async #run(): Promise<void> {
    this.#running = true;
    try {
      while (this.#waiters.size > 0) {
        const next = this.#look();
        if (next === undefined) await this.#sleepUntilSomethingIsDue();
        else await this.#serve(next);
      }
    } finally {
      this.#running = false;
    }
  }

  /** The one to be served now, if the lane and somebody's moment allow it. */
  #look(): Waiter | undefined {
    const now = performance.now();
    for (const waiter of [...this.#waiters]) this.#question(waiter);
    const longest = this.#passedOver < PATIENCE ? undefined : this.#longestWaiting(now);
    for (const waiter of [...this.#waiters]) {
      waiter.deep = waiter.rankNow.order === 0 || waiter === longest;
      waiter.readyAt = Math.max(waiter.moment, this.#openAt(waiter.deep));
    }
    this.#giveUpLate(now);
    const ready = [...this.#waiters].filter((waiter) => waiter.readyAt <= now).sort(byRank);
    return longest !== undefined && ready.includes(longest) ? longest : ready[0];
  }

  /** What cannot be had in time is given up at once: of a dry lane, each permit comes a step later. */
  #giveUpLate(now: number): void {
    const stepMs = 60_000 / this.#rule.perMinute;
    let ahead = 0;
    for (const waiter of [...this.#waiters].sort(byRank)) {
      const open = this.#openAt(waiter.deep);
      const at = Math.max(waiter.moment, open > now ? open + ahead * stepMs : now);
      if (at > waiter.deadline) waiter.settle(undefined);
      else ahead += 1;
    }
  }

  /** Asks a waiter for its rank and moment; one that throws is out. */
  #question(waiter: Waiter): void {
    try {
      waiter.rankNow = waiter.rank?.() ?? { order: USUAL_ORDER, since: waiter.askedAt };
      waiter.moment = waiter.notBefore?.() ?? 0;
    } catch (error) {
      waiter.fail(error);
    }
  }

  #longestWaiting(now: number): Waiter | undefined {
    const due = [...this.#waiters].filter((waiter) => waiter.moment <= now);
    return due.sort((a, b) => a.askedAt - b.askedAt)[0];
  }

  #openAt(deep: boolean): number {
    if (this.#spare(performance.now())) return this.#heldUntil;
    return Math.max(this.#heldUntil, deep ? this.#dryUntil.deep : this.#dryUntil.usual);
  }

  async #serve(first: Waiter): Promise<void> {
    const now = performance.now();
    if (this.#spare(now)) {
      this.#spareUntil.shift();
      this.#grant(first);
      return;
    }
    const { perMinute, burst, deepBurst } = this.#rule;
    const { deep } = first;
    let wait: number;
    try {
      wait = await this.#store.take(this.#workspace, this.#lane, {
        perMinute,
        burst: deep ? (deepBurst ?? burst) : burst,
      });
      this.#backoffMs = 0;
    } catch (error) {
      this.#backoffMs = Math.min(BACKOFF_MS.most, this.#backoffMs * 2 || BACKOFF_MS.first);
      this.#log.warn({ err: error, lane: this.#lane }, 'The lanes cannot be read; asking again soon');
      wait = this.#backoffMs;
    }
    if (wait > 0) {
      this.#dry(performance.now() + wait + this.#courtesyMs, deep || deepBurst === undefined);
      this.#courtesyMs = Math.floor(this.#courtesyMs / 2);
      return;
    }
    this.#courtesyMs = COURTESY_MS;
    // Time has passed: whoever is first now gets it.
    const chosen = this.#look();
    if (chosen !== undefined) this.#grant(chosen);
    else this.#spareUntil.push(performance.now() + SPARE_MS);
  }

  #dry(until: number, deep: boolean): void {
    this.#dryUntil.usual = Math.max(this.#dryUntil.usual, until);
    if (deep) this.#dryUntil.deep = until;
  }

  #grant(waiter: Waiter): void {
    const now = performance.now();
    const { order } = waiter.rankNow;
    const passes = [...this.#waiters].some((other) => other.moment <= now && other.rankNow.order > order);
    this.#passedOver = passes ? this.#passedOver + 1 : 0;
    let open = true;
    waiter.settle({
      release: () => {
        if (!open) return;
        open = false;
        this.#spareUntil.push(performance.now() + SPARE_MS);
        this.#nudge();
      },
    });
  }

  #spare(now: number): boolean {
    this.#spareUntil = this.#spareUntil.filter((until) => until > now);
    return this.#spareUntil.length > 0;
  }

  async #sleepUntilSomethingIsDue(): Promise<void> {
    let due = Number.POSITIVE_INFINITY;
    for (const waiter of this.#waiters) due = Math.min(due, waiter.readyAt, waiter.deadline);
    const ms = Math.min(LONGEST_SLEEP_MS, due - performance.now());
    if (this.#waiters.size === 0 || ms <= 0) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve();
      };
      const timer = setTimeout(done, Math.ceil(ms));
      this.#wake = done;
    });
  }
}

/** The signal that has withdrawn a wish. */
function withdrawal({ signal, guardSignal }: Wish): AbortSignal | undefined {
  return [signal, guardSignal].find((one) => one?.aborted === true);
}

function byRank(a: Waiter, b: Waiter): number {
  return a.rankNow.order - b.rankNow.order || a.rankNow.since - b.rankNow.since || a.askedAt - b.askedAt;
}
