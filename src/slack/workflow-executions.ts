import { valueIf } from '../calls/retries-and-waits.ts';
import { isRefusedWith } from './errors.ts';
import type { RateLimitedClient } from './rate-limits.ts';

/** Slack has completed this run of a step before, or has closed it. */
const CLOSED_CODES = /^(?:execution_not_in_running_state|function_execution_not_found)$/;

/**
 * Completes steps of workflows (https://docs.slack.dev/reference/methods/functions.completeSuccess) with the bot's own
 * token: the one that Slack sends with a step expires after 15 minutes. Completing a step twice does no harm.
 */
export class WorkflowExecutions {
  readonly #client: RateLimitedClient;

  constructor(client: RateLimitedClient) {
    this.#client = client;
  }

  /**
   * Completes a run with its outputs, or with the error that the person who keeps the workflow reads. Throws a SlackError;
   * a PayloadRefusedError for outputs that the app's manifest at Slack does not have.
   */
  async complete(
    id: string,
    outcome: { outputs: Readonly<Record<string, string>> } | { error: string },
    signal: AbortSignal,
  ): Promise<void> {
    const method = 'outputs' in outcome ? 'functions.completeSuccess' : 'functions.completeError';
    const completed = this.#client.send(method, { function_execution_id: id, ...outcome }, { signal });
    await completed.catch(valueIf(true, isRefusedWith(CLOSED_CODES)));
  }
}
