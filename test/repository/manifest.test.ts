import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Manifest, manifestSchema as manifest } from '../../sandbox/slack/manifest-schema.ts';

/** The events that the app listens to, and the scopes that Slack asks for to send them from all places. */
const events: Readonly<Record<string, readonly string[]>> = {
  app_home_opened: [],
  app_mention: ['app_mentions:read'],
  app_uninstalled: [],
  team_access_granted: [],
  team_access_revoked: [],
  tokens_revoked: [],
  'message.channels': ['channels:history'],
  'message.groups': ['groups:history'],
  'message.im': ['im:history'],
  'message.mpim': ['mpim:history'],
  channel_id_changed: [],
  channel_deleted: ['channels:read'],
  channel_rename: ['channels:read'],
  group_deleted: ['groups:read'],
  group_rename: ['groups:read'],
  member_joined_channel: ['channels:read', 'groups:read'],
  reaction_added: ['reactions:read'],
};

/** The Web API methods that the app calls, and the scopes that they need for all its places. */
const methods: Readonly<Record<string, readonly string[]>> = {
  'auth.teams.list': [],
  'auth.test': [],
  'chat.postMessage': ['chat:write'],
  'chat.update': ['chat:write'],
  'chat.delete': ['chat:write'],
  'chat.startStream': ['chat:write'],
  'chat.appendStream': ['chat:write'],
  'chat.stopStream': ['chat:write'],
  'chat.postEphemeral': ['chat:write'],
  'chat.getPermalink': [],
  'conversations.info': ['channels:read', 'groups:read'],
  'conversations.members': ['channels:read', 'groups:read'],
  'conversations.open': ['im:write'],
  'conversations.history': ['channels:history', 'groups:history', 'im:history', 'mpim:history'],
  'conversations.replies': ['channels:history', 'groups:history', 'im:history', 'mpim:history'],
  'oauth.v2.access': [],
  'files.completeUploadExternal': ['files:write'],
  'files.delete': ['files:write'],
  'files.getUploadURLExternal': ['files:write'],
  'files.info': ['files:read'],
  'reactions.add': ['reactions:write'],
  'reactions.remove': ['reactions:write'],
  'users.conversations': ['channels:read', 'groups:read'],
  'users.info': ['users:read'],
  'users.list': ['users:read'],
  'views.open': [],
  'views.publish': [],
  'views.update': [],
};

/** Methods without which the app does as well, and those that take another token or no scope. */
const besides = [
  'agents.sessions.rename',
  'agents.sessions.setStatus',
  'apps.connections.open',
  'apps.manifest.export',
  'apps.manifest.update',
  'assistant.threads.setSuggestedPrompts',
  'auth.revoke',
];

/** The methods that the sources name, but for the table of all limits. */
function methodsInSources(): Set<string> {
  const area =
    /'((?:agents|apps|assistant|auth|chat|conversations|files|oauth|reactions|tooling|users|views)\.[.\w]+)'/g;
  const named = new Set<string>();
  for (const folder of ['slack', 'listeners', 'operate']) {
    const root = new URL(`../../src/${folder}/`, import.meta.url);
    const names = readdirSync(root, { recursive: true, encoding: 'utf8' });
    for (const name of names.filter((file) => file.endsWith('.ts') && file !== 'rate-limits.ts'))
      for (const [, method = ''] of readFileSync(new URL(name, root), 'utf8').matchAll(area))
        named.add(method);
  }
  // A limit of ours.
  named.delete('chat.postMessage.channel');
  return named;
}

