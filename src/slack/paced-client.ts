import type { z } from 'zod';
import type { Ask, Budget } from './budget.ts';
import type { Installation, SlackClient } from './client.ts';
import { LeaseEnded, SlackError } from './errors.ts';
import type { Guard } from './guard.ts';
import type { Permit, Wish } from './lane-pump.ts';
import type { LaneName } from './limits.ts';

/** A lane's name that is a method's name too. */
export type PacedMethod = Exclude<LaneName, 'chat.postMessage.channel'>;

/** How one call is made, and how it waits for its permit. */
export interface PacedOptions<S extends z.ZodType> extends Wish {
  schema: S;
  guard?: Guard | undefined;
}

/** Slack's Web API under the budget: waits for a permit of the method's lane, then calls. */
export class PacedClient {
  readonly client: SlackClient;
  readonly budget: Budget;

  constructor(client: SlackClient, budget: Budget) {
    this.client = client;
    this.budget = budget;
  }

  get installation(): Installation {
    return this.client.installation;
  }

  /** Waits as long as it takes; throws a SlackError, or the reason of a withdrawn wish. */
  async call<S extends z.ZodType>(
    method: PacedMethod,
    args: Record<string, unknown>,
    options: PacedOptions<S>,
  ): Promise<z.infer<S>> {
    const { withinMs: _, ...patient } = options;
    const done = await this.run(method, patient, () => this.client.call(method, args, options));
    if (done === undefined) throw new Error('A call without a time limit was left out.');
    return done.value;
  }

  /** The same for an ornament: undefined when the lane cannot afford it within `ms`. */
  async tryCall<S extends z.ZodType>(
    ms: number,
    method: PacedMethod,
    args: Record<string, unknown>,
    options: PacedOptions<S>,
  ): Promise<z.infer<S> | undefined> {
    const done = await this.run(method, { ...options, withinMs: ms }, () =>
      this.client.call(method, args, options),
    );
    return done?.value;
  }

  /** Makes any call under a method's lane, and under the channel's where `channel` is named. */
  async run<T>(
    method: PacedMethod,
    wish: Wish & { guard?: Guard | undefined; channel?: string | undefined },
    call: (permit: Permit) => Promise<T>,
  ): Promise<{ value: T } | undefined> {
    const { guard, channel } = wish;
    const ask: Ask = {
      ...wish,
      guardSignal: guard?.signal,
      workspace: this.installation.workspace,
      lane: method,
    };
    try {
      if (channel === undefined) return await this.budget.run([ask], call);
      return await this.budget.run([ask, { ...ask, lane: 'chat.postMessage.channel', of: channel }], call);
    } catch (error) {
      if (error instanceof SlackError || !guard?.signal.aborted) throw error;
      throw new LeaseEnded({ method, outcome: 'none', cause: error });
    }
  }
}
