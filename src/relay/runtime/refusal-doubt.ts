import type { AgentClient } from '../../agent/agent-client.ts';
import { AgentError, AgentRejectedError, AgentResponseSizeError } from '../../agent/errors.ts';
import type { RelayLimits } from './deps.ts';
import { FailingTime } from './failing-time.ts';
import { type TransientFailure, transientFailure } from './retry.ts';

/** The longest pause before the service is asked again (ms). */
const MAX_PAUSE_MS = 15_000;

/**
 * Doubts answers that a thing is gone, refused or unreadable: they may be those of a gateway, or of a service that is
 * being replaced. Each is believed after a time of nothing else in which the service itself was there: `refusalMs`, or
 * `badThingMs` where something is gone or refused although the task of the message still answers. What fails as in an
 * outage is given up after `badThingMs` in which other calls succeed.
 */
export class RefusalDoubt {
  readonly #limits: RelayLimits;
  #failing = new FailingTime();
  #unavailable = new FailingTime();

  constructor(limits: RelayLimits) {
    this.#limits = limits;
  }

  /** The service has answered. */
  clear(): void {
    this.#failing = new FailingTime();
    this.#unavailable = new FailingTime();
  }

  /** How to wait before asking again; undefined if the error is no such answer, or ends the wait. `sentTo`: the message's task. */
  async waitAfter(
    error: unknown,
    agent: () => AgentClient,
    sentTo: string | undefined,
  ): Promise<TransientFailure | undefined> {
    const isUnavailable = error instanceof AgentError && error.code === 'unavailable';
    if (!isUnavailable && !isDoubtful(error, sentTo !== undefined)) return undefined;
    const client = agent();
    if (isUnavailable) {
      // Its success counts: nothing else may be called meanwhile.
      if (sentTo !== undefined) await client.getTask(sentTo).catch(() => undefined);
      const failedMs = await this.#unavailable.count((at) => client.presence.hasSucceededAfter(at));
      return failedMs >= this.#limits.badThingMs ? undefined : transientFailure(error);
    }
    const isTaskThere =
      sentTo !== undefined && !isUnreadable(error) && !(await isRefused(() => client.getTask(sentTo)));
    const failedMs = await this.#failing.count((at) => client.presence.wasThereAfter(at));
    if (failedMs >= (isTaskThere ? this.#limits.badThingMs : this.#limits.refusalMs)) return undefined;
    return { cause: 'service_unreachable', maxWaitMs: MAX_PAUSE_MS };
  }
}

/** Before the message is sent, its rejection is about what it says. */
function isDoubtful(error: unknown, isSent: boolean): boolean {
  if (!(error instanceof AgentError) || error.outcome === 'not_sent') return false;
  if (error instanceof AgentResponseSizeError) return false;
  if (error instanceof AgentRejectedError) return isSent;
  return error.code === 'not_found' || isUnreadable(error);
}

function isUnreadable(error: unknown): boolean {
  return error instanceof AgentError && error.code === 'not_understood';
}

async function isRefused(call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call();
    return false;
  } catch (error) {
    return isDoubtful(error, true);
  }
}
