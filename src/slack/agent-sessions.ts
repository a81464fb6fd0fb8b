import type { Logger } from 'pino';
import { SlackError } from './errors.ts';
import type { RateLimitedClient } from './rate-limits.ts';

/** The status is optional, and skipped after this wait for a permit (ms). */
const MAX_WAIT_MS = 2_000;
/** Slack's errors if the app is not declared as an agent, or the workspace lacks the feature. */
const LASTING_CODES = new Set(['not_authorized', 'feature_disabled', 'missing_scope', 'unknown_method']);

/** What Slack shows of an app that is declared as an agent (https://docs.slack.dev/ai/agent-sessions). */
export class AgentSessions {
  readonly #client: RateLimitedClient;
  readonly #log: Logger;
  #isRefused = false;

  constructor(client: RateLimitedClient, log: Logger) {
    this.#client = client;
    this.#log = log;
  }

  /**
   * Sets Slack's own status of a working agent, with its stop button; Slack shows `processing` for an hour at most. Never
   * throws a SlackError. After a permanent refusal it sends nothing more.
   */
  async setStatus(
    { channel, threadTs }: { channel: string; threadTs: string },
    status: 'processing' | 'active',
  ): Promise<void> {
    if (this.#isRefused) return;
    const args = { channel_id: channel, thread_ts: threadTs, status };
    try {
      await this.#client.send('agents.sessions.setStatus', args, { maxWaitMs: MAX_WAIT_MS });
    } catch (error) {
      if (!(error instanceof SlackError)) throw error;
      this.#isRefused = LASTING_CODES.has(error.slackCode);
      const message = this.#isRefused
        ? 'Slack refused the agent session: declare the app as an agent, or set AGENT_SESSIONS to false'
        : 'setting the agent session status failed';
      this.#log[this.#isRefused ? 'warn' : 'debug']({ err: error }, message);
    }
  }

  /** Pins prompts, of which Slack shows four, at the top of a person's direct messages with the bot. Throws a SlackError. */
  async setSuggestedPrompts(
    channel: string,
    title: string,
    prompts: readonly { title: string; message: string }[],
  ): Promise<void> {
    await this.#client.send('assistant.threads.setSuggestedPrompts', { channel_id: channel, title, prompts });
  }

  /** Gives a thread of direct messages its title. Throws a SlackError. */
  async setTitle(channel: string, threadTs: string, title: string): Promise<void> {
    await this.#client.send('assistant.threads.setTitle', {
      channel_id: channel,
      thread_ts: threadTs,
      title,
    });
  }
}
