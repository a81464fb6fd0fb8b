import { SlackRateLimitError } from './errors.ts';
import { type Permit, PermitQueue, type PermitQueueOptions, type PermitRequest } from './permit-queue.ts';
import type { RateLimitName, RateLimitTable } from './rate-limits.ts';

const CHANNEL_LIMIT = 'chat.postMessage.channel';
export type LimitedMethod = Exclude<RateLimitName, typeof CHANNEL_LIMIT>;

interface RateLimiterOptions extends Pick<PermitQueueOptions, 'workspace' | 'store' | 'log'> {
  rateLimits: RateLimitTable;
  /** How many times as fast as the limits it goes, where nobody else enforces them; 1 by default. */
  pace?: number | undefined;
}

/** Attempts of a rate-limited call before its caller gets the error. */
const MAX_ATTEMPTS = 8;

/** Decides when a request of a workspace may go to Slack: by limits that all processes share, and by priority within this one. */
export class RateLimiter {
  readonly pace: number;
  readonly #options: RateLimiterOptions;
  readonly #queues = new Map<string, PermitQueue>();

  constructor(options: RateLimiterOptions) {
    this.#options = options;
    this.pace = options.pace ?? 1;
  }

  /** Waits for a permit; undefined only with `maxWaitMs`. Rejects with the signal's reason when withdrawn. */
  permit(limit: RateLimitName, request: PermitRequest, channel?: string): Promise<Permit | undefined> {
    return this.#queueFor(limit, channel).request(request);
  }

  /**
   * Makes a call when its method's rate limit allows it, and that of the channel if given. If Slack still refuses the
   * call, the method's limit is paused and slowed down, and the call is retried. With `maxWaitMs` the call is optional: it
   * is not retried, and undefined means that it was skipped.
   */
  run<T>(
    method: LimitedMethod,
    request: Omit<PermitRequest, 'maxWaitMs'>,
    call: (permit: Permit) => Promise<T>,
    channel?: string,
  ): Promise<T>;
  run<T>(
    method: LimitedMethod,
    request: PermitRequest,
    call: (permit: Permit) => Promise<T>,
    channel?: string,
  ): Promise<T | undefined>;
  async run<T>(
    method: LimitedMethod,
    request: PermitRequest,
    call: (permit: Permit) => Promise<T>,
    channel?: string,
  ): Promise<T | undefined> {
    for (let attempt = 1; ; attempt += 1) {
      // Thousands wait here at the same time: each promise in between takes memory.
      const permit = await (channel === undefined
        ? this.permit(method, request)
        : this.#permitForBoth(method, request, channel));
      if (permit === undefined) return undefined;
      try {
        return await call(permit);
      } catch (error) {
        if (!(error instanceof SlackRateLimitError)) throw error;
        this.backOff(method, error.retryAfterMs);
        if (request.maxWaitMs !== undefined) return undefined;
        if (attempt >= MAX_ATTEMPTS) throw error;
      }
    }
  }

  /** After a refusal by Slack: pauses the method for `ms`, then goes slower, in all processes. */
  backOff(method: LimitedMethod, ms: number): void {
    const { workspace, store, log } = this.#options;
    const about = { workspace, rateLimit: method, pauseMs: ms };
    log.warn(about, 'Slack refused a call because of its rate limit');
    this.#queueFor(method).pause(ms);
    store.pause(workspace, method, ms).catch((error: unknown) => {
      log.warn({ ...about, err: error }, 'sharing the pause of a rate limit failed');
    });
  }

  /**
   * Asks for both at once, because the store answers in one statement. Where the channel has to wait, its permit comes first:
   * meanwhile, the method's are for other channels.
   */
  async #permitForBoth(
    method: LimitedMethod,
    request: PermitRequest,
    channel: string,
  ): Promise<Permit | undefined> {
    const { mayBeOpen } = this.#queueFor(CHANNEL_LIMIT, channel);
    const ofMethod = mayBeOpen ? this.permit(method, request) : undefined;
    const ofChannel = this.permit(CHANNEL_LIMIT, request, channel);
    const asked = [ofMethod ?? this.#permitAfter(ofChannel, method, request), ofChannel];
    const answers = await Promise.allSettled(asked);
    const permits = answers.flatMap((answer) => (answer.status === 'fulfilled' && answer.value) || []);
    const release = () => {
      for (const permit of permits) permit.release();
    };
    if (permits.length === asked.length) return { release };
    release();
    const failed = answers.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
    return undefined;
  }

  async #permitAfter(
    first: Promise<Permit | undefined>,
    method: LimitedMethod,
    request: PermitRequest,
  ): Promise<Permit | undefined> {
    return (await first) && (await this.permit(method, request));
  }

  #queueFor(limit: RateLimitName, channel?: string): PermitQueue {
    const limitKey = channel === undefined ? limit : `${limit}/${channel}`;
    let queue = this.#queues.get(limitKey);
    if (queue === undefined) {
      this.#dropIdleQueues();
      const known = this.#options.rateLimits[limit];
      const rateLimit = { ...known, perMinute: known.perMinute * this.pace };
      queue = new PermitQueue({ ...this.#options, limitKey, rateLimit });
      this.#queues.set(limitKey, queue);
    }
    return queue;
  }

  /** Channels come and go: their queues must not pile up. */
  #dropIdleQueues(): void {
    if (this.#queues.size < 1_000) return;
    for (const [key, queue] of this.#queues) if (queue.isIdle) this.#queues.delete(key);
  }
}
