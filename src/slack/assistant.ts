import type { RateLimitedClient } from './rate-limited-client.ts';
import { anyResponseSchema } from './slack-client.ts';

/** A question that people can ask with one click. Slack shows four. */
interface SuggestedPrompt {
  title: string;
  message: string;
}

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
    const args = { channel_id: channel, title, prompts };
    await this.#client.call('assistant.threads.setSuggestedPrompts', args, { schema: anyResponseSchema });
  }

  /** Gives a thread of direct messages its title. Throws a SlackError. */
  async setTitle(channel: string, threadTs: string, title: string): Promise<void> {
    const args = { channel_id: channel, thread_ts: threadTs, title };
    await this.#client.call('assistant.threads.setTitle', args, { schema: anyResponseSchema });
  }
}
