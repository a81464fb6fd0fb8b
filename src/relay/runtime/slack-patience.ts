import { SlackError, SlackLeaseError, SlackUnavailableError } from '../../slack/errors.ts';
import type { ThreadWork } from './deps.ts';
import { FailingTime } from './failing-time.ts';
import { type TransientFailure, transientFailure, type WaitCause, withRetry } from './retry.ts';
import { ThreadGivenUp } from './turn-interruptions.ts';

/**
 * Judges the failures of one step in Slack: in an outage it waits for as long as it takes; what fails for `badThingMs`
 * while other calls succeed is given up.
 */
export class SlackPatience {
  readonly #work: Pick<ThreadWork, 'workspace' | 'deps'>;
  readonly #failing = new FailingTime();

  constructor(work: Pick<ThreadWork, 'workspace' | 'deps'>) {
    this.#work = work;
  }

  /** How to wait after an error; undefined for a permanent one. Throws ThreadGivenUp. */
  async waitAfter(error: unknown): Promise<TransientFailure | undefined> {
    if (error instanceof SlackUnavailableError) {
      const { workspace, deps } = this.#work;
      const failedMs = await this.#failing.count((at) => workspace.wasThereAfter(at));
      if (failedMs >= deps.settings.badThingMs) throw new ThreadGivenUp(error);
    }
    return transientFailure(error);
  }
}

export interface Patience<T> {
  /** What the step is about, for the log. */
  about: Record<string, string>;
  /** Called at the first wait. */
  onWait?: () => void;
  /** Stands in for what Slack refuses for good, or fails at for `badThingMs` while other calls succeed. */
  orElse: (error: SlackError) => T | Promise<T>;
}

/**
 * Runs a step in Slack until it succeeds or is given up; in an outage it waits for as long as it takes. Throws HandOver,
 * the lease's reason, and what is no SlackError.
 */
export async function withPatience<T>(
  work: Pick<ThreadWork, 'workspace' | 'deps' | 'lease'>,
  step: () => Promise<T>,
  { about, onWait, orElse }: Patience<T>,
): Promise<T> {
  const { lease, deps } = work;
  const patience = new SlackPatience(work);
  let waited = false;
  const onEachWait = (cause: WaitCause | undefined, error: unknown) => {
    if (cause === undefined || waited) return;
    waited = true;
    deps.log.warn({ ...about, err: error, cause }, 'waiting for a step in Slack');
    onWait?.();
  };
  try {
    return await withRetry(lease, step, onEachWait, { judge: (error) => patience.waitAfter(error) });
  } catch (error) {
    const isOurs = lease.remainingMs() > 0 && !(error instanceof SlackLeaseError);
    if (!isOurs || !(error instanceof SlackError)) throw error;
    deps.log.warn({ ...about, err: error }, 'giving up a step in Slack');
    return await orElse(error);
  }
}
