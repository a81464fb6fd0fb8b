import { z } from 'zod';
import { SharedLoads } from '../calls/askers.ts';
import { listOf } from '../calls/json.ts';
import { ttlCache } from '../calls/shared-calls.ts';
import { ChannelGoneError, isPermanentRefusal } from './errors.ts';
import { nextPageSchema, pagesOf } from './field-schemas.ts';
import type { RateLimitedClient } from './rate-limits.ts';

/** Whether a person is in a channel; `unknown` if Slack does not say, because the bot cannot see the channel. */
export type MembershipStatus = 'member' | 'outsider' | 'unknown';

/** Most looks that are shared by those who ask while they are under way, and how long one may take (ms). */
const MAX_LOOKS = 2_000;
const LOOK_MS = 30_000;
const PAGE_SIZE = 1_000;
const MAX_PAGES = 10;

const pageSchema = z.looseObject({ members: listOf(z.string()), response_metadata: nextPageSchema });

/** Who is in which channel of one workspace: looked up for each use, because access depends on it. */
export class ChannelMembership {
  readonly #client: RateLimitedClient;
  readonly #looks = ttlCache<MembershipStatus, { channel: string; person: string }>(
    MAX_LOOKS,
    LOOK_MS,
    (_key, { channel, person }) => this.#lookUp(channel, person),
  );

  readonly #loads = new SharedLoads();

  constructor(client: RateLimitedClient) {
    this.#client = client;
  }

  /** Whether a person is in a channel now; who asks while that is looked up shares the answer. Throws a SlackError if Slack is unavailable. */
  async statusOf(channel: string, person: string): Promise<MembershipStatus> {
    const options = { context: { channel, person }, forceRefresh: true };
    const key = `${channel}/${person}`;
    return await this.#loads.join(key, () => this.#looks.forceFetch(key, options));
  }

  /** The members of a channel; undefined if Slack does not list them all. Throws a SlackError if Slack is unavailable. */
  async membersOf(channel: string): Promise<string[] | undefined> {
    const all: string[] = [];
    for await (const members of this.#pages(channel)) {
      if (members === undefined) return undefined;
      all.push(...members);
    }
    return all;
  }

  async #lookUp(channel: string, person: string): Promise<MembershipStatus> {
    for await (const members of this.#pages(channel)) {
      if (members === undefined) return 'unknown';
      if (members.includes(person)) return 'member';
    }
    return 'outsider';
  }

  /** The members page by page; undefined in place of those that Slack does not list. */
  async *#pages(channel: string): AsyncGenerator<readonly string[] | undefined> {
    const options = { schema: pageSchema };
    const pages = pagesOf(MAX_PAGES, (at) =>
      this.#client.call('conversations.members', { channel, limit: PAGE_SIZE, ...at }, options),
    );
    try {
      for await (const page of pages) yield page?.members;
    } catch (error) {
      if (!isPermanentRefusal(error) && !(error instanceof ChannelGoneError)) throw error;
      yield undefined;
    }
  }
}
