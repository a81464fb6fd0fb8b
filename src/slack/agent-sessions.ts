import type { Logger } from 'pino';
import { SlackError } from './errors.ts';
import type { RateLimitedClient } from './rate-limited-client.ts';
import { anyResponseSchema } from './slack-client.ts';

/** The status is optional, and skipped after this wait for a permit (ms). */
const MAX_WAIT_MS = 2_000;
/** Slack's errors if the app is not declared as an agent, or the workspace lacks the feature. */
const LASTING_CODES = new Set(['not_authorized', 'feature_disabled', 'missing_scope', 'unknown_method']);

/**
 * Slack's own status of a working agent, with its stop button (https://docs.slack.dev/ai/agent-sessions). Never throws
 * a SlackError. After a lasting refusal it sends nothing more.
 */
export class AgentSessions {
  readonly #client: RateLimitedClient;
  readonly #log: Logger;
  #isRefused = false;

  constructor(client: RateLimitedClient, log: Logger) {
    this.#client = client;
    this.#log = log;
  }

  /** Slack shows `processing` for an hour at most. */
  async setStatus(
    { channel, threadTs }: { channel: string; threadTs: string },
    status: 'processing' | 'active',
  ): Promise<void> {
    if (this.#isRefused) return;
    const args = { channel_id: channel, thread_ts: threadTs, status };
    try {
      await this.#client.tryCall(MAX_WAIT_MS, 'agents.sessions.setStatus', args, {
        schema: anyResponseSchema,
      });
    } catch (error) {
      if (!(error instanceof SlackError)) throw error;
      this.#isRefused = LASTING_CODES.has(error.slackCode);
      const message = this.#isRefused
        ? 'Slack refused the agent session: declare the app as an agent, or set AGENT_SESSIONS to false'
        : 'setting the agent session status failed';
      this.#log[this.#isRefused ? 'warn' : 'debug']({ err: error }, message);
    }
  }
}
