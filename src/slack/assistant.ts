import { z } from 'zod';
import type { PacedClient } from './paced-client.ts';

/** Something that a person can ask with one press. */
export interface Prompt {
  title: string;
  message: string;
}

const anyAnswer = z.looseObject({});
/** Prompts that Slack shows at most (https://docs.slack.dev/reference/methods/assistant.threads.setSuggestedPrompts). */
const MOST_PROMPTS = 4;

/** What Slack shows of an agent around its direct messages; only for apps that are declared an agent. */
export class Assistant {
  readonly #api: PacedClient;

  constructor(options: { api: PacedClient }) {
    this.#api = options.api;
  }

  /** Pins prompts at the top of a person's direct messages with the bot. Throws a SlackError. */
  async suggest(channel: string, title: string, prompts: readonly Prompt[]): Promise<void> {
    const args = { channel_id: channel, title, prompts: prompts.slice(0, MOST_PROMPTS) };
    await this.#api.call('assistant.threads.setSuggestedPrompts', args, { schema: anyAnswer });
  }

  /** Gives a thread of direct messages its title. Throws a SlackError. */
  async name(channel: string, threadTs: string, title: string): Promise<void> {
    const args = { channel_id: channel, thread_ts: threadTs, title };
    await this.#api.call('assistant.threads.setTitle', args, { schema: anyAnswer });
  }
}
