import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { z } from 'zod';
import {
  ChannelGoneError,
  isLastingRefusal,
  SlackError,
  SlackRateLimitError,
  SlackRefusedError,
  SlackUnavailableError,
} from './errors.ts';
import type { RateLimitedClient } from './rate-limited-client.ts';
import { TtlCache } from './ttl-cache.ts';

/** Who somebody is to this workspace. `unknown` where Slack does not tell: then the answer to any "may they?" is no. */
export type PersonKind = 'member' | 'guest' | 'stranger' | 'bot' | 'deactivated' | 'unknown';

/** Somebody in Slack, as far as Slack tells. */
export interface Person {
  id: string;
  /** What people see; the id where Slack does not tell. */
  name: string;
  kind: PersonKind;
  /** Looks after this workspace, or owns it; false where Slack does not tell. */
  isAdmin: boolean;
}

/** A place to talk in, as far as Slack tells. */
export interface Channel {
  id: string;
  /** Without `#`; undefined for direct messages and where Slack does not tell. */
  name: string | undefined;
  /** Untrusted text of people. */
  topic: string;
  purpose: string;
  kind: 'public' | 'private' | 'dm' | 'group_dm' | 'unknown';
  /** Shared with another organisation (Slack Connect); undefined where Slack does not tell. */
  isExtShared: boolean | undefined;
}

const textSchema = z.string().nullish();
const flagSchema = z.boolean().nullish();

const userAnswerSchema = z.looseObject({
  user: z.looseObject({
    id: z.string(),
    team_id: textSchema,
    name: textSchema,
    real_name: textSchema,
    deleted: flagSchema,
    is_bot: flagSchema,
    is_restricted: flagSchema,
    is_ultra_restricted: flagSchema,
    is_admin: flagSchema,
    is_owner: flagSchema,
    is_stranger: flagSchema,
    profile: z.looseObject({ display_name: textSchema, real_name: textSchema }).nullish(),
    enterprise_user: z
      .looseObject({ enterprise_id: textSchema, teams: z.array(z.string()).nullish() })
      .nullish(),
  }),
});
type SlackUser = z.infer<typeof userAnswerSchema>['user'];

const textValueSchema = z.looseObject({ value: textSchema }).nullish();
const channelAnswerSchema = z.looseObject({
  channel: z.looseObject({
    id: z.string(),
    name: textSchema,
    topic: textValueSchema,
    purpose: textValueSchema,
    is_im: flagSchema,
    is_mpim: flagSchema,
    is_private: flagSchema,
    is_ext_shared: flagSchema,
  }),
});
const membershipAnswerSchema = z.looseObject({
  channel: z.looseObject({
    is_archived: flagSchema,
    is_member: flagSchema,
    is_im: flagSchema,
    is_mpim: flagSchema,
  }),
});
type SlackChannel = z.infer<typeof channelAnswerSchema>['channel'];

const groupsAnswerSchema = z.looseObject({
  usergroups: z.array(z.looseObject({ id: z.string(), handle: textSchema, name: textSchema })),
});

/** Rights hang on it, so it must not be old (ms). */
const CACHE_TTL_MS = 5 * 60_000;
/** How often a question is asked, and the pause (ms) after the first time. */
const MAX_ATTEMPTS = 4;
const RETRY_PAUSE_MS = 500;
/** Slackbot is no bot by its flag. */
const SLACKBOT_ID = 'USLACKBOT';

/** Names and standing of the people, channels and groups of one workspace, remembered for five minutes. */
export class SlackDirectory {
  readonly #api: RateLimitedClient;
  readonly #log: Logger;
  readonly #people = new TtlCache<Person>({ most: 5_000, lifeMs: CACHE_TTL_MS });
  readonly #channels = new TtlCache<Channel>({ most: 2_000, lifeMs: CACHE_TTL_MS });
  readonly #groups = new TtlCache<Map<string, string>>({ most: 1, lifeMs: 12 * CACHE_TTL_MS });

  constructor(options: { api: RateLimitedClient; log: Logger }) {
    this.#api = options.api;
    this.#log = options.log;
  }

  /** Never throws for want of an answer: such a person's kind is `unknown`. */
  async person(id: string, signal?: AbortSignal): Promise<Person> {
    const unknown = { id, name: id, kind: 'unknown', isAdmin: false } as const;
    return await this.#orUnknown(this.#person(id), unknown, signal);
  }

  /** Like `person`, for who can wait until Slack tells: throws a SlackError where it is away. */
  async requirePerson(id: string, signal?: AbortSignal): Promise<Person> {
    return await abortable(this.#person(id), signal);
  }

  #person(id: string): Promise<Person> {
    const load = async (): Promise<Person> => {
      try {
        const { user } = await withRetry(() =>
          this.#api.call('users.info', { user: id }, { schema: userAnswerSchema }),
        );
        const kind = this.#personKind(user);
        const isAdmin = kind === 'member' && (user.is_admin === true || user.is_owner === true);
        return { id, name: displayNameOf(user), kind, isAdmin };
      } catch (error) {
        return unknownIfLasting<Person>(error, { id, name: id, kind: 'unknown', isAdmin: false });
      }
    };
    return this.#people.get(id, load);
  }

  /** What people see of a person; the id where Slack does not tell. */
  async personName(id: string, signal?: AbortSignal): Promise<string> {
    return (await this.person(id, signal)).name;
  }

