import { describe, expect, test } from 'vitest';
import { compose } from '../../../sandbox/slack/rich-text-composer.ts';
import {
  client,
  refusal,
  running,
  socketApp,
  until,
  workspace,
  workspaceWithBot,
} from '../../support/slack-workspace-fixture.ts';

describe('reading conversations', () => {
  test('a thread is read page by page, root first, oldest first', async () => {
    const { slack, ann, channel, client } = await workspaceWithBot();
    const root = slack.say({ person: ann, channel, text: 'root' });
    const replies = ['a', 'b', 'c', 'd'].map((text) =>
      slack.say({ person: ann, channel, text, thread: root.ts }),
    );
    const read = (more: object) =>
      client.conversations.replies({ channel: channel.id, ts: root.ts, ...more });
    const first = await read({ limit: 3 });
    expect(first.messages?.map((one) => one.text)).toEqual(['root', 'a', 'b']);
    const second = await read({ limit: 3, cursor: first.response_metadata?.next_cursor });
    expect(second.messages?.map((one) => one.text)).toEqual(['c', 'd']);
    expect(second.has_more).toBe(false);
    const late = await read({ oldest: replies[1]?.ts });
    expect(late.messages?.map((one) => one.text)).toEqual(['root', 'c', 'd']);
    expect((await read({ ts: replies[0]?.ts })).messages).toHaveLength(5);
    expect(await refusal(read({ ts: '1.000001' }))).toBe('thread_not_found');
    expect(await refusal(read({ cursor: 'nonsense' }))).toBe('invalid_cursor');
    expect(await refusal(read({ limit: 1001 }))).toBe('invalid_limit');
  });

  test('history is newest first and leaves replies out, but for those sent to the channel', async () => {
    const { slack, ann, channel, client } = await workspaceWithBot();
    const root = slack.say({ person: ann, channel, text: 'root' });
    slack.say({ person: ann, channel, text: 'quiet', thread: root.ts });
    slack.say({ person: ann, channel, text: 'loud', thread: root.ts, broadcast: true });
    const { messages } = await client.conversations.history({ channel: channel.id });
    expect(messages?.map((one) => one.text)).toEqual(['loud', 'root']);
    expect(messages?.[0]?.subtype).toBe('thread_broadcast');
    expect(messages?.[1]).toMatchObject({ reply_count: 2, latest_reply: messages?.[0]?.ts });
  });

  test('people differ: members, guests, strangers and bots', async () => {
    const { slack, client } = await workspaceWithBot();
    const flags = async (kind: 'member' | 'guest' | 'stranger' | 'bot') => {
      const { user } = await client.users.info({ user: slack.createPerson({ name: kind, kind }).id });
      return [user?.is_restricted, user?.is_stranger, user?.is_bot, user?.team_id === slack.team.id];
    };
    expect(await flags('member')).toEqual([false, undefined, false, true]);
    expect(await flags('guest')).toEqual([true, undefined, false, true]);
    expect(await flags('stranger')).toEqual([undefined, true, false, false]);
    expect(await flags('bot')).toEqual([false, undefined, true, true]);
    expect(await refusal(client.users.info({ user: 'U0NONE' }))).toBe('user_not_found');
  });

  test('a direct conversation is opened once', async () => {
    const { slack, ann, client } = await workspaceWithBot();
    const { channel } = await client.conversations.open({ users: ann.id });
    expect(channel?.id).toBe(slack.openDm(ann).id);
  });

  test('reactions are added and removed once', async () => {
    const { slack, ann, channel, client } = await workspaceWithBot();
    const { ts } = slack.say({ person: ann, channel, text: 'x' });
    const mark = { channel: channel.id, timestamp: ts, name: 'eyes' };
    await client.reactions.add(mark);
    expect(slack.message(channel, ts).reactions.get('eyes')).toEqual([slack.bot.userId]);
    expect(await refusal(client.reactions.add(mark))).toBe('already_reacted');
    await client.reactions.remove(mark);
    expect(await refusal(client.reactions.remove(mark))).toBe('no_reaction');
    await client.reactions.add(mark);
    slack.remove(channel.id, ts);
    expect(await refusal(client.reactions.remove(mark))).toBe('message_not_found');
  });
});

