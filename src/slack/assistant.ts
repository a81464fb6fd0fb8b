import type { RateLimitedClient } from './rate-limited-client.ts';
import { anyResponseSchema } from './slack-client.ts';

/** A question that people can ask with one click. */
export interface SuggestedPrompt {
  title: string;
  message: string;
}

/** The most prompts that Slack shows (https://docs.slack.dev/reference/methods/assistant.threads.setSuggestedPrompts). */
const MAX_PROMPTS = 4;

/** Prompts and titles of an agent's direct messages; only for apps that are declared as an agent. */
export class Assistant {
  readonly #client: RateLimitedClient;

  constructor(client: RateLimitedClient) {
    this.#client = client;
  }

  /** Pins prompts at the top of a person's direct messages with the bot. Throws a SlackError. */
  async setSuggestedPrompts(
    channel: string,
    title: string,
    prompts: readonly SuggestedPrompt[],
  ): Promise<void> {
    const args = { channel_id: channel, title, prompts: prompts.slice(0, MAX_PROMPTS) };
    await this.#client.call('assistant.threads.setSuggestedPrompts', args, { schema: anyResponseSchema });
  }

  /** Gives a thread of direct messages its title. Throws a SlackError. */
  async setTitle(channel: string, threadTs: string, title: string): Promise<void> {
    const args = { channel_id: channel, thread_ts: threadTs, title };
    await this.#client.call('assistant.threads.setTitle', args, { schema: anyResponseSchema });
  }
}
