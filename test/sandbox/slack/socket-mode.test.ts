import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import {
  client,
  reconnectOnClose,
  running,
  socketApp,
  until,
  workspaceWithBot,
} from '../../support/slack-workspace-fixture.ts';

interface Heard {
  type: string;
  eventId: string;
  retry: number | undefined;
  text: string;
}

/** A started Bolt app that notes every event before it is acknowledged. */
async function listening(
  slack: Awaited<ReturnType<typeof workspaceWithBot>>['slack'],
  fail: () => boolean = () => false,
) {
  const { app, receiver } = socketApp(slack);
  const heard: Heard[] = [];
  const process = app.processEvent.bind(app);
  app.processEvent = async (event) => {
    const { body } = event;
    heard.push({
      type: String(body.event?.type),
      eventId: String(body.event_id),
      retry: event.retryNum,
      text: String(body.event?.text),
    });
    if (!fail()) await process(event);
  };
  await running(app);
  return { app, receiver, heard };
}

describe('events over Socket Mode', () => {
  test('a mention arrives twice with two event ids: app_mention and message', async () => {
    const { slack, ann, channel } = await workspaceWithBot({ delivery: { order: 'mentionFirst' } });
    const { heard } = await listening(slack);
    const said = slack.say({ person: ann, channel, text: '@taskthread hello' });
    await slack.settled();
    expect(heard.map((one) => one.type)).toEqual(['app_mention', 'message']);
    expect(new Set(heard.map((one) => one.eventId)).size).toBe(2);
    expect(said.text).toBe(`<@${slack.bot.userId}> hello`);
    slack.delivery.order = 'messageFirst';
    slack.say({ person: ann, channel, text: '@taskthread hello' });
    await slack.settled();
    expect(heard.slice(2).map((one) => one.type)).toEqual(['message', 'app_mention']);
  });

  test('the two copies may come apart', async () => {
    const { slack, ann, channel } = await workspaceWithBot({
      delivery: { order: 'mentionFirst', gapMs: 100 },
    });
    const { heard } = await listening(slack);
    const start = performance.now();
    slack.say({ person: ann, channel, text: '@taskthread hello' });
    await slack.settled();
    expect(heard).toHaveLength(2);
    expect(performance.now() - start).toBeGreaterThan(95);
  });

  test('direct and group conversations: no app_mention in the first', async () => {
    const { slack, ann } = await workspaceWithBot();
    const bob = slack.createPerson({ name: 'bob' });
    const { heard } = await listening(slack);
    slack.say({ person: ann, channel: slack.openDm(ann), text: '@taskthread hello' });
    await slack.settled();
    expect(heard.map((one) => one.type)).toEqual(['message']);
    slack.say({ person: ann, channel: slack.openGroupDm([ann, bob]), text: 'all of you' });
    await slack.settled();
    expect(slack.deliveryStats.events).toEqual({ 'message.im': 1, 'message.mpim': 1 });
  });

  test('a channel without the bot is silent', async () => {
    const { slack, ann } = await workspaceWithBot();
    const away = slack.createChannel({ name: 'away', bot: false });
    const { heard } = await listening(slack);
    slack.say({ person: ann, channel: away, text: '@taskthread are you there?' });
    await slack.settled();
    expect(heard).toEqual([]);
  });

  test('events need their scope and subscription', async () => {
    const narrow = await workspaceWithBot({ scopes: ['chat:write', 'app_mentions:read'] });
    narrow.slack.say({ person: narrow.ann, channel: narrow.channel, text: '@taskthread hi' });
    expect(narrow.slack.deliveryStats.events).toEqual({ app_mention: 1 });
    const picky = await workspaceWithBot({ events: ['message.channels'] });
    picky.slack.say({ person: picky.ann, channel: picky.channel, text: '@taskthread hi' });
    expect(picky.slack.deliveryStats.events).toEqual({ 'message.channels': 1 });
  });

  test("the bot's own posts and edits come back; edits, deletions and unfurls have Slack's shapes", async () => {
    const { slack, ann, channel, client } = await workspaceWithBot();
    const { app } = await listening(slack);
    const events: Record<string, unknown>[] = [];
    app.event('message', async ({ event }) => {
      events.push({ ...event });
    });
    const { ts = '' } = await client.chat.postMessage({ channel: channel.id, text: 'draft' });
    await client.chat.update({ channel: channel.id, ts, text: 'final' });
    const said = slack.say({ person: ann, channel, text: 'see https://example.com' });
    slack.unfurl(channel, said.ts);
    slack.edit(channel, said.ts, 'see nothing');
    slack.remove(channel, said.ts);
    await slack.settled();
    await until(() => events.length === 5);
    expect(events).toMatchObject([
      {
        subtype: 'message_changed',
        hidden: true,
        message: { text: 'final', bot_id: slack.bot.botId },
        previous_message: { text: 'draft' },
      },
      { user: ann.id, ts: said.ts, channel_type: 'channel', blocks: [{ type: 'rich_text' }] },
      { subtype: 'message_changed', message: { text: 'see <https://example.com>' } },
      { subtype: 'message_changed', message: { text: 'see nothing', edited: { user: ann.id } } },
      { subtype: 'message_deleted', deleted_ts: said.ts, previous_message: { text: 'see nothing' } },
    ]);
    expect(events[2]?.message).not.toHaveProperty('edited');
    expect(slack.deliveryStats.events['message.channels']).toBe(6);
  });

  test('a deleted root with replies stays as a tombstone', async () => {
    const { slack, ann, channel } = await workspaceWithBot();
    const { app } = await listening(slack);
    const subtypes: unknown[] = [];
    app.event('message', async ({ event }) => {
      if (event.subtype === 'message_changed') subtypes.push(event.message.subtype);
    });
    const root = slack.say({ person: ann, channel, text: 'root' });
    slack.say({ person: ann, channel, text: 'reply', thread: root.ts });
    slack.remove(channel, root.ts);
    await slack.settled();
    await until(() => subtypes.length > 0);
    expect(subtypes).toEqual(['tombstone']);
  });

  test('a stranger in a shared channel writes from another workspace', async () => {
    const { slack } = await workspaceWithBot();
    const eve = slack.createPerson({ name: 'eve', kind: 'stranger' });
    const shared = slack.createChannel({ name: 'shared', shared: true });
    const { receiver, app } = socketApp(slack);
    const bodies: Record<string, unknown>[] = [];
    receiver.client.on('slack_event', ({ body }: { body: Record<string, unknown> }) => bodies.push(body));
    await running(app);
    slack.say({ person: eve, channel: shared, text: 'hello' });
    await slack.settled();
    expect(bodies).toMatchObject([
      {
        team_id: eve.homeTeamId,
        context_team_id: slack.team.id,
        authorizations: [{ team_id: slack.team.id }],
        is_ext_shared_channel: true,
        event: { user: eve.id, team: eve.homeTeamId },
      },
    ]);
  });
});

