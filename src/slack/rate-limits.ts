import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import { SlackRateLimitError } from './errors.ts';
import {
  type Permit,
  PermitQueue,
  type PermitQueueOptions,
  type PermitRequest,
  type RateLimit,
} from './permit-queue.ts';
import {
  anyResponseSchema,
  type Installation,
  type SlackCallOptions,
  type SlackClient,
} from './slack-client.ts';

const TIER_2: RateLimit = { perMinute: 17, burst: 3 };
const TIER_3: RateLimit = { perMinute: 44, burst: 5 };
const TIER_4: RateLimit = { perMinute: 85, burst: 15 };
/** Of the tiers 3 and 4, with some kept for what somebody waits for while others' texts and Home tabs need many names. */
const LOOKUP_TIER_3: RateLimit = { perMinute: 42, burst: 5, deepBurst: 8 };
const LOOKUP_TIER_4: RateLimit = { perMinute: 80, burst: 12, deepBurst: 20 };
/** "Hundreds per minute", taken as 200. */
const HUNDREDS_PER_MINUTE: RateLimit = { perMinute: 180, burst: 20 };

/** Edits under a limit per minute: paced, so that all replies age evenly, and one below it for requests that arrive late. */
function editRateLimit(limit: number): RateLimit {
  return { perMinute: Math.max(1, limit - 6), burst: 4, deepBurst: 5 };
}

/**
 * The rate limits of each workspace.
 * Tiers: https://docs.slack.dev/apis/web-api/rate-limits, each method's page under
 * https://docs.slack.dev/reference/methods (2: 20 a minute, 3: 50, 4: 100).
 */
export const RATE_LIMITS = {
  /** Tier 3. */
  'chat.update': editRateLimit(50),
  /** "1 per second per channel", for each channel; a little slower, for requests that arrive early. */
  'chat.postMessage.channel': { perMinute: 57, burst: 1 },
  /** "Several hundred messages per minute" in a workspace, taken as 300: a burst of a hundred, and what is left for storms that last longer. */
  'chat.postMessage': { perMinute: 200, burst: 95 },
  /** Tier 2: as many as possible at once, because the messages of several replies fill up at the same time. */
  'chat.startStream': { perMinute: 14, burst: 5 },
  'chat.stopStream': { perMinute: 14, burst: 5 },
  /** Tier 4: paced like edits, with more of it kept for the ends of replies. */
  'chat.appendStream': { perMinute: 90, burst: 4, deepBurst: 9 },
  'chat.delete': TIER_3,
  'chat.postEphemeral': TIER_4,
  'chat.getPermalink': HUNDREDS_PER_MINUTE,
  'conversations.replies': TIER_3,
  'conversations.history': TIER_3,
  'conversations.info': LOOKUP_TIER_3,
  'conversations.members': LOOKUP_TIER_4,
  'conversations.open': TIER_3,
  'reactions.add': TIER_3,
  'reactions.remove': TIER_2,
  'users.conversations': LOOKUP_TIER_3,
  'users.info': LOOKUP_TIER_4,
  'users.list': TIER_2,
  'views.open': TIER_4,
  'views.update': TIER_4,
  'views.publish': TIER_4,
  'files.info': TIER_4,
  'files.delete': TIER_3,
  'files.getUploadURLExternal': TIER_4,
  'files.completeUploadExternal': TIER_4,
  'functions.completeSuccess': TIER_3,
  'functions.completeError': TIER_3,
  'agents.sessions.rename': TIER_3,
  'agents.sessions.setStatus': TIER_3,
  'assistant.threads.setSuggestedPrompts': TIER_4,
  'auth.test': HUNDREDS_PER_MINUTE,
  'auth.revoke': TIER_3,
  'auth.teams.list': TIER_2,
  /** "Special", taken as tier 4 for the whole app, of which some is left for those who install it meanwhile. */
  'oauth.v2.access': { perMinute: 75, burst: 10 },
} as const satisfies Record<string, RateLimit>;

/** Slack's method, or the name of the limit per channel. */
export type RateLimitName = keyof typeof RATE_LIMITS;

export type RateLimitTable = Readonly<Record<RateLimitName, RateLimit>>;

/**
 * Reading history, for apps that are distributed outside the Marketplace: one call per minute, 15 objects each. https://docs.slack.dev/changelog/2025/05/29/rate-limit-changes-for-non-marketplace-apps
 */
const DISTRIBUTED_READ_LIMIT: RateLimit = { perMinute: 0.95, burst: 1 };

/** The rate limits with settings applied. `distributed`: the app is distributed outside the Marketplace. */
export function rateLimitTable({ distributed = false, editsPerMinute = 50 } = {}): RateLimitTable {
  const reading = distributed
    ? { 'conversations.replies': DISTRIBUTED_READ_LIMIT, 'conversations.history': DISTRIBUTED_READ_LIMIT }
    : {};
  return { ...RATE_LIMITS, ...reading, 'chat.update': editRateLimit(editsPerMinute) };
}

const CHANNEL_LIMIT = 'chat.postMessage.channel';
export type LimitedMethod = Exclude<RateLimitName, typeof CHANNEL_LIMIT>;

interface RateLimiterOptions extends Pick<PermitQueueOptions, 'workspace' | 'store' | 'log'> {
  rateLimits: RateLimitTable;
  /** How many times as fast as the limits it goes, where nobody else enforces them; 1 by default. */
  pace?: number | undefined;
}

