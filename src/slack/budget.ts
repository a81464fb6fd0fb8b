import type { Logger } from 'pino';
import { Throttled } from './errors.ts';
import { LanePump, type Permit, type Wish } from './lane-pump.ts';
import type { LaneStore } from './lane-store.ts';
import type { LaneName, LaneTable } from './limits.ts';

/** A wish for one permit of a lane. */
export interface Ask extends Wish {
  workspace: string;
  lane: LaneName;
  /** Whose lane, where each channel has its own. */
  of?: string | undefined;
}

/** How often a throttled call is made before its caller hears of it. */
const MOST_ATTEMPTS = 8;
/** A refusal is worth telling the other processes for so many tries. */
const HOLD_TRIES = 3;

/** What we may send to Slack when: lanes shared by all processes, and the order within this one. */
export class Budget {
  readonly #store: LaneStore;
  readonly #lanes: LaneTable;
  readonly #log: Logger;
  readonly #pumps = new Map<string, LanePump>();

  constructor(options: { store: LaneStore; lanes: LaneTable; log: Logger }) {
    this.#store = options.store;
    this.#lanes = options.lanes;
    this.#log = options.log;
  }

  /** Waits for its turn. Undefined only with `withinMs`. Rejects with the signal's reason when withdrawn. */
  permit(ask: Ask): Promise<Permit | undefined> {
    return this.#pump(ask).ask(ask);
  }

  /**
   * Makes a call when all of its lanes allow it, the tightest last, and again when Slack throttled it all the same:
   * that holds the first lane, the method's own, and slows it down. With `withinMs` it is an ornament: undefined means that it was left out.
   */
  async run<T>(
    asks: readonly [Ask, ...Ask[]],
    call: (permit: Permit) => Promise<T>,
  ): Promise<{ value: T } | undefined> {
    const [method] = asks;
    for (let attempt = 1; ; attempt += 1) {
      // Thousands wait here at one time: each step between them and their lane is memory.
      const permit = await (asks.length === 1 ? this.permit(method) : this.#permits(asks));
      if (permit === undefined) return undefined;
      try {
        return { value: await call(permit) };
      } catch (error) {
        if (!(error instanceof Throttled)) throw error;
        this.throttled(method, error.retryAfterMs);
        if (method.withinMs !== undefined) return undefined;
        if (attempt >= MOST_ATTEMPTS) throw error;
      }
    }
  }

  /** Slack refused although the lane had a permit: leave the method alone for `ms`, then go slower, in all processes. */
  throttled(ask: Pick<Ask, 'workspace' | 'lane' | 'of'>, ms: number): void {
    const { workspace } = ask;
    const lane = laneKey(ask);
    this.#log.warn({ workspace, lane, ms }, 'Slack throttles this lane');
    this.#pump(ask).hold(ms);
    void this.#share(workspace, lane, ms);
  }

  async #permits(asks: readonly Ask[]): Promise<Permit | undefined> {
    const permits: Permit[] = [];
    const release = () => {
      for (const permit of permits) permit.release();
    };
    try {
      for (const ask of asks) {
        const permit = await this.permit(ask);
        if (permit === undefined) {
          release();
          return undefined;
        }
        permits.push(permit);
      }
    } catch (error) {
      release();
      throw error;
    }
    return { release };
  }

  async #share(workspace: string, lane: string, ms: number): Promise<void> {
    const until = performance.now() + ms;
    for (let tries = 1; tries <= HOLD_TRIES; tries += 1) {
      const left = Math.max(0, until - performance.now());
      try {
        return await this.#store.hold(workspace, lane, Math.ceil(left));
      } catch (error) {
        this.#log.warn({ err: error, workspace, lane }, 'The hold of a lane could not be shared');
        await new Promise((resolve) => setTimeout(resolve, 500).unref());
      }
    }
  }

  #pump(ask: Pick<Ask, 'workspace' | 'lane' | 'of'>): LanePump {
    const { workspace } = ask;
    const lane = laneKey(ask);
    const key = `${workspace} ${lane}`;
    let pump = this.#pumps.get(key);
    if (pump === undefined) {
      this.#forgetIdle();
      const rule = this.#lanes[ask.lane];
      pump = new LanePump({ store: this.#store, workspace, lane, rule, log: this.#log });
      this.#pumps.set(key, pump);
    }
    return pump;
  }

  /** Channels come and go: their lanes must not pile up. */
  #forgetIdle(): void {
    if (this.#pumps.size < 1_000) return;
    for (const [key, pump] of this.#pumps) if (pump.idle) this.#pumps.delete(key);
  }
}

function laneKey(ask: Pick<Ask, 'lane' | 'of'>): string {
  return ask.of === undefined ? ask.lane : `${ask.lane}/${ask.of}`;
}
