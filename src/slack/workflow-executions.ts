import { SlackRefusedError } from './errors.ts';
import type { RateLimitedClient, RateLimitedMethod } from './rate-limited-client.ts';
import { anyResponseSchema } from './slack-client.ts';

/** Slack has completed this run of a step before, or has closed it. */
const CLOSED_CODES = new Set(['execution_not_in_running_state', 'function_execution_not_found']);

/**
 * Completes steps of workflows (https://docs.slack.dev/reference/methods/functions.completeSuccess) with the bot's own
 * token: the one that Slack sends with a step expires after 15 minutes. Completing a step twice does no harm.
 */
export class WorkflowExecutions {
  readonly #client: RateLimitedClient;

  constructor(client: RateLimitedClient) {
    this.#client = client;
  }

  /** Throws a SlackError; PayloadRefused is for outputs that the app's manifest at Slack does not have. */
  async succeed(id: string, outputs: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<void> {
    await this.#end('functions.completeSuccess', { function_execution_id: id, outputs }, signal);
  }

  /** `error` is what the person who keeps the workflow reads. Throws a SlackError. */
  async fail(id: string, error: string, signal?: AbortSignal): Promise<void> {
    await this.#end('functions.completeError', { function_execution_id: id, error }, signal);
  }

  async #end(method: RateLimitedMethod, args: Record<string, unknown>, signal?: AbortSignal): Promise<void> {
    try {
      await this.#client.call(method, args, { schema: anyResponseSchema, signal });
    } catch (error) {
      if (!(error instanceof SlackRefusedError && CLOSED_CODES.has(error.slackCode))) throw error;
    }
  }
}
