import type { Logger } from 'pino';
import { z } from 'zod';
import { SharedLoads } from '../calls/askers.ts';
import { listOf } from '../calls/json.ts';
import { unlessAborted } from '../calls/retries-and-waits.ts';
import { ttlCache } from '../calls/shared-calls.ts';
import {
  ChannelGoneError,
  isPermanentRefusal,
  retryTransient,
  SlackAuthError,
  SlackError,
  SlackRefusedError,
} from './errors.ts';
import { nextPageSchema, optional, pagesOf } from './field-schemas.ts';
import type { RateLimitedClient } from './rate-limits.ts';
import { isSlackItself } from './slack-message.ts';

/** A person's relation to this workspace. `unknown` if Slack does not say: an unknown person has no access. */
export type PersonKind = 'member' | 'guest' | 'stranger' | 'bot' | 'deactivated' | 'unknown';

export interface Person {
  id: string;
  /** The name that people see; the id if Slack does not say. */
  name: string;
  kind: PersonKind;
  /** Slack says that it is a human, of whatever kind; false if Slack does not say. */
  isHuman: boolean;
  /** An admin or owner of this workspace; false if Slack does not say. */
  isAdmin: boolean;
}

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

const text = optional(z.string());
const flag = optional(z.boolean());
/** What takes access away, in whatever form. */
const denyingFlag = z.boolean().nullish().catch(true);

const userSchema = z.looseObject({
  id: z.string(),
  team_id: text,
  name: text,
  real_name: text,
  deleted: denyingFlag,
  is_bot: denyingFlag,
  is_workflow_bot: denyingFlag,
  is_connector_bot: denyingFlag,
  is_restricted: denyingFlag,
  is_ultra_restricted: denyingFlag,
  is_admin: flag,
  is_owner: flag,
  is_stranger: denyingFlag,
  profile: optional(z.looseObject({ display_name: text, real_name: text })),
  enterprise_user: optional(z.looseObject({ enterprise_id: text, teams: optional(listOf(z.string())) })),
});
type SlackUser = z.infer<typeof userSchema>;
const userResponseSchema = z.looseObject({ user: userSchema });
const usersResponseSchema = z.looseObject({ members: listOf(userSchema), response_metadata: nextPageSchema });

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

/**
 * People of a page, and pages, of the list of a workspace's people; those beyond are unknown. More pages would take longer
 * than a linked message may, at 17 a minute.
 */
const PEOPLE_PAGE_SIZE = 1_000;
const MAX_PEOPLE_PAGES = 8;
/** Who can neither be a guest nor belong to another organisation. */
const INSIDER_KINDS: ReadonlySet<PersonKind> = new Set(['member', 'bot', 'deactivated']);

/** Short, because access depends on it. */
const CACHE_TTL_MS = 5 * 60_000;
const MAX_CURRENT_AGE_MS = 30_000;

/** The people and channels of one workspace, cached for five minutes; half a minute for access to what others wrote. */
export class SlackDirectory {
  readonly #client: RateLimitedClient;
  readonly #log: Logger;
  readonly #people = ttlCache(5_000, CACHE_TTL_MS, (id) => this.#loadPerson(id));
  readonly #channels = ttlCache(2_000, CACHE_TTL_MS, (id) => this.#loadChannel(id));
  readonly #insiders = ttlCache(1, MAX_CURRENT_AGE_MS, () => this.#loadInsiders());
  readonly #loads = new SharedLoads();

  constructor(client: RateLimitedClient, log: Logger) {
    this.#client = client;
    this.#log = log;
  }

  /** A person. Never throws a SlackError: if Slack is unavailable, the kind is `unknown`. */
  async person(id: string, signal?: AbortSignal): Promise<Person> {
    return await this.#orUnknown(this.requirePerson(id, signal), unknownPerson(id));
  }

  /** Like `person`, but throws a SlackError if Slack is unavailable. */
  async requirePerson(id: string, signal?: AbortSignal): Promise<Person> {
    const load = this.#loads.join(id, () => this.#people.forceFetch(id));
    return await unlessAborted(load, signal);
  }

  /** Like `requirePerson`, but no more than half a minute old: for access to what others wrote, which a guest has not. */
  async currentPerson(id: string): Promise<Person> {
    if (this.#people.getRemainingTTL(id) < CACHE_TTL_MS - MAX_CURRENT_AGE_MS) this.#people.delete(id);
    return await this.requirePerson(id);
  }

  async #loadPerson(id: string): Promise<Person> {
    return await unlessRefused(unknownPerson(id), async () => {
      const { user } = await this.#client.call('users.info', { user: id }, { schema: userResponseSchema });
      const kind = this.#personKind(user);
      const isAdmin = kind === 'member' && (user.is_admin === true || user.is_owner === true);
      const isBot = user.is_bot !== false || user.is_workflow_bot === true || user.is_connector_bot === true;
      const isHuman = !isBot && !['bot', 'deactivated', 'unknown'].includes(kind);
      return { id, name: displayNameOf(user), kind, isHuman, isAdmin };
    });
  }

