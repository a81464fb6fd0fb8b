import type { Logger } from 'pino';
import { NO_LONGER_NEEDED, sleepUnlessAborted } from '../calls/retries-and-waits.ts';
import { retryTransient, SlackError } from './errors.ts';
import type { RateLimitedClient } from './rate-limits.ts';

/** The status `processing` is optional, and skipped after this wait for a permit (ms). */
const MAX_WAIT_MS = 2_000;
/** Slack's errors if the app is not declared as an agent, or the workspace lacks the feature. */
const LASTING_CODES = new Set(['not_authorized', 'feature_disabled', 'missing_scope', 'unknown_method']);

/** What Slack shows of an app that is declared as an agent (https://docs.slack.dev/ai/agent-sessions). */
export class AgentSessions {
  readonly #client: RateLimitedClient;
  readonly #log: Logger;
  /** Whether Slack has refused no session for good since the process started. */
  isAvailable = true;

  constructor(client: RateLimitedClient, log: Logger) {
    this.#client = client;
    this.#log = log;
  }

  /**
   * Sets Slack's own status of a working agent, with its stop button. Slack shows `processing` for an hour at most, so
   * `active` is tried again, while `isDue` says so just before each call. After a permanent refusal it sends nothing more.
   * Throws a SlackError, or what tells that it is no longer needed.
   */
  async setStatus(
    { channel, threadTs }: { channel: string; threadTs: string },
    status: 'processing' | 'active',
    isDue = async () => true,
  ): Promise<void> {
    if (!this.isAvailable) return;
    const args = async () => {
      if (!(await isDue())) throw NO_LONGER_NEEDED;
      return { channel_id: channel, thread_ts: threadTs, status };
    };
    const send = (maxWaitMs?: number) => this.#client.send('agents.sessions.setStatus', args, { maxWaitMs });
    try {
      await (status === 'active' ? retryTransient(() => send()) : send(MAX_WAIT_MS));
    } catch (error) {
      if (!(error instanceof SlackError && LASTING_CODES.has(error.slackCode))) throw error;
      this.isAvailable = false;
      const message =
        'Slack refused the agent session: declare the app as an agent, or set AGENT_SESSIONS to false';
      this.#log.warn({ err: error }, message);
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

  /** Gives the session of a thread a title of at most 200 characters. Throws a SlackError. */
  async setTitle(channel: string, threadTs: string, title: string): Promise<void> {
    if (!this.isAvailable) return;
    const args = { channel_id: channel, thread_ts: threadTs, title };
    const rename = () => this.#client.send('agents.sessions.rename', args);
    await rename().catch(async (error: unknown) => {
      if (!(error instanceof SlackError && error.slackCode === 'session_not_found')) throw error;
      // The status that begins the session may still be on its way.
      await sleepUnlessAborted(MAX_WAIT_MS);
      await rename();
    });
  }
}