/** "1 per second per channel" (ms): https://docs.slack.dev/apis/web-api/rate-limits */
const POST_INTERVAL_MS = 1_000;
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

  /**
   * Waits for a permit, and for that of the channel if given; undefined only with `maxWaitMs`. Rejects with the signal's reason
   * when withdrawn.
   */
  permit(limit: RateLimitName, request: PermitRequest, channel?: string): Promise<Permit | undefined> {
    if (channel === undefined) return this.#queueFor(limit).request(request);
    return this.#permitForBoth(limit, request, this.#queueFor(CHANNEL_LIMIT, channel));
  }

  /**
   * Makes a call when its method's rate limit allows it, and that of the channel if given. If Slack still refuses the
   * call, the method's limit is paused and slowed down, and the call is retried. With `maxWaitMs` the call is optional: it
   * is not retried, and undefined means that it was skipped.
   */
  async run<T>(
    method: LimitedMethod,
    request: PermitRequest,
    call: (permit: Permit) => Promise<T>,
    channel?: string,
  ): Promise<T | undefined> {
    for (let attempt = 1; ; attempt += 1) {
      const ofChannel = channel === undefined ? undefined : this.#queueFor(CHANNEL_LIMIT, channel);
      // Thousands wait here at the same time: each promise in between takes memory.
      const given = attempt === 1 ? request.permit : undefined;
      const permit = await (given ?? this.permit(method, request, channel));
      if (permit === undefined) return undefined;
      try {
        return await (ofChannel === undefined ? call(permit) : this.#spaced(ofChannel, () => call(permit)));
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
  async #permitForBoth(method: RateLimitName, request: PermitRequest, channel: PermitQueue) {
    const ofMethod = channel.mayBeOpen ? this.permit(method, request) : undefined;
    const ofChannel = channel.request(request);
    const afterChannel = async () => (await ofChannel) && (await this.permit(method, request));
    const answers = await Promise.allSettled([ofMethod ?? afterChannel(), ofChannel]);
    const permits = answers.flatMap((answer) => (answer.status === 'fulfilled' && answer.value) || []);
    const release = () => {
      for (const permit of permits) permit.release();
    };
    if (permits.length === answers.length) return { release };
    release();
    const failed = answers.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
    return undefined;
  }

  /** Calls a second after the response to this process's previous call in the channel, however long each takes. */
  async #spaced<T>(channel: PermitQueue, call: () => Promise<T>): Promise<T> {
    const before = channel.lastCallEnd;
    const end = Promise.withResolvers<number>();
    channel.lastCallEnd = end.promise;
    try {
      const waitMs =
        ((await before) ?? Number.NEGATIVE_INFINITY) + POST_INTERVAL_MS / this.pace - performance.now();
      if (waitMs > 0) await sleep(waitMs);
      return await call();
    } finally {
      end.resolve(performance.now());
    }
  }

  #queueFor(limit: RateLimitName, channel?: string): PermitQueue {
    const limitKey = channel === undefined ? limit : `${limit}/${channel}`;
    let queue = this.#queues.get(limitKey);
    if (queue === undefined) {
      // Channels come and go: their queues must not pile up.
      if (this.#queues.size >= 1_000)
        for (const [key, idle] of this.#queues) if (idle.isIdle) this.#queues.delete(key);
      const known = this.#options.rateLimits[limit];
      const rateLimit = { ...known, perMinute: known.perMinute * this.pace };
      queue = new PermitQueue({ ...this.#options, limitKey, rateLimit });
      this.#queues.set(limitKey, queue);
    }
    return queue;
  }
}

type CallArguments = Record<string, unknown> | (() => Promise<Record<string, unknown>>);

interface LimitedCallOptions<S extends z.ZodType> extends SlackCallOptions<S> {
  /** The channel whose own limit holds, too. */
  channel?: string;
}

/** Slack's Web API under its rate limits: waits for a permit of the method, then calls. */
export class RateLimitedClient {
  readonly slackClient: SlackClient;
  readonly rateLimiter: RateLimiter;

  constructor(slackClient: SlackClient, rateLimiter: RateLimiter) {
    this.slackClient = slackClient;
    this.rateLimiter = rateLimiter;
  }

  get installation(): Installation {
    return this.slackClient.installation;
  }

  /**
   * Waits as long as it takes; with `maxWaitMs`, undefined if there is no permit within it. `args` may be made with the
   * permit, just before the call. Throws a SlackError, or the reason of the signal that withdrew the request.
   */
  call<S extends z.ZodType>(
    method: LimitedMethod,
    args: CallArguments,
    options: Omit<PermitRequest, 'maxWaitMs'> & LimitedCallOptions<S>,
  ): Promise<z.infer<S>>;
  call<S extends z.ZodType>(
    method: LimitedMethod,
    args: CallArguments,
    options: PermitRequest & LimitedCallOptions<S>,
  ): Promise<z.infer<S> | undefined>;
  async call<S extends z.ZodType>(
    method: LimitedMethod,
    args: CallArguments,
    options: PermitRequest & LimitedCallOptions<S>,
  ): Promise<z.infer<S> | undefined> {
    const send = async () =>
      this.slackClient.call(method, typeof args === 'function' ? await args() : args, options);
    return await this.rateLimiter.run(method, options, send, options.channel);
  }

  /** Like `call`, of whose response nothing is read; false if there is no permit within `maxWaitMs`. */
  async send(method: LimitedMethod, args: CallArguments, request: PermitRequest = {}): Promise<boolean> {
    return (await this.call(method, args, { ...request, schema: anyResponseSchema })) !== undefined;
  }
}