  /** Never throws for want of an answer: such a channel's kind is `unknown`. */
  async channel(id: string, signal?: AbortSignal): Promise<Channel> {
    return await this.#orUnknown(this.#channel(id), unknownChannel(id), signal);
  }

  /** Like `channel`, for who can wait until Slack tells: throws a SlackError where it is away. */
  async requireChannel(id: string, signal?: AbortSignal): Promise<Channel> {
    try {
      return await abortable(this.#channel(id), signal);
    } catch (error) {
      if (error instanceof ChannelGoneError) return unknownChannel(id);
      throw error;
    }
  }

  #channel(id: string): Promise<Channel> {
    return this.#channels.get(id, async () => {
      try {
        const answer = await withRetry(() =>
          this.#api.call('conversations.info', { channel: id }, { schema: channelAnswerSchema }),
        );
        return toChannel(answer.channel);
      } catch (error) {
        return unknownIfLasting(error, unknownChannel(id));
      }
    });
  }

  /** Whether the bot is in a channel now, and it is open; asked anew each time. Throws a SlackError where Slack is away. */
  async isBotIn(id: string): Promise<boolean> {
    try {
      const { channel } = await this.#api.call(
        'conversations.info',
        { channel: id },
        { schema: membershipAnswerSchema },
      );
      return (
        !channel.is_archived &&
        (channel.is_member === true || channel.is_im === true || channel.is_mpim === true)
      );
    } catch (error) {
      if (error instanceof ChannelGoneError || error instanceof SlackRefusedError) return false;
      throw error;
    }
  }

  /** A user group's handle without `@`; the id without the scope `usergroups:read`, which the bot can do without. */
  async groupName(id: string, signal?: AbortSignal): Promise<string> {
    const load = async () => {
      try {
        const { usergroups } = await withRetry(() =>
          this.#api.call('usergroups.list', {}, { schema: groupsAnswerSchema }),
        );
        return new Map(usergroups.map((group) => [group.id, group.handle || group.name || group.id]));
      } catch (error) {
        return unknownIfLasting(error, new Map<string, string>());
      }
    };
    const names = await this.#orUnknown(this.#groups.get('all', load), new Map<string, string>(), signal);
    return names.get(id) ?? id;
  }

  /** Something about a person or channel has changed (an event said so). */
  invalidate(id: string): void {
    this.#people.delete(id);
    this.#channels.delete(id);
  }

  #personKind(user: SlackUser): PersonKind {
    if (user.deleted) return 'deactivated';
    if (user.is_bot || user.id === SLACKBOT_ID) return 'bot';
    if (!user.team_id) return 'unknown';
    if (user.is_stranger || !this.#isFromThisWorkspace(user)) return 'stranger';
    if (user.is_restricted || user.is_ultra_restricted) return 'guest';
    // A full member's record says that it is no guest's.
    return user.is_restricted === false && user.is_ultra_restricted === false ? 'member' : 'unknown';
  }

  /** In an organisation a person's home may be another workspace than the one they write in. */
  #isFromThisWorkspace(user: SlackUser): boolean {
    const { workspace, enterprise } = this.#api.installation;
    if (user.team_id === workspace) return true;
    const org = user.enterprise_user;
    return (
      enterprise !== undefined && org?.enterprise_id === enterprise && (org.teams ?? []).includes(workspace)
    );
  }

  async #orUnknown<T>(answer: Promise<T>, unknown: T, signal: AbortSignal | undefined): Promise<T> {
    try {
      return await abortable(answer, signal);
    } catch (error) {
      if (!(error instanceof SlackError)) throw error;
      this.#log.warn({ err: error }, 'A name could not be asked for');
      return unknown;
    }
  }
}

/** Asks again where Slack is away for a moment: a name that is missing then would stay missing in what was sent. */
async function withRetry<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      const passes = error instanceof SlackUnavailableError || error instanceof SlackRateLimitError;
      if (!passes || tries >= MAX_ATTEMPTS) throw error;
      await sleep(RETRY_PAUSE_MS * tries);
    }
  }
}

/** An answer of Slack's that will stay the same for a while is kept; a failure is not. */
function unknownIfLasting<T>(error: unknown, value: T): T {
  if (isLastingRefusal(error)) return value;
  throw error;
}

/** Stops waiting when the signal says so; others may still want the answer. */
async function abortable<T>(answer: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await answer;
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([answer, promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function displayNameOf(user: SlackUser): string {
  return user.profile?.display_name || user.profile?.real_name || user.real_name || user.name || user.id;
}

function unknownChannel(id: string): Channel {
  return { id, name: undefined, topic: '', purpose: '', kind: 'unknown', isExtShared: undefined };
}

function toChannel(channel: SlackChannel): Channel {
  return {
    id: channel.id,
    name: channel.is_im ? undefined : channel.name || undefined,
    topic: channel.topic?.value ?? '',
    purpose: channel.purpose?.value ?? '',
    kind: channelKind(channel),
    isExtShared: channel.is_ext_shared ?? undefined,
  };
}

function channelKind(channel: SlackChannel): Channel['kind'] {
  if (channel.is_im) return 'dm';
  if (channel.is_mpim) return 'group_dm';
  if (channel.is_private) return 'private';
  return channel.is_private === false ? 'public' : 'unknown';
}