describe('redelivery over Socket Mode', () => {
  test('an event that nobody acknowledges comes again with its number, and is given up after three retries', async () => {
    const { slack, ann, channel } = await workspaceWithBot({ ackTimeoutMs: 30 });
    const { heard } = await listening(slack, () => true);
    slack.say({ person: ann, channel, text: 'hello' });
    await slack.settled();
    await until(() => heard.length === 4);
    expect(heard.map((one) => one.retry)).toEqual([0, 1, 2, 3]);
    expect(new Set(heard.map((one) => one.eventId)).size).toBe(1);
    expect(slack.deliveryStats).toMatchObject({ sent: 1, acked: 0, retries: 3, lost: 1 });
  });

  test('an event waits for a connection', async () => {
    const { slack, ann, channel } = await workspaceWithBot({ retryScale: 0.02 });
    slack.say({ person: ann, channel, text: 'early' });
    const { heard } = await listening(slack);
    await slack.settled();
    expect(heard).toMatchObject([{ text: 'early' }]);
    expect([2, 3]).toContain(heard[0]?.retry);
  });

  test('an event on a connection that is cut comes again on the next', async () => {
    const { slack, ann, channel } = await workspaceWithBot({ retryScale: 0.01 });
    let first = true;
    const { heard, receiver } = await listening(slack, () => {
      if (!first) return false;
      first = false;
      slack.cutSockets();
      return true;
    });
    reconnectOnClose(receiver);
    slack.say({ person: ann, channel, text: 'hello' });
    await slack.settled();
    expect(heard.map((one) => one.text)).toEqual(['hello', 'hello']);
    expect(slack.deliveryStats.acked).toBe(1);
  });

  test('acknowledged events may come twice', async () => {
    const { slack, ann, channel } = await workspaceWithBot({ delivery: { duplicateChance: 1 } });
    const { heard } = await listening(slack);
    slack.say({ person: ann, channel, text: 'hello' });
    await slack.settled();
    expect(heard.map((one) => one.retry)).toEqual([0, 1]);
    expect(heard[0]?.eventId).toBe(heard[1]?.eventId);
  });
});

describe('connections', () => {
  test('the app comes back after a refresh', async () => {
    const { slack, ann, channel } = await workspaceWithBot();
    const { heard, receiver } = await listening(slack);
    reconnectOnClose(receiver);
    expect(slack.connections).toBe(1);
    let hellos = 0;
    receiver.client.on('connected', () => {
      hellos += 1;
    });
    slack.refreshSockets('refresh_requested');
    await until(() => hellos === 1);
    expect(slack.connections).toBe(1);
    slack.say({ person: ann, channel, text: 'hello' });
    await slack.settled();
    expect(heard).toMatchObject([{ text: 'hello', retry: 0 }]);
  });

  test('every envelope goes to one of several connections', async () => {
    const { slack, ann, channel } = await workspaceWithBot();
    const one = await listening(slack);
    const two = await listening(slack);
    for (let i = 0; i < 20; i += 1) slack.say({ person: ann, channel, text: `${i}` });
    await slack.settled();
    expect(one.heard.length + two.heard.length).toBe(20);
    expect(Math.min(one.heard.length, two.heard.length)).toBeGreaterThan(0);
  });

  test('hello says who and how many; the eleventh connection is turned away; a ticket opens once', async () => {
    const { slack } = await workspaceWithBot();
    const api = client(slack, slack.appToken);
    const connect = async () => {
      const { url = '' } = await api.apps.connections.open({});
      const socket = new WebSocket(url);
      const first = new Promise<Record<string, unknown>>((resolve) => {
        socket.once('message', (data: Buffer) => resolve(JSON.parse(data.toString())));
      });
      return { url, socket, first: await first };
    };
    const opened = [];
    for (let i = 0; i < 11; i += 1) opened.push(await connect());
    expect(opened[9]?.first).toMatchObject({
      type: 'hello',
      num_connections: 10,
      connection_info: { app_id: slack.bot.appId },
    });
    expect(opened[10]?.first).toMatchObject({ type: 'disconnect', reason: 'too_many_websockets' });
    const again = new WebSocket(opened[0]?.url ?? '');
    const error = await new Promise<Error>((resolve) => again.once('error', resolve));
    expect(error.message).toContain('401');
    for (const { socket } of opened) socket.terminate();
  });
});
