import { z } from 'zod';
import { Cache } from './cache.ts';
import { ChannelGone, isLasting } from './errors.ts';
import type { PacedClient } from './paced-client.ts';

/** Whether somebody is in a channel; `unknown` where Slack does not tell (the bot cannot see it). */
export type Standing = 'member' | 'outsider' | 'unknown';

/** Rights hang on it, so it must not be old (ms). */
const LIFE_MS = 30_000;
/** People that one call names, and pages that are read at most. */
const PAGE = 1_000;
const MOST_PAGES = 10;

const page = z.looseObject({
  members: z.array(z.string()),
  response_metadata: z.looseObject({ next_cursor: z.string().nullish() }).nullish(),
});

/** Who is in which channel of one workspace, remembered for half a minute. */
export class Membership {
  readonly #api: PacedClient;
  readonly #known = new Cache<Standing>({ most: 2_000, lifeMs: LIFE_MS });

  constructor(options: { api: PacedClient }) {
    this.#api = options.api;
  }

  /** Whether a person is in a channel. Throws a SlackError where Slack is away. */
  async standing(channel: string, person: string): Promise<Standing> {
    return await this.#known.get(`${channel}/${person}`, () => this.#look(channel, person));
  }

  async #look(channel: string, person: string): Promise<Standing> {
    let cursor: string | undefined;
    try {
      for (let pages = 0; pages < MOST_PAGES; pages += 1) {
        const args = { channel, limit: PAGE, ...(cursor !== undefined && { cursor }) };
        const { members, response_metadata: more } = await this.#api.call('conversations.members', args, {
          schema: page,
        });
        if (members.includes(person)) return 'member';
        cursor = more?.next_cursor || undefined;
        if (cursor === undefined) return 'outsider';
      }
      return 'unknown';
    } catch (error) {
      if (isLasting(error) || error instanceof ChannelGone) return 'unknown';
      throw error;
    }
  }
}