/** What Slack would refuse, or an administrator would ask about. */
function complaints(app: Manifest): string[] {
  const scopes = app.oauth_config.scopes.bot;
  const subscribed = app.settings.event_subscriptions.bot_events;
  const used = new Set([
    ...Object.values(methods).flat(),
    ...subscribed.flatMap((event) => events[event] ?? []),
    ...([...app.features.slash_commands, ...app.features.shortcuts].length > 0 ? ['commands'] : []),
  ]);
  const http = !app.settings.socket_mode_enabled;
  return [
    ...repeated(scopes).map((scope) => `the scope ${scope} is listed twice`),
    ...repeated(subscribed).map((event) => `the event ${event} is listed twice`),
    ...subscribed
      .filter((event) => events[event] === undefined)
      .map((event) => `the event ${event} is not used`),
    ...[...used].filter((scope) => !scopes.includes(scope)).map((scope) => `the scope ${scope} is missing`),
    ...scopes.filter((scope) => !used.has(scope)).map((scope) => `the scope ${scope} is not used`),
    ...(http && app.settings.event_subscriptions.request_url === undefined
      ? ['events need a request_url']
      : []),
    ...(http && app.settings.interactivity.request_url === undefined
      ? ['interactivity needs a request_url']
      : []),
    ...(http && app.features.slash_commands.some(({ url }) => url === undefined)
      ? ['slash commands need a url']
      : []),
  ];
}

function repeated(list: readonly string[]): string[] {
  return list.filter((item, index) => list.indexOf(item) !== index);
}

const ours: unknown = parse(readFileSync(new URL('../../manifest.yml', import.meta.url), 'utf8'));

describe('the manifest', () => {
  test("keeps Slack's shape and lengths", () => {
    expect(() => manifest.parse(ours)).not.toThrow();
  });

  test('is checked with just the methods that the app calls', () => {
    expect([...methodsInSources()].sort()).toEqual([...Object.keys(methods), ...besides].sort());
  });

  test('asks for every scope that it needs and for no other, and for known events only', () => {
    expect(complaints(manifest.parse(ours))).toEqual([]);
  });

  test('receives by Socket Mode, takes button clicks and direct messages', () => {
    const app = manifest.parse(ours);
    expect(app.settings.socket_mode_enabled).toBe(true);
    expect(app.settings.interactivity.is_enabled).toBe(true);
    expect(app.features.app_home).toMatchObject({
      home_tab_enabled: true,
      messages_tab_enabled: true,
      messages_tab_read_only_enabled: false,
    });
  });
});

describe('the command and the shortcuts of the manifest', () => {
  test('are those that the app listens to', () => {
    const { slash_commands: commands, shortcuts } = manifest.parse(ours).features;
    const source = (file: string) =>
      readFileSync(new URL(`../../src/listeners/${file}.ts`, import.meta.url), 'utf8');
    for (const { command } of commands)
      expect(source('agent-command-and-shortcuts')).toContain(`app.command('${command}'`);
    for (const { callback_id } of shortcuts)
      expect(source('agent-command-and-shortcuts')).toContain(`callback_id: '${callback_id}'`);
    expect(shortcuts).toHaveLength(source('agent-command-and-shortcuts').split('app.shortcut(').length - 1);
  });
});

describe('the check of the manifest', () => {
  const changed = (change: (app: Manifest) => void): Manifest => {
    const app = manifest.parse(ours);
    change(app);
    return app;
  };

  test('finds a scope that an event or a method needs', () => {
    const app = changed(({ oauth_config: { scopes } }) => {
      scopes.bot = scopes.bot.filter((scope) => scope !== 'mpim:history');
    });
    expect(complaints(app)).toEqual(['the scope mpim:history is missing']);
  });

  test('finds a scope, an event or a repetition that is not used', () => {
    const app = changed(({ oauth_config: { scopes }, settings }) => {
      scopes.bot.push('pins:write', 'chat:write');
      settings.event_subscriptions.bot_events.push('team_join');
    });
    expect(complaints(app)).toEqual([
      'the scope chat:write is listed twice',
      'the event team_join is not used',
      'the scope pins:write is not used',
    ]);
  });

  test('finds addresses that HTTP needs', () => {
    const app = changed(({ settings }) => {
      settings.socket_mode_enabled = false;
    });
    expect(complaints(app)).toEqual([
      'events need a request_url',
      'interactivity needs a request_url',
      'slash commands need a url',
    ]);
  });

  test('refuses an unknown key and a text that is too long', () => {
    const app = manifest.parse(ours);
    expect(manifest.safeParse({ ...app, outgoing_domains: [] }).success).toBe(false);
    const display_information = { ...app.display_information, name: 'T'.repeat(36) };
    expect(manifest.safeParse({ ...app, display_information }).success).toBe(false);
  });
});