describe('the life of a channel', () => {
  test('admins cause the events that the app keeps its rows by', async () => {
    const { slack, ann, channel } = await workspaceWithBot();
    const { app, receiver } = socketApp(slack);
    const types: string[] = [];
    receiver.client.on('slack_event', ({ body }: { body: { event: { type: string; subtype?: string } } }) => {
      types.push(body.event.subtype ?? body.event.type);
    });
    await running(app);
    slack.rename(channel, 'lab-2');
    slack.describe(channel, 'purpose', 'All about TP53');
    slack.archive(channel);
    slack.unarchive(channel);
    slack.invite(channel, slack.createPerson({ name: 'bob' }));
    slack.react(ann, channel, slack.say({ person: ann, channel, text: 'x' }).ts, 'tada');
    slack.kick(channel);
    slack.invite(channel);
    slack.deleteChannel(channel);
    slack.uninstall();
    await slack.settled();
    expect(types).toEqual([
      ...['channel_name', 'channel_rename', 'channel_purpose', 'channel_archive', 'channel_archive'],
      ...['channel_unarchive', 'member_joined_channel', 'channel_join', 'message', 'reaction_added'],
      ...['member_left_channel', 'channel_left', 'member_joined_channel', 'channel_join'],
      ...['channel_deleted', 'tokens_revoked', 'app_uninstalled'],
    ]);
  });
});

describe('agent surfaces and installing', () => {
  test('sessions are for apps that are declared agents', async () => {
    const plain = await workspaceWithBot();
    const session = { channel_id: plain.channel.id, thread_ts: '1.000001', status: 'processing' };
    expect(await refusal(plain.client.apiCall('agents.sessions.setStatus', session))).toBe('not_authorized');
    const agent = await workspaceWithBot({ agent: true });
    await agent.client.apiCall('agents.sessions.setStatus', { ...session, channel_id: agent.channel.id });
    expect(agent.slack.status(agent.channel.id, '1.000001')?.status).toBe('processing');
  });

  test('a code is exchanged once for the token of its workspace', async () => {
    const { slack, client } = await workspaceWithBot({ teams: [{ name: 'One' }, { id: 'T2', name: 'Two' }] });
    const ids = { client_id: slack.clientId, client_secret: slack.clientSecret };
    const back = await fetch(
      `${slack.url}/oauth/v2/authorize?client_id=${slack.clientId}&team=T2&state=s1&redirect_uri=http://127.0.0.1:9/back`,
      { redirect: 'manual' },
    );
    const url = new URL(back.headers.get('location') ?? '');
    expect(url.searchParams.get('state')).toBe('s1');
    const code = url.searchParams.get('code') ?? '';
    expect(await refusal(client.oauth.v2.access({ code, ...ids, client_secret: 'x' }))).toBe(
      'bad_client_secret',
    );
    expect(await refusal(client.oauth.v2.access({ code, ...ids }))).toBe('bad_redirect_uri');
    const redirect_uri = 'http://127.0.0.1:9/back';
    const answer = await client.oauth.v2.access({ code, redirect_uri, ...ids });
    expect(answer).toMatchObject({ access_token: slack.teams[1]?.installation.token, team: { id: 'T2' } });
    expect(await refusal(client.oauth.v2.access({ code, ...ids }))).toBe('invalid_code');
  });
});

describe('faults', () => {
  test('a lost answer to a post that took effect', async () => {
    const { slack, channel, client } = await workspaceWithBot();
    slack.faults.add({ call: 'chat.postMessage', fault: { kind: 'lost' }, times: 1 });
    await expect(client.chat.postMessage({ channel: channel.id, text: 'x' })).rejects.toThrow('fetch failed');
    expect(slack.messages(channel)).toHaveLength(1);
    await until(() => slack.calls[0]?.status === 0 && slack.calls[0].ms > 0);
  });

  test('a fault that is about one channel spares the others', async () => {
    const { slack, channel, client } = await workspaceWithBot();
    const other = slack.createChannel({ name: 'other' });
    const body = { ok: false, error: 'internal_error' };
    slack.faults.add({
      call: 'chat.postMessage',
      about: channel.id,
      fault: { kind: 'status', status: 200, body },
    });
    expect((await client.chat.postMessage({ channel: other.id, text: 'x' })).ok).toBe(true);
    expect(await refusal(client.chat.postMessage({ channel: channel.id, text: 'x' }))).toBe('internal_error');
  });
});

