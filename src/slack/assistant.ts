import { z } from 'zod';
import type { RateLimitedClient } from './rate-limited-client.ts';

/** Something that a person can ask with one press. */
export interface SuggestedPrompt {
  title: string;
  message: string;
}

const anyAnswerSchema = z.looseObject({});
/** Prompts that Slack shows at most (https://docs.slack.dev/reference/methods/assistant.threads.setSuggestedPrompts). */
const MAX_PROMPTS = 4;

/** What Slack shows of an agent around its direct messages; only for apps that are declared an agent. */
export class Assistant {
  readonly #api: RateLimitedClient;

  constructor(options: { api: RateLimitedClient }) {
    this.#api = options.api;
  }

  /** Pins prompts at the top of a person's direct messages with the bot. Throws a SlackError. */
  async setSuggestedPrompts(
    channel: string,
    title: string,
    prompts: readonly SuggestedPrompt[],
  ): Promise<void> {
    const args = { channel_id: channel, title, prompts: prompts.slice(0, MAX_PROMPTS) };
    await this.#api.call('assistant.threads.setSuggestedPrompts', args, { schema: anyAnswerSchema });
  }

  /** Gives a thread of direct messages its title. Throws a SlackError. */
  async setTitle(channel: string, threadTs: string, title: string): Promise<void> {
    const args = { channel_id: channel, thread_ts: threadTs, title };
    await this.#api.call('assistant.threads.setTitle', args, { schema: anyAnswerSchema });
  }
}
