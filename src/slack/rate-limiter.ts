import type { Logger } from 'pino';
import { SlackRateLimitError } from './errors.ts';
import { type Permit, PermitQueue, type PermitRequest, type PermitStore } from './permit-queue.ts';
import type { RateLimitName, RateLimitTable } from './rate-limits.ts';

export interface ScopedPermitRequest extends PermitRequest {
  workspace: string;
  limit: RateLimitName;
  /** The channel, if each channel has a limit of its own. */
  scope?: string | undefined;
}

interface RateLimiterOptions {
  store: PermitStore;
  rateLimits: RateLimitTable;
  log: Logger;
}

/** Attempts of a rate-limited call before its caller gets the error. */
const MAX_ATTEMPTS = 8;
/** Attempts to share a pause with the other processes. */
const MAX_SHARE_ATTEMPTS = 3;

/** Decides when a request may go to Slack: by limits that all processes share, and by priority within this one. */
export class RateLimiter {
  readonly #options: RateLimiterOptions;
  readonly #queues = new Map<string, PermitQueue>();

  constructor(options: RateLimiterOptions) {
    this.#options = options;
  }

  /** Waits for a permit; undefined only with `maxWaitMs`. Rejects with the signal's reason when withdrawn. */
  permit(request: ScopedPermitRequest): Promise<Permit | undefined> {
    return this.#queueFor(request).request(request);
  }

  /**
   * Makes a call when all of its rate limits allow it; the first is the method's own. If Slack
   * still refuses the call, the method's limit is paused and slowed down, and the call is retried. With `maxWaitMs` the
   * call is optional: it is not retried, and undefined means that it was skipped.
   */
  async run<T>(
    requests: readonly [ScopedPermitRequest, ...ScopedPermitRequest[]],
    call: (permit: Permit) => Promise<T>,
  ): Promise<{ value: T } | undefined> {
    const [method] = requests;
    for (let attempt = 1; ; attempt += 1) {
      // Thousands wait here at the same time: each promise in between takes memory.
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

  /** After a refusal by Slack: pauses the method for `ms`, then goes slower, in all processes. */
  backOff(request: Pick<ScopedPermitRequest, 'workspace' | 'limit' | 'scope'>, ms: number): void {
    const { workspace } = request;
    const key = limitKey(request);
    this.#options.log.warn(
      { workspace, rateLimit: key, pauseMs: ms },
      'Slack refused a call because of its rate limit',
    );
    this.#queueFor(request).pause(ms);
    void this.#shareBackOff(workspace, key, ms);
  }

  /** Asks for all of them at once: the store answers both in one statement. */
  async #permitForAll(requests: readonly ScopedPermitRequest[]): Promise<Permit | undefined> {
    const answers = await Promise.allSettled(requests.map((request) => this.permit(request)));
    const permits = answers.flatMap((answer) => (answer.status === 'fulfilled' && answer.value) || []);
    const release = () => {
      for (const permit of permits) permit.release();
    };
    if (permits.length === requests.length) return { release };
    release();
    const failed = answers.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
    return undefined;
  }

  async #shareBackOff(workspace: string, key: string, ms: number): Promise<void> {
    const until = performance.now() + ms;
    for (let attempt = 1; attempt <= MAX_SHARE_ATTEMPTS; attempt += 1) {
      const leftMs = Math.max(0, until - performance.now());
      try {
        return await this.#options.store.pause(workspace, key, Math.ceil(leftMs));
      } catch (error) {
        this.#options.log.warn(
          { err: error, workspace, rateLimit: key },
          'sharing the pause of a rate limit failed',
        );
        await new Promise((resolve) => setTimeout(resolve, 500).unref());
      }
    }
  }

  #queueFor(request: Pick<ScopedPermitRequest, 'workspace' | 'limit' | 'scope'>): PermitQueue {
    const { workspace } = request;
    const name = limitKey(request);
    const key = `${workspace} ${name}`;
    let queue = this.#queues.get(key);
    if (queue === undefined) {
      this.#dropIdleQueues();
      const rateLimit = this.#options.rateLimits[request.limit];
      queue = new PermitQueue({ ...this.#options, workspace, limitKey: name, rateLimit });
      this.#queues.set(key, queue);
    }
    return queue;
  }

  /** Channels come and go: their queues must not pile up. */
  #dropIdleQueues(): void {
    if (this.#queues.size < 1_000) return;
    for (const [key, queue] of this.#queues) if (queue.isIdle) this.#queues.delete(key);
  }
}

function limitKey(request: Pick<ScopedPermitRequest, 'limit' | 'scope'>): string {
  return request.scope === undefined ? request.limit : `${request.limit}/${request.scope}`;
}