  /** The name that people see; the id if Slack does not say. */
  async personName(id: string): Promise<string> {
    return (await this.person(id)).name;
  }

  /** The ids of people who are neither guests nor of another organisation, half a minute old at most. Throws a SlackError if Slack is unavailable. */
  async insiders(): Promise<ReadonlySet<string>> {
    return await this.#loads.join('all', () => this.#insiders.forceFetch('all'));
  }

  async #loadInsiders(): Promise<Set<string>> {
    const ids = new Set([this.#client.installation.botUser]);
    const options = { schema: usersResponseSchema };
    const pages = pagesOf(MAX_PEOPLE_PAGES, (at) =>
      this.#client.call('users.list', { limit: PEOPLE_PAGE_SIZE, ...at }, options),
    );
    for await (const page of pages)
      for (const user of page?.members ?? []) if (INSIDER_KINDS.has(this.#personKind(user))) ids.add(user.id);
    return ids;
  }

  /** A channel. Never throws a SlackError: if Slack is unavailable, the kind is `unknown`. */
  async channel(id: string, signal?: AbortSignal): Promise<Channel> {
    return await this.#orUnknown(this.requireChannel(id, signal), unknownChannel(id));
  }

  /** Like `channel`, but throws a SlackError if Slack is unavailable. */
  async requireChannel(id: string, signal?: AbortSignal): Promise<Channel> {
    try {
      const load = this.#loads.join(id, () => this.#channels.forceFetch(id));
      return await unlessAborted(load, signal);
    } catch (error) {
      if (error instanceof ChannelGoneError) return unknownChannel(id);
      throw error;
    }
  }

  /** Like `requireChannel`, but no more than half a minute old: for access, which a conversion or a share changes. */
  async currentChannel(id: string): Promise<Channel> {
    if (this.#channels.getRemainingTTL(id) < CACHE_TTL_MS - MAX_CURRENT_AGE_MS) this.#channels.delete(id);
    return await this.requireChannel(id);
  }

  /** Whether an organisation's channel is not known to be of this workspace; asks Slack only for an organisation's token. */
  async isElsewhere(id: string): Promise<boolean> {
    return (
      this.#client.installation.isOrgToken === true && (await this.currentChannel(id)).kind === 'elsewhere'
    );
  }

  async #loadChannel(id: string): Promise<Channel> {
    return await unlessRefused(unknownChannel(id), async () => {
      try {
        const options = { schema: channelResponseSchema };
        return this.#toChannel(
          (await this.#client.call('conversations.info', { channel: id }, options)).channel,
        );
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
      return is_member || is_im || is_mpim ? 'inside' : 'outside';
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

  #toChannel(channel: SlackChannel): Channel {
    return {
      id: channel.id,
      name: channel.is_im ? undefined : channel.name || undefined,
      previousNames: channel.previous_names,
      purpose: channel.purpose?.value ?? '',
      kind: this.#channelKind(channel),
      isExtShared: channel.is_ext_shared,
    };
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

  #personKind(user: SlackUser): PersonKind {
    if (user.deleted) return 'deactivated';
    if (user.is_bot || isSlackItself(user.id)) return 'bot';
    if (!user.team_id) return 'unknown';
    if (user.is_stranger || !this.#isFromThisWorkspace(user)) return 'stranger';
    if (user.is_restricted || user.is_ultra_restricted) return 'guest';
    // Only a record that says so belongs to a full member.
    return user.is_restricted === false && user.is_ultra_restricted === false ? 'member' : 'unknown';
  }

  /** In an organisation, people may belong to another workspace than the one they write in. */
  #isFromThisWorkspace(user: SlackUser): boolean {
    const { workspace, enterprise } = this.#client.installation;
    if (user.team_id === workspace) return true;
    const org = user.enterprise_user;
    return (
      enterprise !== undefined && org?.enterprise_id === enterprise && (org.teams ?? []).includes(workspace)
    );
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
  try {
    return await retryTransient(load);
  } catch (error) {
    if (isPermanentRefusal(error)) return value;
    throw error;
  }
}

function displayNameOf(user: SlackUser): string {
  return user.profile?.display_name || user.profile?.real_name || user.real_name || user.name || user.id;
}

function unknownPerson(id: string): Person {
  return { id, name: id, kind: 'unknown', isHuman: false, isAdmin: false };
}

function unknownChannel(id: string): Channel {
  return { id, name: undefined, purpose: '', kind: 'unknown', isExtShared: undefined };
}
