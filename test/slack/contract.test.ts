import { afterEach, describe, expect, test } from 'vitest';
import {
  type SlackWorkspace,
  type SlackWorkspaceOptions,
  startSlackWorkspace,
} from '../../sandbox/slack/slack-workspace.ts';
import { ChannelMembership } from '../../src/slack/channel-membership.ts';
import { SlackDirectory } from '../../src/slack/directory.ts';
import { FileRefusedError, slackFileSchema } from '../../src/slack/downloadable-files.ts';
import { FileDownloads } from '../../src/slack/file-downloads.ts';
import { FileUploads } from '../../src/slack/file-uploads.ts';
import { MessageHistory } from '../../src/slack/message-history.ts';
import { Posting, type PostRequest } from '../../src/slack/posting.ts';
import { RateLimitedClient, RateLimiter, rateLimitTable } from '../../src/slack/rate-limits.ts';
import { SlackClient } from '../../src/slack/slack-client.ts';
import { identifyToken } from '../../src/slack/tokens.ts';
import { InMemoryRateLimits } from '../support/in-memory-rate-limits.ts';
import { silentLog } from '../support/silent-log.ts';

let slack: SlackWorkspace;
afterEach(() => slack.stop());

/** A workspace with a channel, a person and a root message, and all that we call it with. */
async function start(options: SlackWorkspaceOptions = {}, timeoutMs = 30_000) {
  slack = await startSlackWorkspace(options);
  const slackApiUrl = slack.apiUrl;
  const { installation } = await identifyToken({ token: slack.botToken, log: silentLog, slackApiUrl });
  const slackClient = new SlackClient({ installation, log: silentLog, slackApiUrl, timeoutMs });
  const rateLimiter = new RateLimiter({
    workspace: installation.workspace,
    store: new InMemoryRateLimits(),
    rateLimits: rateLimitTable(),
    log: silentLog,
  });
  const client = new RateLimitedClient(slackClient, rateLimiter);
  const person = slack.createPerson({ name: 'ada' });
  const channel = slack.createChannel({ name: 'lab' });
  const root = slack.say({ person, channel, text: 'Hello' });
  const request: PostRequest = {
    channel: channel.id,
    threadTs: root.ts,
    message: { text: 'Working', blocks: [{ type: 'markdown', text: '**Working**' }] },
    key: 'turn-1/0',
    kind: 'first',
  };
  return {
    client,
    rateLimiter,
    person,
    channel,
    root,
    request,
    posting: new Posting(client, silentLog),
    readBack: new MessageHistory(client),
    people: new SlackDirectory(client, silentLog),
    downloads: new FileDownloads({ client, maxBytes: 10_000_000, slackApiUrl, idleMs: 1_000 }),
    uploads: new FileUploads(client, slackApiUrl),
  };
}

describe('messages', () => {
  test('are posted, edited, found and deleted, and get reactions', async () => {
    const { posting, readBack, request, channel, root } = await start();
    const intendedAt = new Date();
    const { ts } = await posting.post(request);
    const state = () => ({ isFinal: true, isBlank: false, unseenSinceMs: 0 });
    const where = { channel: channel.id, ts };
    expect(await posting.edit({ ...where, state, render: () => ({ text: 'Done' }) })).toBe('shown');
    expect(slack.message(channel, ts)).toMatchObject({ text: 'Done', threadTs: root.ts });
    expect(slack.message(channel, ts).metadata).toMatchObject({ event_payload: { key: 'turn-1/0' } });
    const mark = { channel: channel.id, ts: root.ts, name: 'eyes' };
    expect(await posting.addReaction(mark)).toBe('done');
    expect(await posting.addReaction(mark)).toBe('done');
    expect(await posting.removeReaction(mark)).toBe('done');
    expect(await posting.removeReaction(mark)).toBe('done');
    expect(await posting.getPermalink(where)).toContain(channel.id);
    const sought = { channel: channel.id, threadTs: root.ts, intendedAt };
    expect(await readBack.findOwnPost({ ...sought, key: 'turn-1/0' })).toEqual({ ts });
    expect(await readBack.findOwnPost({ ...sought, key: 'turn-1/1' })).toBeUndefined();
    await posting.delete(where);
    await posting.delete(where);
    expect(await readBack.findOwnPost({ ...sought, key: 'turn-1/0' })).toBeUndefined();
  });

  test('reach one person alone, in the channel or directly', async () => {
    const { posting, person, channel, request } = await start();
    await posting.postEphemeral({ channel: channel.id, user: person.id, message: { text: 'psst' } });
    expect(slack.ephemerals(person, channel)).toHaveLength(1);
    const dm = await posting.openDm(person.id);
    const { ts } = await posting.post({ ...request, channel: dm, threadTs: undefined });
    expect(slack.message(dm, ts).text).toBe('Working');
  });

  test('are found again after a lost response', async () => {
    const { posting, readBack, request, channel, root } = await start();
    const intendedAt = new Date();
    slack.faults.add({ call: 'chat.postMessage', fault: { kind: 'lost' }, times: 1 });
    await expect(posting.post(request)).rejects.toMatchObject({ code: 'unavailable', outcome: 'unknown' });
    const found = await readBack.findOwnPost({
      channel: channel.id,
      threadTs: root.ts,
      key: request.key,
      intendedAt,
    });
    expect(found).toBeDefined();
    expect(
      slack.thread(channel, root.ts).filter((message) => message.user === slack.bot.userId),
    ).toHaveLength(1);
  });

  test('end with an unknown outcome if Slack is too slow', async () => {
    const { posting, request } = await start({}, 1_000);
    slack.faults.add({ call: 'chat.postMessage', fault: { kind: 'latency', ms: 1_500 }, times: 1 });
    await expect(posting.post(request)).rejects.toMatchObject({ slackCode: 'timed_out', outcome: 'unknown' });
  });
});

