import type { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { z } from 'zod';
import { neededFor, SharedLoads } from '../calls/askers.ts';
import { listOf } from '../calls/json.ts';
import { NO_LONGER_NEEDED, unlessAborted, valueIf } from '../calls/retries-and-waits.ts';
import { ttlCache } from '../calls/shared-calls.ts';
import {
  ChannelGoneError,
  isPermanentRefusal,
  retryTransient,
  SlackAuthError,
  SlackError,
  SlackRefusedError,
} from './errors.ts';
import { flag, optional, pagesOf, text } from './field-schemas.ts';
import {
  INSIDER_KINDS,
  type Person,
  personOf,
  unknownPerson,
  userResponseSchema,
  usersResponseSchema,
} from './person.ts';
import type { RateLimitedClient } from './rate-limits.ts';

export type { Person, PersonKind } from './person.ts';

export interface Channel {
  id: string;
  /** Without `#`; undefined for direct messages and if Slack does not say. */
  name: string | undefined;
  /** Undefined if Slack does not say. */
  previousNames?: string[] | undefined;
  /** Untrusted text. */
  purpose: string;
  /** `public` for every full member of this workspace; `elsewhere` if an organisation's is not known to be of this workspace. */
  kind: 'public' | 'elsewhere' | 'private' | 'dm' | 'group_dm' | 'unknown';
  /** Shared with another organisation (Slack Connect); undefined if Slack does not say. */
  isExtShared: boolean | undefined;
}

const channelResponseSchema = z.looseObject({
  channel: z.looseObject({
    id: z.string(),
    name: text,
    previous_names: optional(listOf(z.string())),
    purpose: optional(z.looseObject({ value: text })),
    is_im: flag,
    is_mpim: flag,
    is_private: flag,
    is_ext_shared: flag,
    context_team_id: text,
    shared_team_ids: optional(listOf(z.string())),
    internal_team_ids: optional(listOf(z.string())),
    is_archived: flag,
    is_member: flag,
  }),
});
type SlackChannel = z.infer<typeof channelResponseSchema>['channel'];

/** People of a page of the list of a workspace's people; 17 pages a minute are allowed. */
const PEOPLE_PAGE_SIZE = 1_000;
/** The most pages that are read for those who wait to be looked up, and for a link, which may take no longer. */
const MAX_PEOPLE_PAGES = { waiting: 100, link: 8 };
/** From so many people on that are looked up at the same time, the list of all is read beside. */
const MANY_PEOPLE = 20;
/** How long the list is not read again after it was no help (ms). */
const LIST_PAUSE_MS = 30_000;
/** The most people that are looked up one by one for a link, at 80 a minute. */
const MAX_LINK_READERS = 30;
/** Stands for the name of what is no person to Slack. */
const A_BOT = 'a bot or workflow';
const CACHE_TTL_MS = 5 * 60_000;
const MAX_CURRENT_AGE_MS = 30_000;

/** The people and channels of one workspace: names are known for five minutes, and rights asked as they are used. */
export class SlackDirectory {
  readonly #client: RateLimitedClient;
  readonly #log: Logger;
  readonly #people = ttlCache(50_000, CACHE_TTL_MS, (id) => this.#loadPerson(id));
  readonly #channels = ttlCache(2_000, CACHE_TTL_MS, (id) => this.#loadChannel(id));
  /** Made at its first use, which few workspaces have. */
  #insiders: LRUCache<string, Set<string>> | undefined;
  /** Slack's list of people has more pages than are read for a link. */
  #isLarge = false;
  readonly #loads = new SharedLoads();
  /** Those who are being looked up one by one, and what to do with what the list says of them. */
  readonly #wanted = new Map<string, (person: Person) => void>();
  /** When the list may be read for them again (`performance.now()`); infinite while it is read. */
  #mayListAt = 0;

  constructor(client: RateLimitedClient, log: Logger) {
    this.#client = client;
    this.#log = log;
  }

  /** A person. Never throws a SlackError: if Slack is unavailable, the kind is `unknown`. */
  async person(id: string, signal?: AbortSignal): Promise<Person> {
    return await this.#orUnknown(this.requirePerson(id, signal), unknownPerson(id));
  }

  /** Like `person`, but throws a SlackError if Slack is unavailable. */
  async requirePerson(id: string, signal?: AbortSignal, forceRefresh = false): Promise<Person> {
    const load = this.#loads.join(id, () => this.#people.forceFetch(id, { forceRefresh }));
    return await unlessAborted(load, signal);
  }

  /** Like `requirePerson`, as Slack says now: for the right to do something. */
  async personNow(id: string, signal?: AbortSignal): Promise<Person> {
    return await this.requirePerson(id, signal, true);
  }

  /** Like `requirePerson`, but no more than half a minute old: for those who write many messages. */
  async currentPerson(id: string): Promise<Person> {
    if (this.#people.getRemainingTTL(id) < CACHE_TTL_MS - MAX_CURRENT_AGE_MS) this.#people.delete(id);
    return await this.requirePerson(id);
  }

  /** Looks a person up, unless the list of all, which is read where many wait, names them before. */
  async #loadPerson(id: string): Promise<Person> {
    const listed = Promise.withResolvers<Person>();
    const isListed = new AbortController();
    this.#wanted.set(id, (person) => {
      listed.resolve(person);
      isListed.abort(NO_LONGER_NEEDED);
    });
    if (this.#wanted.size >= MANY_PEOPLE) void this.#listPeople();
    const asked = unlessRefused(unknownPerson(id), async () => {
      const options = { schema: userResponseSchema, signal: isListed.signal };
      const { user } = await this.#client.call('users.info', { user: id }, options);
      return { ...personOf(user, this.#client.installation), id };
    });
    return await Promise.race([listed.promise, asked]).finally(() => this.#wanted.delete(id));
  }

  /** Reads the list of people, a thousand with each call, until nobody is wanted. What it does not say is looked up. */
  async #listPeople(): Promise<void> {
    if (performance.now() < this.#mayListAt) return;
    this.#mayListAt = Number.POSITIVE_INFINITY;
    try {
      for await (const people of this.#peoplePages(MAX_PEOPLE_PAGES.waiting)) {
        for (const person of people ?? []) {
          if (person.kind === 'unknown') continue;
          const learn = this.#wanted.get(person.id);
          if (learn === undefined) this.#people.set(person.id, person);
          else learn(person);
        }
        if (this.#wanted.size === 0) return;
      }
    } catch (error) {
      this.#log.info({ err: error }, 'reading the list of people failed; they are looked up one by one');
    } finally {
      // It cannot be read, or does not name them.
      this.#mayListAt = this.#wanted.size === 0 ? 0 : performance.now() + LIST_PAUSE_MS;
    }
  }

  /** The name that people see; the id if Slack does not say; of bots (B…) none. What somebody waits for goes first. */
  async personName(id: string): Promise<string> {
    if (id.startsWith('B')) return A_BOT;
    return (await neededFor('names', () => this.person(id))).name;
  }

  /**
   * Whether all of these people are known to be neither guests nor of another organisation, half a minute old at most. A
   * few are asked about one by one, more are looked for in the list. Throws a SlackError if Slack is unavailable.
   */
  async areInsiders(ids: readonly string[]): Promise<boolean> {
    if (ids.length > MAX_LINK_READERS) {
      this.#insiders ??= ttlCache(1, MAX_CURRENT_AGE_MS, () => this.#loadInsiders());
      const insiders = this.#isLarge ? undefined : await this.#insiders.forceFetch('all');
      return insiders !== undefined && ids.every((id) => insiders.has(id));
    }
    const others = ids.filter((id) => id !== this.#client.installation.botUser);
    const found = await neededFor('names', () => Promise.all(others.map((id) => this.currentPerson(id))));
    return found.every(({ kind }) => INSIDER_KINDS.has(kind));
  }

  async #loadInsiders(): Promise<Set<string>> {
    const ids = new Set([this.#client.installation.botUser]);
    for await (const people of this.#peoplePages(MAX_PEOPLE_PAGES.link)) {
      this.#isLarge = people === undefined;
      for (const { id, kind } of people ?? []) if (INSIDER_KINDS.has(kind)) ids.add(id);
    }
    return ids;
  }

  /** The list of people page by page; undefined in place of what is not read. */
  async *#peoplePages(max: number): AsyncGenerator<Person[] | undefined> {
    const options = { schema: usersResponseSchema };
    const pages = pagesOf(max, (at) =>
      this.#client.call('users.list', { limit: PEOPLE_PAGE_SIZE, ...at }, options),
    );
    for await (const page of pages)
      yield page?.members.map((user) => personOf(user, this.#client.installation));
  }

  /** A channel. Never throws a SlackError: if Slack is unavailable, the kind is `unknown`. */
  async channel(id: string, signal?: AbortSignal): Promise<Channel> {
    return await this.#orUnknown(this.requireChannel(id, signal), unknownChannel(id));
  }

  /** Like `channel`, but throws a SlackError if Slack is unavailable. */
  async requireChannel(id: string, signal?: AbortSignal, forceRefresh = false): Promise<Channel> {
    const load = this.#loads.join(id, () => this.#channels.forceFetch(id, { forceRefresh }));
    const isGone = (error: unknown) => error instanceof ChannelGoneError;
    return await unlessAborted(load, signal).catch(valueIf(unknownChannel(id), isGone));
  }

  /** Like `requireChannel`, as Slack says now: for access, which a conversion or a share changes. */
  async channelNow(id: string, signal?: AbortSignal): Promise<Channel> {
    return await this.requireChannel(id, signal, true);
  }

  /** Whether a channel is shared with another organisation now; undefined if Slack does not say. Throws a SlackError if it is unavailable. */
  async sharing(id: string, signal?: AbortSignal): Promise<boolean | undefined> {
    return (await this.channelNow(id, signal)).isExtShared;
  }

  /** Whether an organisation's channel is not known to be of this workspace; asks Slack only for an organisation's token. */
  async isElsewhere(id: string): Promise<boolean> {
    return this.#client.installation.isOrgToken === true && (await this.channelNow(id)).kind === 'elsewhere';
  }

  async #loadChannel(id: string): Promise<Channel> {
    return await unlessRefused(unknownChannel(id), async () => {
      try {
        const options = { schema: channelResponseSchema };
        const { channel } = await this.#client.call('conversations.info', { channel: id }, options);
        return {
          id: channel.id,
          name: channel.is_im ? undefined : channel.name || undefined,
          previousNames: channel.previous_names,
          purpose: channel.purpose?.value ?? '',
          kind: this.#channelKind(channel),
          isExtShared: channel.is_ext_shared,
        };
      } catch (error) {
        // The manifest has no scope for these, so Slack tells no more of them.
        if (error instanceof SlackAuthError && error.neededScopes === 'mpim:read')
          return { ...unknownChannel(id), kind: 'group_dm' };
        throw error;
      }
    });
  }

  /** Whether the bot is in a channel, or it is archived. Not cached. Undefined if Slack may not be asked within `maxWaitMs`. Throws a SlackError if Slack is unavailable. */
  async botPlaceIn(id: string, maxWaitMs?: number): Promise<'inside' | 'outside' | 'archived' | undefined> {
    const options = { schema: channelResponseSchema, ...(maxWaitMs !== undefined && { maxWaitMs }) };
    try {
      const response = await this.#client.call('conversations.info', { channel: id }, options);
      if (response === undefined) return undefined;
      const { is_archived, is_member, is_im, is_mpim } = response.channel;
      if (is_archived) return 'archived';
      // An organisation's bot is also in the channels of its other workspaces.
      const isElsewhere = this.#channelKind(response.channel) === 'elsewhere';
      return (is_member || is_im || is_mpim) && !isElsewhere ? 'inside' : 'outside';
    } catch (error) {
      if (error instanceof ChannelGoneError || error instanceof SlackRefusedError) return 'outside';
      throw error;
    }
  }

  /** Removes a person or channel from the cache after an event about it. */
  invalidate(id: string): void {
    this.#people.delete(id);
    this.#channels.delete(id);
  }

  #channelKind(channel: SlackChannel): Channel['kind'] {
    if (channel.is_im) return 'dm';
    if (channel.is_mpim) return 'group_dm';
    // An organisation's token also sees the channels of its other workspaces.
    const { workspace, isOrgToken } = this.#client.installation;
    const { context_team_id, shared_team_ids = [], internal_team_ids = [] } = channel;
    const teams = [context_team_id, ...shared_team_ids, ...internal_team_ids];
    if (isOrgToken === true && !teams.includes(workspace)) return 'elsewhere';
    if (channel.is_private) return 'private';
    return channel.is_private === false ? 'public' : 'unknown';
  }

  async #orUnknown<T>(result: Promise<T>, unknown: T): Promise<T> {
    try {
      return await result;
    } catch (error) {
      if (!(error instanceof SlackError)) throw error;
      this.#log.warn({ err: error }, 'looking up a name failed');
      return unknown;
    }
  }
}

/** What `load` returns, or `value` if Slack refuses permanently. Retries: a missing name would stay missing in the sent text. */
async function unlessRefused<T>(value: T, load: () => Promise<T>): Promise<T> {
  return await retryTransient(load).catch(valueIf(value, isPermanentRefusal));
}

function unknownChannel(id: string): Channel {
  return { id, name: undefined, purpose: '', kind: 'unknown', isExtShared: undefined };
}
