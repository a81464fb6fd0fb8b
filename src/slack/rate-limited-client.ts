import type { z } from 'zod';
import { SlackError, SlackLeaseError } from './errors.ts';
import type { LeaseGuard } from './lease-guard.ts';
import type { Permit, PermitRequest } from './permit-queue.ts';
import type { RateLimiter, ScopedPermitRequest } from './rate-limiter.ts';
import type { RateLimitName } from './rate-limits.ts';
import type { Installation, SlackClient } from './slack-client.ts';

/** A lane's name that is a method's name too. */
export type RateLimitedMethod = Exclude<RateLimitName, 'chat.postMessage.channel'>;

/** How one call is made, and how it waits for its permit. */
export interface RateLimitedCallOptions<S extends z.ZodType> extends PermitRequest {
  schema: S;
  guard?: LeaseGuard | undefined;
}

/** Slack's Web API under the budget: waits for a permit of the method's lane, then calls. */
export class RateLimitedClient {
  readonly slackClient: SlackClient;
  readonly rateLimiter: RateLimiter;

  constructor(client: SlackClient, budget: RateLimiter) {
    this.slackClient = client;
    this.rateLimiter = budget;
  }

  get installation(): Installation {
    return this.slackClient.installation;
  }

  /** Waits as long as it takes; throws a SlackError, or the reason of a withdrawn wish. */
  async call<S extends z.ZodType>(
    method: RateLimitedMethod,
    args: Record<string, unknown>,
    options: RateLimitedCallOptions<S>,
  ): Promise<z.infer<S>> {
    const { maxWaitMs: _, ...unlimited } = options;
    const done = await this.run(method, unlimited, () => this.slackClient.call(method, args, options));
    if (done === undefined) throw new Error('A call without a time limit was left out.');
    return done.value;
  }

  /** The same for an ornament: undefined when the lane cannot afford it within `ms`. */
  async tryCall<S extends z.ZodType>(
    ms: number,
    method: RateLimitedMethod,
    args: Record<string, unknown>,
    options: RateLimitedCallOptions<S>,
  ): Promise<z.infer<S> | undefined> {
    const done = await this.run(method, { ...options, maxWaitMs: ms }, () =>
      this.slackClient.call(method, args, options),
    );
    return done?.value;
  }

  /** Makes any call under a method's lane, and under the channel's where `channel` is named. */
  async run<T>(
    method: RateLimitedMethod,
    request: PermitRequest & { guard?: LeaseGuard | undefined; channel?: string | undefined },
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
