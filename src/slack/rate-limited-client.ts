import type { z } from 'zod';
import { SlackError, SlackLeaseError } from './errors.ts';
import type { Installation } from './installation.ts';
import type { LeaseGuard } from './lease-guard.ts';
import type { Permit, PermitRequest } from './permit-queue.ts';
import type { RateLimiter, ScopedPermitRequest } from './rate-limiter.ts';
import type { RateLimitName } from './rate-limits.ts';
import type { SlackCallOptions, SlackClient } from './slack-client.ts';

export type RateLimitedMethod = Exclude<RateLimitName, 'chat.postMessage.channel'>;

interface RateLimitedRequest extends PermitRequest {
  guard?: LeaseGuard | undefined;
  channel?: string | undefined;
}

type RateLimitedCallOptions<S extends z.ZodType> = PermitRequest & SlackCallOptions<S>;

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

  /** Waits as long as it takes. Throws a SlackError, or the reason of the signal that withdrew the request. */
  async call<S extends z.ZodType>(
    method: RateLimitedMethod,
    args: Record<string, unknown>,
    options: Omit<RateLimitedCallOptions<S>, 'maxWaitMs'>,
  ): Promise<z.infer<S>> {
    return await this.runRequired(method, options, () => this.slackClient.call(method, args, options));
  }

  /** Like `call`, for an optional call: undefined if there is no permit within `maxWaitMs`. */
  async tryCall<S extends z.ZodType>(
    maxWaitMs: number,
    method: RateLimitedMethod,
    args: Record<string, unknown>,
    options: RateLimitedCallOptions<S>,
  ): Promise<z.infer<S> | undefined> {
    const done = await this.run(method, { ...options, maxWaitMs }, () =>
      this.slackClient.call(method, args, options),
    );
    return done?.value;
  }

  /** Like `run`, for a request without `maxWaitMs`. */
  async runRequired<T>(
    method: RateLimitedMethod,
    request: RateLimitedRequest,
    call: (permit: Permit) => Promise<T>,
  ): Promise<T> {
    const done = await this.run(method, request, call);
    if (done === undefined) throw new Error(`${method} was skipped although it has no time limit.`);
    return done.value;
  }

  /** Makes any call under a method's rate limit, and under the limit of `channel` if given. */
  async run<T>(
    method: RateLimitedMethod,
    request: RateLimitedRequest,
    call: (permit: Permit) => Promise<T>,
  ): Promise<{ value: T } | undefined> {
    const { guard, channel } = request;
    const permitRequest: ScopedPermitRequest = {
      ...request,
      leaseSignal: guard?.signal,
      workspace: this.installation.workspace,
      limit: method,
    };
    try {
      if (channel === undefined) return await this.rateLimiter.run([permitRequest], call);
      return await this.rateLimiter.run(
        [permitRequest, { ...permitRequest, limit: 'chat.postMessage.channel', scope: channel }],
        call,
      );
    } catch (error) {
      if (error instanceof SlackError || !guard?.signal.aborted) throw error;
      throw new SlackLeaseError({ method, outcome: 'none', cause: error });
    }
  }
}
