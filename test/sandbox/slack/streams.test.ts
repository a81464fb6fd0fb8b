import { expect, test } from 'vitest';
import type { SlackWorkspaceOptions } from '../../../sandbox/slack/slack-workspace.ts';
import { refusal, SteppedClock, workspaceWithBot } from '../../support/slack-workspace-fixture.ts';

/** A thread, and a stream into it that has begun. */
async function stream(options: SlackWorkspaceOptions = {}) {
  const made = await workspaceWithBot(options);
  const { slack, ann, channel, client } = made;
  const root = slack.say({ person: ann, channel, text: 'root' });
  const where = { channel: channel.id, thread_ts: root.ts };
  const reader = { recipient_user_id: ann.id, recipient_team_id: slack.team.id };
  const start = (args: object = {}) => client.chat.startStream({ ...where, ...reader, ...args });
  const { ts = '' } = await start({ markdown_text: 'one ' });
  const message = () => slack.message(channel, ts);
  return { ...made, root, where, reader, start, at: { channel: channel.id, ts }, message };
}

const words = (text: string) => [{ type: 'markdown_text' as const, text }];

test('a stream is one message that grows until it is stopped', async () => {
  const { slack, client, at, message } = await stream();
  await client.chat.appendStream({ ...at, markdown_text: 'two ' });
  await client.chat.appendStream({ ...at, chunks: words('**three**') });
  expect(slack.visibleText(message())).toBe('one two **three**');
  const metadata = { event_type: 'end', event_payload: { key: 'k' } };
  const blocks = [{ type: 'divider' }];
  await client.chat.stopStream({ ...at, chunks: words(' four'), blocks, metadata });
  expect(slack.visibleText(message())).toContain('one two **three** four');
  expect(message()).toMatchObject({ metadata, blocks: [{ type: 'markdown' }, { type: 'divider' }] });
  expect(await refusal(client.chat.appendStream({ ...at, markdown_text: 'x' }))).toBe(
    'message_not_in_streaming_state',
  );
  expect(await refusal(client.chat.stopStream(at))).toBe('message_not_in_streaming_state');
});

test('a stream needs a thread, and in a channel one who reads it', async () => {
  const { slack, ann, client, where, reader } = await stream();
  const { recipient_user_id, recipient_team_id } = reader;
  const start = (args: object) => refusal(client.apiCall('chat.startStream', { ...args }));
  expect(await start({ channel: where.channel, ...reader })).toBe('invalid_thread_ts');
  expect(await start({ ...where, recipient_team_id })).toBe('missing_recipient_user_id');
  expect(await start({ ...where, recipient_user_id })).toBe('missing_recipient_team_id');
  expect(await start({ ...where, ...reader, thread_ts: '1.000001' })).toBe('thread_not_found');
  const dm = slack.openDm(ann);
  const root = slack.say({ person: ann, channel: dm, text: 'root' });
  const begun = await client.apiCall('chat.startStream', { channel: dm.id, thread_ts: root.ts });
  expect(begun.ok).toBe(true);
});

test('a message that is streamed cannot be edited, afterwards it can', async () => {
  const { slack, client, at, message } = await stream();
  const edit = () => client.chat.update({ ...at, text: 'edited' });
  expect(await refusal(edit())).toBe('streaming_state_conflict');
  await client.chat.stopStream(at);
  await edit();
  expect(slack.visibleText(message())).toBe('edited');
});

test('a stream dies after five minutes, whatever is appended to it, and its message can then be edited', async () => {
  const clock = new SteppedClock();
  const { client, at } = await stream({ clock });
  clock.pass(299_000);
  await client.chat.appendStream({ ...at, markdown_text: 'late ' });
  clock.pass(1_000);
  expect(await refusal(client.chat.appendStream({ ...at, markdown_text: 'x' }))).toBe(
    'message_not_in_streaming_state',
  );
  expect(await refusal(client.chat.stopStream(at))).toBe('message_not_in_streaming_state');
  expect((await client.chat.update({ ...at, text: 'the rest' })).ok).toBe(true);
});

test('chunks are checked', async () => {
  const { client, at } = await stream();
  const append = (args: object) => refusal(client.apiCall('chat.appendStream', { ...at, ...args }));
  expect(await append({ chunks: [{ type: 'song', text: 'la' }] })).toBe('invalid_chunks');
  expect(await append({ chunks: [{ type: 'task_update', id: 't', title: 'a'.repeat(257) }] })).toBe(
    'invalid_chunks',
  );
  expect(await append({ markdown_text: 'x', chunks: words('y') })).toBe('markdown_text_conflict');
  expect(await append({ markdown_text: 'a'.repeat(12_001) })).toBe('msg_too_long');
  expect(await append({})).toBe('no_text');
  const task = { type: 'task_update', id: 't', title: 'Reading', status: 'in_progress' };
  expect((await client.apiCall('chat.appendStream', { ...at, chunks: [task] })).ok).toBe(true);
});

test('a stream has room for one long message', async () => {
  const { client, at } = await stream();
  const append = (text: string) => client.chat.appendStream({ ...at, markdown_text: text });
  await append('a'.repeat(10_000));
  expect(await refusal(append('a'.repeat(1_000)))).toBe('msg_too_long');
});

test('a stream that begins with too much is refused, and posts nothing', async () => {
  const { slack, start, channel } = await stream();
  const before = slack.messages(channel).length;
  expect(await refusal(start({ markdown_text: 'a'.repeat(11_000) }))).toBe('msg_too_long');
  expect(slack.messages(channel)).toHaveLength(before);
});

test('only its own app streams into a message', async () => {
  const { client, where, root } = await stream();
  const append = client.chat.appendStream({ channel: where.channel, ts: root.ts, markdown_text: 'x' });
  expect(await refusal(append)).toBe('message_not_owned_by_app');
});

test('a minute has 20 starts, 20 stops and 100 appends', async () => {
  const { client, start, at } = await stream({ limits: {} });
  const taken = async (most: number, call: () => Promise<unknown>) => {
    for (let count = 0; count < most; count += 1) await call();
  };
  const throttled = { message: expect.stringMatching(/rate/i) };
  // One was started already.
  await taken(19, start);
  await expect(start()).rejects.toMatchObject(throttled);
  const append = () => client.chat.appendStream({ ...at, markdown_text: 'x' });
  await taken(100, append);
  await expect(append()).rejects.toMatchObject(throttled);
  const stop = () => client.chat.stopStream(at);
  await stop();
  await taken(19, () => stop().catch(() => undefined));
  await expect(stop()).rejects.toMatchObject(throttled);
});

test('the thread of an agent is processing while a stream lives', async () => {
  const clock = new SteppedClock();
  const { slack, client, at, where, start } = await stream({ agent: true, clock });
  const status = () => slack.status(where.channel, where.thread_ts)?.status;
  expect(status()).toBe('processing');
  await client.chat.stopStream(at);
  expect(status()).toBe('active');
  await start();
  clock.pass(300_000);
  expect(status()).toBe('active');
});
