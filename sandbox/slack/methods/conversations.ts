import { z } from 'zod';
import { scopePrefix } from '../events.ts';
import type { Channel, Message, Team } from '../model.ts';
import { channelJson, messageJson, tombstoneJson } from '../slack-objects.ts';
import { SlackRefusal } from '../slack-refusal.ts';
import { count, flag, type Method, maybe, method, text, type WorkspaceDeps } from '../web-api-method.ts';

/** The most objects on a page of history and replies, for an app distributed outside the Marketplace. */
const COMMERCIAL_PAGE = 15;

const page = { cursor: maybe, limit: count.optional() };
const range = { oldest: maybe, latest: maybe, inclusive: flag, include_all_metadata: flag };

/** The methods that read and open conversations. */
export function conversationMethods(deps: WorkspaceDeps): Record<string, Method> {
  const { world, settings } = deps;
  const needs = (scope: string) => needScope(deps, scope);
  const found = (team: Team, id: string) => {
    const channel = world.visibleChannel(team, id);
    needs(`${scopePrefix(channel.kind)}:read`);
    return channel;
  };
  const readable = (team: Team, id: string) => {
    const channel = world.visibleChannel(team, id);
    needs(`${scopePrefix(channel.kind)}:history`);
    return world.joinedChannel(team, id);
  };
  const pageSize = (limit: number | undefined, usual: number, most: number) => {
    const largest = settings.commercial ? COMMERCIAL_PAGE : most;
    const size = limit ?? (settings.commercial ? COMMERCIAL_PAGE : usual);
    if (size < 1 || size > most) throw new SlackRefusal('invalid_limit');
    return Math.min(size, largest);
  };
  const show = (channel: Channel, withMetadata: boolean) => (message: Message) => {
    const shown = messageJson(world, channel, message, false);
    if (message.deletedAt !== undefined) return tombstoneJson(shown);
    return {
      ...shown,
      ...(withMetadata && message.metadata !== undefined ? { metadata: message.metadata } : {}),
    };
  };

  return {
    'conversations.info': method({ tier: 'tier3' }, z.looseObject({ channel: text }), (args, team) => ({
      channel: channelJson(found(team, args.channel), team.bot.userId),
    })),

    'conversations.members': method(
      { tier: 'tier4' },
      z.looseObject({ channel: text, ...page }),
      (args, team) => {
        const channel = found(team, args.channel);
        const { items, ...rest } = paged([...channel.members], args.cursor, listSize(args.limit));
        return { members: items, ...rest };
      },
    ),

    'users.conversations': method(
      { tier: 'tier3', scopes: ['channels:read', 'groups:read'] },
      z.looseObject({ user: text, types: text, ...page }),
      (args, team) => {
        const shared = [...team.channels.values()].filter(
          ({ kind, members }) =>
            ['channel', 'group'].includes(kind) && members.has(team.bot.userId) && members.has(args.user),
        );
        const { items, ...rest } = paged(shared, args.cursor, listSize(args.limit));
        return { channels: items.map((one) => channelJson(one, team.bot.userId)), ...rest };
      },
    ),

    'conversations.replies': method(
      { tier: 'history' },
      z.looseObject({ channel: text, ts: text, ...page, ...range }),
      (args, team) => {
        const channel = readable(team, args.channel);
        const named = channel.messages.get(args.ts);
        const rootTs = named?.threadTs ?? args.ts;
        const all = world.thread(channel, rootTs);
        if (named === undefined || all.length === 0) throw new SlackRefusal('thread_not_found');
        const root = channel.messages.get(rootTs);
        if (root?.deletedAt !== undefined) all.unshift(root);
        const inRange = all.filter((message) => message.ts === rootTs || within(message, args));
        const { items, ...rest } = paged(inRange, args.cursor, pageSize(args.limit, 1000, 1000));
        return { messages: items.map(show(channel, args.include_all_metadata)), ...rest };
      },
    ),

    'conversations.history': method(
      { tier: 'history' },
      z.looseObject({ channel: text, ...page, ...range }),
      (args, team) => {
        const channel = readable(team, args.channel);
        const shown = [...channel.messages.values()].filter(
          (message) =>
            message.deletedAt === undefined &&
            (message.threadTs === undefined || message.subtype === 'thread_broadcast') &&
            within(message, args),
        );
        const { items, ...rest } = paged(shown.reverse(), args.cursor, pageSize(args.limit, 100, 999));
        return { messages: items.map(show(channel, args.include_all_metadata)), pin_count: 0, ...rest };
      },
    ),

    'conversations.open': method(
      { tier: 'tier3' },
      z.looseObject({ users: maybe, channel: maybe, return_im: flag }),
      (args, team) => {
        const ids = (args.users ?? '').split(',').filter(Boolean);
        if (args.channel === undefined && ids.length === 0) throw new SlackRefusal('users_list_not_supplied');
        needs(ids.length > 1 ? 'mpim:write' : 'im:write');
        if (ids.some((id) => !team.people.has(id))) throw new SlackRefusal('user_not_found');
        const channel = openedChannel(deps, team, args.channel, ids);
        return { channel: args.return_im ? channelJson(channel, team.bot.userId) : { id: channel.id } };
      },
    ),
  };
}

/** @throws SlackRefusal missing_scope */
function needScope(deps: WorkspaceDeps, scope: string): void {
  const { scopes } = deps.settings;
  if (!scopes.has(scope))
    throw new SlackRefusal('missing_scope', { needed: scope, provided: [...scopes].join(',') });
}

/** One page of a list, with Slack's cursor. @throws SlackRefusal invalid_cursor */
export function paged<Item>(
  all: Item[],
  cursor: string | undefined,
  size: number,
): { items: Item[]; has_more: boolean; response_metadata: { next_cursor: string } } {
  const from =
    cursor === undefined ? 0 : Number(/^offset:(\d+)$/.exec(Buffer.from(cursor, 'base64').toString())?.[1]);
  if (Number.isNaN(from)) throw new SlackRefusal('invalid_cursor');
  const more = from + size < all.length;
  const next = more ? Buffer.from(`offset:${from + size}`).toString('base64') : '';
  return { items: all.slice(from, from + size), has_more: more, response_metadata: { next_cursor: next } };
}

/** The page size of a list. @throws SlackRefusal invalid_limit */
export function listSize(limit: number | undefined): number {
  const size = limit ?? 100;
  if (size < 1 || size > 1000) throw new SlackRefusal('invalid_limit');
  return size;
}

function within(
  message: Message,
  args: { oldest: string | undefined; latest: string | undefined; inclusive: boolean },
): boolean {
  const at = micros(message.ts);
  const { oldest, latest, inclusive } = args;
  if (oldest !== undefined && (inclusive ? at < micros(oldest) : at <= micros(oldest))) return false;
  if (latest !== undefined && (inclusive ? at > micros(latest) : at >= micros(latest))) return false;
  return true;
}

/** A ts in microseconds, without loss of precision. */
function micros(ts: string): bigint {
  const [seconds = '0', fraction = ''] = ts.split('.');
  if (!/^\d+$/.test(seconds) || !/^\d*$/.test(fraction)) throw new SlackRefusal('invalid_ts_latest');
  return BigInt(seconds) * 1_000_000n + BigInt(fraction.padEnd(6, '0').slice(0, 6));
}

function openedChannel(deps: WorkspaceDeps, team: Team, channel: string | undefined, ids: string[]): Channel {
  const [first, second] = ids;
  if (first === undefined) return deps.world.visibleChannel(team, channel ?? '');
  return second === undefined ? deps.world.dm(team, first) : deps.world.groupDm(team, ids);
}