describe('errors', () => {
  test('name the block that Slack refuses', async () => {
    const { posting, request } = await start({ refusedBlocks: ['markdown'] });
    await expect(posting.post(request)).rejects.toMatchObject({
      code: 'payload_refused',
      reasons: ['[ERROR] unsupported type: markdown [json-pointer:/blocks/0/type]'],
    });
  });

  test('report what is gone, too long, or forbidden', async () => {
    const { posting, request, channel } = await start({ scopes: ['chat:write'] });
    const blocks = [{ type: 'markdown' as const, text: 'x'.repeat(12_001) }];
    await expect(posting.post({ ...request, message: { text: 'x', blocks } })).rejects.toMatchObject({
      code: 'payload_refused',
    });
    const empty = [{ type: 'markdown' as const, text: '' }];
    await expect(posting.post({ ...request, message: { text: 'x', blocks: empty } })).rejects.toMatchObject({
      reasons: [expect.stringMatching(/^\[ERROR\] .*\[json-pointer:\/blocks\/0/)],
    });
    await expect(posting.post({ ...request, channel: 'C0NOWHERE' })).rejects.toMatchObject({
      code: 'channel_gone',
    });
    const edit = {
      channel: channel.id,
      ts: '1.000000',
      state: () => ({ isFinal: true, isBlank: false, unseenSinceMs: 0 }),
    };
    await expect(posting.edit({ ...edit, render: () => ({ text: 'x' }) })).rejects.toMatchObject({
      code: 'message_gone',
    });
    await expect(posting.openDm('U1')).rejects.toMatchObject({
      code: 'unauthorized',
      isInstallationDead: false,
    });
    slack.archive(channel);
    await expect(posting.post({ ...request, key: 'turn-1/1' })).rejects.toMatchObject({
      slackCode: 'is_archived',
    });
    slack.revokeToken();
    await expect(posting.post({ ...request, key: 'turn-1/2' })).rejects.toMatchObject({
      code: 'unauthorized',
      isInstallationDead: true,
    });
  });

  test('are retried after 429 and ok:false ratelimited', async () => {
    const { posting, request } = await start();
    const body = { ok: false, error: 'ratelimited' };
    const headers = { 'retry-after': '1' };
    slack.faults.add({
      call: 'chat.postMessage',
      fault: { kind: 'status', status: 429, headers, body },
      times: 1,
    });
    slack.faults.add({
      call: 'chat.postMessage',
      fault: { kind: 'status', status: 200, headers, body },
      times: 1,
    });
    const began = performance.now();
    await posting.post(request);
    expect(performance.now() - began).toBeGreaterThanOrEqual(1_990);
  });
});

test('posts to one channel within the rate limits are never refused', async () => {
  const { posting, request } = await start();
  await Promise.all([0, 1, 2].map((part) => posting.post({ ...request, key: `turn-2/${part}` })));
  expect(Object.values(slack.throttledCalls).reduce((sum, count) => sum + count, 0)).toBe(0);
});

describe('files', () => {
  const bytes = Buffer.from('gene,fold\n'.repeat(5_000));

  /** Shares a file and gives its object as an event carries it. */
  async function share(
    scene: Awaited<ReturnType<typeof start>>,
    kind:
      | 'hosted'
      | 'snippet'
      | 'withheld'
      | 'redirect'
      | 'lying_length'
      | 'lying_size'
      | 'external'
      | 'elsewhere'
      | 'connect_stub',
  ) {
    const { person, channel } = scene;
    const said = slack.say({
      person,
      channel,
      text: 'a file',
      files: [{ name: 'a.csv', mime: 'text/csv', kind, bytes }],
    });
    const [id = ''] = said.fileIds;
    const stub = { id, mode: 'file_access', file_access: 'check_file_info' };
    return (await scene.downloads.resolve(slackFileSchema.parse(stub))).file;
  }

  async function read(
    scene: Awaited<ReturnType<typeof start>>,
    file: Awaited<ReturnType<typeof share>>,
    offset = 0,
  ) {
    const open = await scene.downloads.open(file, { offset });
    const chunks: Uint8Array[] = [];
    for await (const chunk of open.stream) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  test.each(['hosted', 'snippet', 'connect_stub', 'elsewhere'] as const)(
    '%s: whole, and from an offset',
    async (kind) => {
      const scene = await start();
      const file = await share(scene, kind);
      expect(await read(scene, file)).toEqual(bytes);
      expect(await read(scene, file, 30_001)).toEqual(bytes.subarray(30_001));
    },
  );

  test.each([
    ['withheld', 'access_denied'],
    ['redirect', 'access_denied'],
    ['lying_length', 'changed'],
    ['lying_size', 'changed'],
    ['external', 'external'],
  ] as const)('%s is refused as %s', async (kind, reason) => {
    const scene = await start();
    const error = await read(scene, await share(scene, kind)).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(FileRefusedError);
    expect(error).toMatchObject({ reason });
  });

  test('of the bot are uploaded into a thread, and files.info shows it', async () => {
    const { uploads, channel, root } = await start();
    const { fileId } = await uploads.stage({
      name: 'chart.csv',
      sizeBytes: bytes.length,
      content: (async function* () {
        yield bytes.subarray(0, 20_000);
        yield bytes.subarray(20_000);
      })(),
    });
    const place = { channel: channel.id, threadTs: root.ts };
    expect(await uploads.shareOutcome(fileId, place)).toBe('absent');
    const files = [{ id: fileId, title: 'A chart' }];
    await uploads.share({ ...place, files });
    expect(await uploads.shareOutcome(fileId, place)).toBe('shared');
    await expect.poll(() => slack.thread(channel.id, root.ts).at(-1)?.fileIds).toEqual([fileId]);
    expect(await slack.fileBytes(fileId)).toEqual(bytes);
  });
});

test('people and channels are recognised', async () => {
  const { people, person, channel } = await start();
  const guest = slack.createPerson({ name: 'gus', kind: 'guest' });
  const stranger = slack.createPerson({ name: 'sam', kind: 'stranger' });
  const bot = slack.createPerson({ name: 'bob', kind: 'bot' });
  expect(await people.person(person.id)).toEqual({
    id: person.id,
    name: 'ada',
    kind: 'member',
    isHuman: true,
    isAdmin: false,
  });
  expect((await people.person(guest.id)).kind).toBe('guest');
  expect((await people.person(stranger.id)).kind).toBe('stranger');
  expect(await people.person(bot.id)).toMatchObject({ kind: 'bot', isHuman: false });
  expect((await people.person('U0NOBODY')).kind).toBe('unknown');
  expect(await people.channel(channel.id)).toMatchObject({ name: 'lab', kind: 'public' });
});

test('in a channel of thousands somebody is found among their own channels, and nobody else', async () => {
  const { client, person, channel } = await start();
  const membership = new ChannelMembership(client);
  const outsider = slack.createPerson({ name: 'sam' });
  channel.members.delete(person.id);
  for (let at = 0; at < 10_100; at += 1) channel.members.add(`U9${at}`);
  channel.members.add(person.id);
  expect(await membership.statusOf(channel.id, person.id)).toBe('member');
  expect(slack.calls.filter(({ method }) => method === 'conversations.members')).toHaveLength(3);
  expect(await membership.statusOf(channel.id, outsider.id)).toBe('unknown');
});