describe('what people type', () => {
  const names = {
    person: (name: string) => (name === 'ann' ? 'U1' : undefined),
    channel: (name: string) => (name === 'lab' ? 'C1' : undefined),
  };

  test("becomes Slack's text with entities, and rich text without", () => {
    const { text, blocks } = compose(
      '@ann in #lab: a < b & *bold* `x` https://a.de/?b&c :tada: @nobody',
      names,
      'B1',
    );
    expect(text).toBe('<@U1> in <#C1>: a &lt; b &amp; *bold* `x` <https://a.de/?b&amp;c> :tada: @nobody');
    expect(blocks).toMatchObject([
      {
        type: 'rich_text',
        elements: [
          {
            type: 'rich_text_section',
            elements: [
              { type: 'user', user_id: 'U1' },
              { type: 'text', text: ' in ' },
              { type: 'channel', channel_id: 'C1' },
              { type: 'text', text: ': a < b & ' },
              { type: 'text', text: 'bold', style: { bold: true } },
              { type: 'text', text: ' ' },
              { type: 'text', text: 'x', style: { code: true } },
              { type: 'text', text: ' ' },
              { type: 'link', url: 'https://a.de/?b&c' },
              { type: 'text', text: ' ' },
              { type: 'emoji', name: 'tada' },
              { type: 'text', text: ' @nobody' },
            ],
          },
        ],
      },
    ]);
  });

  test('mentions people by displayed names of several words, too', async () => {
    const { slack, ann, channel } = await workspaceWithBot();
    const ada = slack.createPerson({ name: 'al', realName: 'Ada Lovelace' });
    expect(slack.say({ person: ann, channel, text: '@Ada Lovelace, hello' }).text).toBe(
      `<@${ada.id}>, hello`,
    );
    const known = new Map([
      ['ada lovelace', 'U2'],
      ['ada lovelace (lab)', 'U3'],
      ['ada', 'U4'],
    ]);
    const person = (name: string) => known.get(name.toLowerCase());
    const severalWords = ['Ada Lovelace', 'Ada Lovelace (Lab)'];
    const typed = '@Ada Lovelace, @ada lovelace (lab) and @Ada Lovelaces `@Ada Lovelace`';
    const { text } = compose(typed, { ...names, person, severalWords }, 'B1');
    expect(text).toBe('<@U2>, <@U3> and <@U4> Lovelaces `@Ada Lovelace`');
  });

  test('lists, quotes and fences become parts of their own', () => {
    const { text, blocks } = compose('see\n- a\n- b\n1. c\n> q\n```\nx < 1\n```\nend', names, 'B1');
    expect(text).toBe('see\n• a\n• b\n1. c\n&gt; q\n```x &lt; 1```\nend');
    expect(blocks[0]?.elements).toMatchObject([
      { type: 'rich_text_section' },
      { type: 'rich_text_list', style: 'bullet', elements: [{}, {}] },
      { type: 'rich_text_list', style: 'ordered', elements: [{}] },
      { type: 'rich_text_quote' },
      { type: 'rich_text_preformatted', elements: [{ type: 'text', text: 'x < 1' }] },
      { type: 'rich_text_section' },
    ]);
  });
});

test("an organisation's token lists the workspaces that it reaches, and a workspace's own that one", async () => {
  const organisation = { id: 'E1', name: 'All' };
  const teams = [
    { id: 'T1', name: 'One', organisation },
    { id: 'T2', name: 'Two', organisation },
    { id: 'T3', name: 'Three' },
  ];
  const slack = await workspace({ teams });
  const [ofAll, own] = ['T1', 'T3'].map((id) =>
    client(slack, slack.teams.find((team) => team.id === id)?.installation.token),
  );
  const first = await ofAll?.auth.teams.list({ limit: 1 });
  expect(first?.teams).toEqual([{ id: 'T1', name: 'One' }]);
  const second = await ofAll?.auth.teams.list({ cursor: first?.response_metadata?.next_cursor ?? '' });
  expect(second?.teams).toEqual([{ id: 'T2', name: 'Two' }]);
  slack.setAccess('T2', 'revoked');
  expect((await ofAll?.auth.teams.list())?.teams).toEqual([{ id: 'T1', name: 'One' }]);
  expect((await own?.auth.teams.list())?.teams).toEqual([{ id: 'T3', name: 'Three' }]);
  for (const [args, code] of [
    [{ limit: 1001 }, 'invalid_limit'],
    [{ limit: 0 }, 'invalid_limit'],
    [{ cursor: 'nonsense' }, 'invalid_cursor'],
  ] as const)
    expect(await refusal(ofAll?.auth.teams.list(args) ?? Promise.resolve())).toBe(code);
});
