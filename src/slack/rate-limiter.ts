import type { Logger } from 'pino';
import { SlackRateLimitError } from './errors.ts';
import { type Permit, PermitQueue, type PermitRequest } from './permit-queue.ts';
import type { PermitStore } from './permit-store.ts';
import type { RateLimitName, RateLimitTable } from './rate-limits.ts';

/** A wish for one permit of a lane. */
export interface ScopedPermitRequest extends PermitRequest {
  workspace: string;
  limit: RateLimitName;
  /** Whose lane, where each channel has its own. */
  scope?: string | undefined;
}

/** How often a throttled call is made before its caller hears of it. */
const MAX_ATTEMPTS = 8;
/** A refusal is worth telling the other processes for so many tries. */
const MAX_SHARE_ATTEMPTS = 3;

/** What we may send to Slack when: lanes shared by all processes, and the order within this one. */
export class RateLimiter {
  readonly #store: PermitStore;
  readonly #rateLimits: RateLimitTable;
  readonly #log: Logger;
  readonly #queues = new Map<string, PermitQueue>();

  constructor(options: { store: PermitStore; lanes: RateLimitTable; log: Logger }) {
    this.#store = options.store;
    this.#rateLimits = options.lanes;
    this.#log = options.log;
  }

  /** Waits for its turn. Undefined only with `withinMs`. Rejects with the signal's reason when withdrawn. */
  permit(request: ScopedPermitRequest): Promise<Permit | undefined> {
    return this.#queueFor(request).request(request);
  }

  /**
   * Makes a call when all of its lanes allow it, the tightest last, and again when Slack throttled it all the same:
   * that holds the first lane, the method's own, and slows it down. With `withinMs` it is an ornament: undefined means that it was left out.
   */
  async run<T>(
    requests: readonly [ScopedPermitRequest, ...ScopedPermitRequest[]],
    call: (permit: Permit) => Promise<T>,
  ): Promise<{ value: T } | undefined> {
    const [method] = requests;
    for (let attempt = 1; ; attempt += 1) {
      // Thousands wait here at one time: each step between them and their lane is memory.
      const permit = await (requests.length === 1 ? this.permit(method) : this.#permitForAll(requests));
      if (permit === undefined) return undefined;
      try {
        return { value: await call(permit) };
      } catch (error) {
        if (!(error instanceof SlackRateLimitError)) throw error;
        this.backOff(method, error.retryAfterMs);
        if (method.maxWaitMs !== undefined) return undefined;
        if (attempt >= MAX_ATTEMPTS) throw error;
      }
    }
  }

  /** Slack refused although the lane had a permit: leave the method alone for `ms`, then go slower, in all processes. */
  backOff(request: Pick<ScopedPermitRequest, 'workspace' | 'limit' | 'scope'>, ms: number): void {
    const { workspace } = request;
    const lane = limitKey(request);
    this.#log.warn({ workspace, lane, ms }, 'Slack throttles this lane');
    this.#queueFor(request).pause(ms);
    void this.#shareBackOff(workspace, lane, ms);
  }

  async #permitForAll(requests: readonly ScopedPermitRequest[]): Promise<Permit | undefined> {
    const permits: Permit[] = [];
    const release = () => {
      for (const permit of permits) permit.release();
    };
    try {
      for (const request of requests) {
        const permit = await this.permit(request);
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

  async #shareBackOff(workspace: string, lane: string, ms: number): Promise<void> {
    const until = performance.now() + ms;
    for (let tries = 1; tries <= MAX_SHARE_ATTEMPTS; tries += 1) {
      const left = Math.max(0, until - performance.now());
      try {
        return await this.#store.pause(workspace, lane, Math.ceil(left));
      } catch (error) {
        this.#log.warn({ err: error, workspace, lane }, 'The hold of a lane could not be shared');
        await new Promise((resolve) => setTimeout(resolve, 500).unref());
      }
    }
  }

  #queueFor(request: Pick<ScopedPermitRequest, 'workspace' | 'limit' | 'scope'>): PermitQueue {
    const { workspace } = request;
    const lane = limitKey(request);
    const key = `${workspace} ${lane}`;
    let queue = this.#queues.get(key);
    if (queue === undefined) {
      this.#dropIdleQueues();
      const rule = this.#rateLimits[request.limit];
      queue = new PermitQueue({ store: this.#store, workspace, lane, rule, log: this.#log });
      this.#queues.set(key, queue);
    }
    return queue;
  }

  /** Channels come and go: their lanes must not pile up. */
  #dropIdleQueues(): void {
    if (this.#queues.size < 1_000) return;
    for (const [key, queue] of this.#queues) if (queue.isIdle) this.#queues.delete(key);
  }
}

function limitKey(request: Pick<ScopedPermitRequest, 'limit' | 'scope'>): string {
  return request.scope === undefined ? request.limit : `${request.limit}/${request.scope}`;
}
