import type { Logger } from 'pino';
import { z } from 'zod';
import { SlackError } from './errors.ts';
import type { RateLimitedClient } from './rate-limited-client.ts';

/** Waits so long (ms) for its lane, and is left out then: it is an ornament. */
const MAX_WAIT_MS = 2_000;
/** Slack says so where the app is no agent, or the workspace lacks the feature. */
const LASTING_CODES = new Set(['not_authorized', 'feature_disabled', 'missing_scope', 'unknown_method']);

const anyAnswerSchema = z.looseObject({});

/** A thread, as a session of an agent. */
export interface SessionThread {
  channel: string;
  threadTs: string;
}

/**
 * Slack's own sign of an agent at work, with its stop button (https://docs.slack.dev/ai/agent-sessions). Never throws;
 * where Slack refuses it for good, it is not tried again.
 */
export class AgentSessions {
  readonly #api: RateLimitedClient;
  readonly #log: Logger;
  #isRefused = false;

  constructor(options: { api: RateLimitedClient; log: Logger }) {
    this.#api = options.api;
    this.#log = options.log;
  }

  /** `processing` holds for an hour at most. */
  async setStatus({ channel, threadTs }: SessionThread, status: 'processing' | 'active'): Promise<void> {
    if (this.#isRefused) return;
    const args = { channel_id: channel, thread_ts: threadTs, status };
    try {
      await this.#api.tryCall(MAX_WAIT_MS, 'agents.sessions.setStatus', args, { schema: anyAnswerSchema });
    } catch (error) {
      if (!(error instanceof SlackError)) throw error;
      this.#isRefused = LASTING_CODES.has(error.slackCode);
      const what = this.#isRefused
        ? 'Slack does not show sessions of this app: declare it an agent, or set AGENT_SESSIONS to false'
        : 'a session was not shown';
      this.#log[this.#isRefused ? 'warn' : 'debug']({ err: error }, what);
    }
  }
}
