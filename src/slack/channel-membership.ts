import { z } from 'zod';
import { SharedLoads } from '../calls/askers.ts';
import { listOf } from '../calls/json.ts';
import { ChannelGoneError, isPermanentRefusal } from './errors.ts';
import { nextPageSchema, pagesOf } from './field-schemas.ts';
import type { RateLimitedClient } from './rate-limits.ts';

/** Whether a person is in a channel; `unknown` if Slack does not say, because the bot cannot see the channel. */
export type MembershipStatus = 'member' | 'outsider' | 'unknown';

const PAGE_SIZE = 1_000;
const MAX_PAGES = 10;
/** After so many pages a person is looked for among their own channels, which are fewer. */
const OWN_LIST_AFTER_PAGES = 3;

const pageSchema = z.looseObject({ members: listOf(z.string()), response_metadata: nextPageSchema });
const ownPageSchema = z.looseObject({
  channels: listOf(z.looseObject({ id: z.string() })),
  response_metadata: nextPageSchema,
});

/** Who is in which channel of one workspace: looked up for each use, because access depends on it. */
export class ChannelMembership {
  readonly #client: RateLimitedClient;
  readonly #looks = new Map<string, Promise<MembershipStatus>>();
  readonly #loads = new SharedLoads();

  constructor(client: RateLimitedClient) {
    this.#client = client;
  }

  /** Whether a person is in a channel now; who asks while that is looked up shares the answer. Throws a SlackError if Slack is unavailable. */
  async statusOf(channel: string, person: string): Promise<MembershipStatus> {
    const key = `${channel}/${person}`;
    return await this.#loads.join(key, () => {
      const look =
        this.#looks.get(key) ?? this.#lookUp(channel, person).finally(() => this.#looks.delete(key));
      this.#looks.set(key, look);
      return look;
    });
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
    let read = 0;
    for await (const members of this.#pages(channel)) {
      if (members === undefined) return 'unknown';
      if (members.includes(person)) return 'member';
      read += 1;
      if (read === OWN_LIST_AFTER_PAGES && (await this.#isAmongOwn(channel, person))) return 'member';
    }
    return 'outsider';
  }

  /** Whether Slack lists a channel among those that a person shares with the bot; if not, that says nothing. */
  async #isAmongOwn(channel: string, user: string): Promise<boolean> {
    const own = { user, types: 'public_channel,private_channel', limit: 999 };
    const pages = pagesOf(MAX_PAGES, (at) =>
      this.#client.call('users.conversations', { ...own, ...at }, { schema: ownPageSchema }),
    );
    try {
      for await (const page of pages) if (page?.channels.some(({ id }) => id === channel)) return true;
    } catch (error) {
      if (!isPermanentRefusal(error)) throw error;
    }
    return false;
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
