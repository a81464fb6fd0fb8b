import type { WebAPICallResult } from '@slack/web-api';
import { describe, expect, test } from 'vitest';
import { client, refusal, SteppedClock, workspaceWithBot } from '../../support/slack-workspace-fixture.ts';

const tsOf = (answer: WebAPICallResult & { ts?: string }): string => answer.ts ?? '';

describe('posting', () => {
  test('a post appears with the bot as its writer and comes back as an event object', async () => {
    const { slack, channel, client } = await workspaceWithBot();
    const answer = await client.chat.postMessage({ channel: channel.id, text: 'hello' });
    expect(answer.message?.bot_id).toBe(slack.bot.botId);
    const [message] = slack.messages(channel);
    expect(message).toMatchObject({ ts: answer.ts, text: 'hello', user: slack.bot.userId });
  });

  test('a channel that the bot cannot see is not found, one it is not in is refused', async () => {
    const { slack, client } = await workspaceWithBot();
    const open = slack.createChannel({ name: 'open', bot: false });
    const secret = slack.createChannel({ name: 'secret', bot: false, private: true });
    expect(await refusal(client.chat.postMessage({ channel: open.id, text: 'x' }))).toBe('not_in_channel');
    expect(await refusal(client.chat.postMessage({ channel: secret.id, text: 'x' }))).toBe(
      'channel_not_found',
    );
    expect(await refusal(client.chat.postMessage({ channel: 'C0NONE', text: 'x' }))).toBe(
      'channel_not_found',
    );
  });

  test('an archived channel takes neither posts nor edits', async () => {
    const { slack, channel, client } = await workspaceWithBot();
    const { ts = '' } = await client.chat.postMessage({ channel: channel.id, text: 'x' });
    slack.archive(channel);
    expect(await refusal(client.chat.postMessage({ channel: channel.id, text: 'x' }))).toBe('is_archived');
    expect(await refusal(client.chat.update({ channel: channel.id, ts, text: 'y' }))).toBe('is_inactive');
  });

  test('a post needs a text or blocks', async () => {
    const { channel, client } = await workspaceWithBot();
    expect(await refusal(client.chat.postMessage({ channel: channel.id, text: '' }))).toBe('no_text');
  });

  test('a reply needs a root that exists and is no reply itself', async () => {
    const { slack, ann, channel, client } = await workspaceWithBot();
    const root = slack.say({ person: ann, channel, text: 'root' });
    const reply = slack.say({ person: ann, channel, text: 'reply', thread: root.ts });
    const post = (thread_ts: string) =>
      client.chat.postMessage({ channel: channel.id, text: 'x', thread_ts });
    expect((await post(root.ts)).ok).toBe(true);
    expect(await refusal(post('1.000001'))).toBe('thread_not_found');
    expect(await refusal(post(reply.ts))).toBe('cannot_reply_to_message');
  });

  test('a post into a deleted thread lands in the channel, unless the thread has replies left', async () => {
    const { slack, ann, channel, client } = await workspaceWithBot();
    const [gone, kept] = ['gone', 'kept'].map((text) => slack.say({ person: ann, channel, text }));
    const post = async (root: typeof gone) =>
      (await client.chat.postMessage({ channel: channel.id, text: 'x', thread_ts: root?.ts ?? '' })).message;
    expect(await post(kept)).toMatchObject({ thread_ts: kept?.ts });
    for (const root of [gone, kept]) slack.remove(channel, root?.ts ?? '');
    expect(await post(gone)).not.toHaveProperty('thread_ts');
    expect(await post(kept)).toMatchObject({ thread_ts: kept?.ts });
    expect(slack.messages(channel).filter(({ threadTs }) => threadTs === undefined)).toHaveLength(1);
  });

  test('text above 40,000 characters is cut with a warning', async () => {
    const { slack, channel, client } = await workspaceWithBot();
    const answer = await client.chat.postMessage({ channel: channel.id, text: 'a'.repeat(40_001) });
    expect(answer.response_metadata?.warnings).toContain('message_truncated');
    expect(slack.messages(channel)[0]?.text).toHaveLength(40_000);
  });

  test('an edit takes 4,000 characters of text, and nothing that the bot does not use', async () => {
    const { channel, client } = await workspaceWithBot();
    const { ts = '' } = await client.chat.postMessage({ channel: channel.id, text: 'x' });
    const edit = (more: object) => client.apiCall('chat.update', { channel: channel.id, ts, ...more });
    expect((await edit({ text: 'a'.repeat(4_000) })).ok).toBe(true);
    expect(await refusal(edit({ markdown_text: 'a' }))).toBe('invalid_arguments');
    expect(await refusal(edit({ text: 'a'.repeat(4_001) }))).toBe('msg_too_long');
  });

  test('a post with the same client_msg_id is answered with the first one', async () => {
    const { slack, channel, client } = await workspaceWithBot();
    const post = () =>
      client.apiCall('chat.postMessage', {
        channel: channel.id,
        text: 'once',
        client_msg_id: '0f0e0d0c-0b0a-4000-a000-000000000001',
      });
    const first = await post();
    const second = await post();
    expect(second).toMatchObject({ ok: true, is_duplicate: true, ts: tsOf(first) });
    expect(slack.messages(channel)).toHaveLength(1);
    slack.remove(channel, tsOf(first));
    expect(await refusal(post())).toBe('duplicate_message_not_found');
  });

  test('client_msg_id means nothing where that is switched off', async () => {
    const { slack, channel, client } = await workspaceWithBot({ clientMsgIdDedupe: false });
    const client_msg_id = '0f0e0d0c-0b0a-4000-a000-000000000001';
    for (const text of ['a', 'b'])
      await client.apiCall('chat.postMessage', { channel: channel.id, text, client_msg_id });
    expect(slack.messages(channel)).toHaveLength(2);
  });

  test('metadata is flat, limited, kept by an edit and removed by an empty object', async () => {
    const { channel, client } = await workspaceWithBot({ metadataLimit: 200 });
    const post = (event_payload: object) =>
      client.apiCall('chat.postMessage', {
        channel: channel.id,
        text: 'x',
        metadata: { event_type: 'turn', event_payload },
      });
    expect(await refusal(post({ deep: { deeper: { deepest: 1 } } }))).toBe('invalid_metadata_format');
    expect(await refusal(post({ long: 'x'.repeat(200) }))).toBe('metadata_too_large');
    const ts = tsOf(await post({ id: 't1', part: 2 }));
    const read = async () => {
      const answer = await client.conversations.replies({
        channel: channel.id,
        ts,
        include_all_metadata: true,
      });
      return answer.messages?.[0]?.metadata;
    };
    await client.chat.update({ channel: channel.id, ts, text: 'y' });
    expect(await read()).toMatchObject({ event_type: 'turn', event_payload: { id: 't1', part: 2 } });
    await client.apiCall('chat.update', { channel: channel.id, ts, text: 'z', metadata: {} });
    expect(await read()).toBeUndefined();
  });

  test("a person's id posts into the direct conversation", async () => {
    const { slack, ann, client } = await workspaceWithBot();
    await client.chat.postMessage({ channel: ann.id, text: 'psst' });
    expect(slack.messages(slack.openDm(ann))[0]?.text).toBe('psst');
  });
});

