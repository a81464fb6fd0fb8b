import type { Logger } from 'pino';
import { z } from 'zod';
import { SlackError } from './errors.ts';
import type { PacedClient } from './paced-client.ts';

/** Waits so long (ms) for its lane, and is left out then: it is an ornament. */
const ORNAMENT_MS = 2_000;
/** Slack says so where the app is no agent, or the workspace lacks the feature. */
const LASTING = new Set(['not_authorized', 'feature_disabled', 'missing_scope', 'unknown_method']);

const anyAnswer = z.looseObject({});

/** A thread, as a session of an agent. */
export interface SessionPlace {
  channel: string;
  threadTs: string;
}

/**
 * Slack's own sign of an agent at work, with its stop button (https://docs.slack.dev/ai/agent-sessions). Never throws;
 * where Slack refuses it for good, it is not tried again.
 */
export class Sessions {
  readonly #api: PacedClient;
  readonly #log: Logger;
  #refused = false;

  constructor(options: { api: PacedClient; log: Logger }) {
    this.#api = options.api;
    this.#log = options.log;
  }

  /** `processing` holds for an hour at most. */
  async show({ channel, threadTs }: SessionPlace, status: 'processing' | 'active'): Promise<void> {
    if (this.#refused) return;
    const args = { channel_id: channel, thread_ts: threadTs, status };
    try {
      await this.#api.tryCall(ORNAMENT_MS, 'agents.sessions.setStatus', args, { schema: anyAnswer });
    } catch (error) {
      if (!(error instanceof SlackError)) throw error;
      this.#refused = LASTING.has(error.slackCode);
      const what = this.#refused
        ? 'Slack does not show sessions of this app: declare it an agent, or set AGENT_SESSIONS to false'
        : 'a session was not shown';
      this.#log[this.#refused ? 'warn' : 'debug']({ err: error }, what);
    }
  }
}
