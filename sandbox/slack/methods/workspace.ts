import { z } from 'zod';
import type { Message, Team } from '../model.ts';
import { personJson } from '../slack-objects.ts';
import { SlackRefusal } from '../slack-refusal.ts';
import { count, flag, type Method, maybe, method, text, type WorkspaceDeps } from '../web-api-method.ts';
import { listSize, paged } from './conversations.ts';

/** The methods for identity, people, teams, connections and reactions. */
export function workspaceMethods(deps: WorkspaceDeps): Record<string, Method> {
  const { world, messages } = deps;
  const reacted = z.looseObject({ channel: text, timestamp: text, name: text });

  return {
    'auth.test': method({ tier: 'special' }, z.looseObject({}), (_args, team) => ({
      url: `https://${team.domain}.slack.com/`,
      team: team.name,
      user: team.bot.name,
      team_id: team.installation.organisation === undefined ? team.id : null,
      ...(team.installation.organisation === undefined
        ? {}
        : { enterprise_id: team.installation.organisation.id }),
      user_id: team.bot.userId,
      bot_id: team.bot.botId,
      app_id: team.bot.appId,
      is_enterprise_install: team.installation.organisation !== undefined,
    })),

    'auth.revoke': method({ tier: 'tier3' }, z.looseObject({}), (_args, team) => {
      team.installation.state = 'revoked';
      return { revoked: true };
    }),

    'auth.teams.list': method(
      { tier: 'tier2' },
      z.looseObject({ cursor: maybe, limit: count.optional(), include_icon: flag }),
      (args, team) => {
        // All workspaces of an organisation share one installation.
        const reached = [...world.teams.values()].filter(
          (one) => one.installation === team.installation && !one.isWithdrawn,
        );
        const { items, response_metadata } = paged(reached, args.cursor, listSize(args.limit));
        return { teams: items.map(({ id, name }) => ({ id, name })), response_metadata };
      },
    ),

    'apps.connections.open': method({ tier: 'tier3', token: 'app' }, z.looseObject({}), () => {
      const ticket = deps.sockets.ticket();
      return { url: `${world.baseUrl.replace(/^http/, 'ws')}/link/?ticket=${ticket}&app_id=sandbox` };
    }),

    'users.info': method(
      { tier: 'tier4', scopes: ['users:read'] },
      z.looseObject({ user: text }),
      (args, team) => {
        const person = team.people.get(args.user);
        if (person === undefined) throw new SlackRefusal('user_not_found');
        return { user: personJson(person) };
      },
    ),

    'users.list': method(
      { tier: 'tier2', scopes: ['users:read'] },
      z.looseObject({ cursor: maybe, limit: count.optional() }),
      (args, team) => {
        const { items, response_metadata } = paged(
          [...team.people.values()],
          args.cursor,
          listSize(args.limit),
        );
        return {
          members: items.map(personJson),
          cache_ts: Math.floor(world.clock.now() / 1000),
          response_metadata,
        };
      },
    ),

    'reactions.add': method({ tier: 'tier3', scopes: ['reactions:write'] }, reacted, (args, team) => {
      if (!/^[a-z0-9_+'-]+(::skin-tone-[2-6])?$/.test(args.name)) throw new SlackRefusal('invalid_name');
      const { channel, message } = target(deps, team, args);
      if (channel.archived) throw new SlackRefusal('is_archived');
      if (!messages.react(channel, message, team.bot.userId, args.name, true))
        throw new SlackRefusal('already_reacted');
      return {};
    }),

    'reactions.remove': method({ tier: 'tier2', scopes: ['reactions:write'] }, reacted, (args, team) => {
      const { channel, message } = target(deps, team, args);
      if (!messages.react(channel, message, team.bot.userId, args.name, false))
        throw new SlackRefusal('no_reaction');
      return {};
    }),
  };
}

function target(deps: WorkspaceDeps, team: Team, args: { channel: string; timestamp: string }) {
  const channel = deps.world.joinedChannel(team, args.channel);
  const message: Message | undefined = channel.messages.get(args.timestamp);
  if (message === undefined || message.deletedAt !== undefined) throw new SlackRefusal('message_not_found');
  return { channel, message };
}
