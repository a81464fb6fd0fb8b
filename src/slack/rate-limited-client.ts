import type { z } from 'zod';
import type { Installation } from './installation.ts';
import type { PermitRequest } from './permit-queue.ts';
import type { LimitedMethod, RateLimiter } from './rate-limiter.ts';
import type { SlackCallOptions, SlackClient } from './slack-client.ts';

type LimitedCallOptions<S extends z.ZodType> = Omit<PermitRequest, 'maxWaitMs'> & SlackCallOptions<S>;

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
    method: LimitedMethod,
    args: Record<string, unknown>,
    options: LimitedCallOptions<S>,
  ): Promise<z.infer<S>> {
    return await this.rateLimiter.run(method, options, () => this.slackClient.call(method, args, options));
  }

  /** Like `call`, for an optional call: undefined if there is no permit within `maxWaitMs`. */
  async tryCall<S extends z.ZodType>(
    maxWaitMs: number,
    method: LimitedMethod,
    args: Record<string, unknown>,
    options: LimitedCallOptions<S>,
  ): Promise<z.infer<S> | undefined> {
    const call = () => this.slackClient.call(method, args, options);
    return await this.rateLimiter.run(method, { ...options, maxWaitMs }, call);
  }
}