describe('editing and deleting', () => {
  test('an edit above 4,000 bytes is refused, not cut', async () => {
    const { channel, client } = await workspaceWithBot();
    const { ts = '' } = await client.chat.postMessage({ channel: channel.id, text: 'x' });
    const edit = (text: string) => client.chat.update({ channel: channel.id, ts, text });
    expect((await edit('a'.repeat(4000))).ok).toBe(true);
    expect(await refusal(edit('a'.repeat(4001)))).toBe('msg_too_long');
    expect(await refusal(edit('é'.repeat(2001)))).toBe('msg_too_long');
  });

  test('text without blocks removes the blocks and shows "(edited)"; blocks do neither', async () => {
    const { slack, channel, client } = await workspaceWithBot();
    const blocks = [{ type: 'section', text: { type: 'mrkdwn', text: 'one' } }];
    const { ts = '' } = await client.chat.postMessage({ channel: channel.id, text: 'one', blocks });
    await client.chat.update({ channel: channel.id, ts, text: 'two', blocks });
    expect(slack.message(channel, ts)).not.toHaveProperty('edited');
    await client.chat.update({ channel: channel.id, ts, text: 'three' });
    const message = slack.message(channel, ts);
    expect(message.blocks).toBeUndefined();
    expect(message.edited?.user).toBe(slack.bot.userId);
    expect(message.versions.map((version) => slack.visibleText(version))).toEqual(['one', 'one', 'three']);
  });

  test("only the bot's own messages that still exist can be edited or deleted", async () => {
    const { slack, ann, channel, client } = await workspaceWithBot();
    const theirs = slack.say({ person: ann, channel, text: 'mine' });
    const edit = (ts: string) => client.chat.update({ channel: channel.id, ts, text: 'x' });
    expect(await refusal(edit(theirs.ts))).toBe('cant_update_message');
    expect(await refusal(client.chat.delete({ channel: channel.id, ts: theirs.ts }))).toBe(
      'cant_delete_message',
    );
    const { ts = '' } = await client.chat.postMessage({ channel: channel.id, text: 'x' });
    await client.chat.delete({ channel: channel.id, ts });
    expect(await refusal(edit(ts))).toBe('message_not_found');
    expect(await refusal(client.chat.delete({ channel: channel.id, ts }))).toBe('message_not_found');
  });

  test('versions carry the time from which each text was visible', async () => {
    const clock = new SteppedClock();
    const { slack, channel, client } = await workspaceWithBot({ clock });
    const { ts = '' } = await client.chat.postMessage({ channel: channel.id, text: 'a' });
    clock.pass(1500);
    await client.chat.update({ channel: channel.id, ts, text: 'b' });
    const [first, second] = slack.message(channel, ts).versions;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBe(1500);
  });

  test('an ephemeral message is seen by one person only', async () => {
    const { slack, ann, channel, client } = await workspaceWithBot();
    await client.chat.postEphemeral({ channel: channel.id, user: ann.id, text: 'only you' });
    expect(slack.ephemerals(ann, channel).map((one) => one.text)).toEqual(['only you']);
    expect(slack.messages(channel)).toEqual([]);
    const bob = slack.createPerson({ name: 'bob' });
    const toBob = client.chat.postEphemeral({ channel: channel.id, user: bob.id, text: 'x' });
    expect(await refusal(toBob)).toBe('user_not_in_channel');
  });
});

