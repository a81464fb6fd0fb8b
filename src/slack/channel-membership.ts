import { z } from 'zod';
import { ChannelGoneError, isLastingRefusal } from './errors.ts';
import type { RateLimitedClient } from './rate-limited-client.ts';
import { TtlCache } from './ttl-cache.ts';

/** Whether somebody is in a channel; `unknown` where Slack does not tell (the bot cannot see it). */
export type MembershipStatus = 'member' | 'outsider' | 'unknown';

/** Rights hang on it, so it must not be old (ms). */
const CACHE_TTL_MS = 30_000;
/** People that one call names, and pages that are read at most. */
const PAGE_SIZE = 1_000;
const MAX_PAGES = 10;

const pageSchema = z.looseObject({
  members: z.array(z.string()),
  response_metadata: z.looseObject({ next_cursor: z.string().nullish() }).nullish(),
});

/** Who is in which channel of one workspace, remembered for half a minute. */
export class ChannelMembership {
  readonly #api: RateLimitedClient;
  readonly #cache = new TtlCache<MembershipStatus>({ most: 2_000, lifeMs: CACHE_TTL_MS });

  constructor(options: { api: RateLimitedClient }) {
    this.#api = options.api;
  }

  /** Whether a person is in a channel. Throws a SlackError where Slack is away. */
  async statusOf(channel: string, person: string): Promise<MembershipStatus> {
    return await this.#cache.get(`${channel}/${person}`, () => this.#lookUp(channel, person));
  }

  async #lookUp(channel: string, person: string): Promise<MembershipStatus> {
    let cursor: string | undefined;
    try {
      for (let pages = 0; pages < MAX_PAGES; pages += 1) {
        const args = { channel, limit: PAGE_SIZE, ...(cursor !== undefined && { cursor }) };
        const { members, response_metadata: more } = await this.#api.call('conversations.members', args, {
          schema: pageSchema,
        });
        if (members.includes(person)) return 'member';
        cursor = more?.next_cursor || undefined;
        if (cursor === undefined) return 'outsider';
      }
      return 'unknown';
    } catch (error) {
      if (isLastingRefusal(error) || error instanceof ChannelGoneError) return 'unknown';
      throw error;
    }
  }
}
