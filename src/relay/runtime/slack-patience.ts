import { SlackUnavailableError } from '../../slack/errors.ts';
import type { ThreadWork } from './deps.ts';
import { FailingTime } from './failing-time.ts';
import { type TransientFailure, transientFailure } from './retry.ts';
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