describe('tokens and scopes', () => {
  test('wrong, missing, revoked and uninstalled tokens are told apart', async () => {
    const { slack, client: good } = await workspaceWithBot();
    expect(await refusal(client(slack, 'xoxb-wrong').auth.test())).toBe('invalid_auth');
    expect(await refusal(client(slack, slack.appToken).auth.test())).toBe('not_allowed_token_type');
    expect(await refusal(good.apps.connections.open({}))).toBe('not_allowed_token_type');
    slack.revokeToken();
    expect(await refusal(good.auth.test())).toBe('token_revoked');
    slack.uninstall();
    expect(await refusal(good.auth.test())).toBe('account_inactive');
  });

  test('a missing scope is named', async () => {
    const { slack, channel } = await workspaceWithBot({ scopes: ['chat:write', 'channels:read'] });
    const response = await fetch(`${slack.apiUrl}users.info`, {
      method: 'POST',
      headers: { authorization: `Bearer ${slack.botToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ user: 'U1' }),
    });
    expect(await response.json()).toEqual({
      ok: false,
      error: 'missing_scope',
      needed: 'users:read',
      provided: 'chat:write,channels:read',
    });
    expect(await refusal(client(slack).conversations.history({ channel: channel.id }))).toBe('missing_scope');
  });

  test('a method that the sandbox does not have is unknown', async () => {
    const { client } = await workspaceWithBot();
    expect(await refusal(client.apiCall('chat.meMessage', {}))).toBe('unknown_method');
  });

  test('two workspaces have tokens, people and channels of their own', async () => {
    const { slack } = await workspaceWithBot({ teams: [{ name: 'One' }, { id: 'T2', name: 'Two' }] });
    const other = slack.teams[1];
    const there = slack.createChannel({ name: 'there', teamId: 'T2' });
    const second = client(slack, other?.installation.token);
    expect((await second.auth.test()).team_id).toBe('T2');
    expect((await second.chat.postMessage({ channel: there.id, text: 'x' })).ok).toBe(true);
    expect(await refusal(client(slack).chat.postMessage({ channel: there.id, text: 'x' }))).toBe(
      'channel_not_found',
    );
  });

  test('calls are recorded with their outcome and without the token', async () => {
    const { slack, channel, client } = await workspaceWithBot();
    const heard: string[] = [];
    slack.onCall((call) => heard.push(call.method));
    await client.chat.postMessage({ channel: channel.id, text: 'x' });
    await refusal(client.chat.update({ channel: channel.id, ts: '1.000001', text: 'x' }));
    expect(slack.calls).toMatchObject([
      { method: 'chat.postMessage', ok: true, status: 200, teamId: slack.team.id },
      { method: 'chat.update', ok: false, error: 'message_not_found', status: 200 },
    ]);
    expect(JSON.stringify(slack.calls)).not.toContain(slack.botToken);
    expect(heard).toEqual(['chat.postMessage', 'chat.update']);
  });
});
