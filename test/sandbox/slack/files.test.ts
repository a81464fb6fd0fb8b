import { describe, expect, test } from 'vitest';
import type { FileKind } from '../../../sandbox/slack/model.ts';
import {
  refusal,
  running,
  SteppedClock,
  socketApp,
  until,
  workspaceWithBot,
} from '../../support/slack-workspace-fixture.ts';

type Lab = Awaited<ReturnType<typeof workspaceWithBot>>;

function shareOne({ slack, ann, channel }: Lab, kind: FileKind, bytes = 'gene,count\nTP53,3\n') {
  const message = slack.say({
    person: ann,
    channel,
    text: 'look',
    files: [{ name: 'Table 1.csv', mime: 'text/csv', kind, bytes }],
  });
  return slack.file(message.fileIds[0] ?? '');
}

async function fileOf({ client }: Lab, id: string) {
  const { file } = await client.files.info({ file: id });
  if (file === undefined) throw new Error('files.info gave no file');
  return file;
}

function get(lab: Lab, url: string | undefined, headers: Record<string, string> = {}) {
  const authorization = `Bearer ${lab.slack.botToken}`;
  return fetch(url ?? '', { headers: { authorization, ...headers }, redirect: 'manual' });
}

describe('downloading', () => {
  test('a hosted file comes with its length, and in ranges', async () => {
    const one = await workspaceWithBot();
    const file = await fileOf(one, shareOne(one, 'hosted').id);
    const whole = await get(one, file.url_private_download);
    expect(whole.status).toBe(200);
    expect(whole.headers.get('content-length')).toBe(String(file.size));
    expect(await whole.text()).toBe('gene,count\nTP53,3\n');
    const part = await get(one, file.url_private, { range: 'bytes=5-9' });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 5-9/${file.size}`]);
    expect(await part.text()).toBe('count');
    expect(await (await get(one, file.url_private, { range: 'bytes=11-' })).text()).toBe('TP53,3\n');
    expect((await get(one, file.url_private, { range: 'bytes=99-' })).status).toBe(416);
  });

  test('without the token, the scope or access, a login page comes with status 200', async () => {
    const one = await workspaceWithBot();
    const file = await fileOf(one, shareOne(one, 'hosted').id);
    const stranger = await fetch(file.url_private ?? '');
    expect(stranger.status).toBe(200);
    expect(stranger.headers.get('content-type')).toContain('text/html');
    expect(stranger.headers.get('x-slack-meta')).toBe('?;acl_fail');
    const page = await get(one, (await fileOf(one, shareOne(one, 'withheld').id)).url_private);
    expect(await page.text()).toContain('<html>');
    const secret = one.slack.createChannel({ name: 'secret', private: true, bot: false });
    const hidden = await get(
      one,
      (await fileOf(one, shareOne({ ...one, channel: secret }, 'hosted').id)).url_private,
    );
    expect(hidden.headers.get('x-slack-meta')).toBe('?;acl_fail');

    const narrow = await workspaceWithBot({ scopes: ['chat:write'] });
    const url = `${narrow.slack.url}/files-pri/${narrow.slack.team.id}-${shareOne(narrow, 'hosted').id}/x`;
    expect((await get(narrow, url)).headers.get('content-type')).toContain('text/html');
  });

  test('a redirect leads to the login page', async () => {
    const one = await workspaceWithBot();
    const answer = await get(one, (await fileOf(one, shareOne(one, 'redirect').id)).url_private);
    expect(answer.status).toBe(302);
    expect(answer.headers.get('x-slack-meta')).toBe('?;acl_fail');
  });

  test('a file that lies about its length breaks off; one that lies about its size does not', async () => {
    const one = await workspaceWithBot();
    const short = await get(one, (await fileOf(one, shareOne(one, 'lying_length').id)).url_private);
    await expect(short.arrayBuffer()).rejects.toThrow('terminated');
    const file = await fileOf(one, shareOne(one, 'lying_size').id);
    const bytes = await (await get(one, file.url_private)).arrayBuffer();
    expect(bytes.byteLength).not.toBe(file.size);
  });

  test('files that cannot be had say so in their record', async () => {
    const one = await workspaceWithBot();
    const record = async (kind: FileKind) => fileOf(one, shareOne(one, kind).id);
    expect(await record('external')).toMatchObject({
      is_external: true,
      external_type: 'gdrive',
      mode: 'external',
    });
    expect((await record('external')).url_private).toMatch(/^https:\/\/drive\.example\.com/);
    expect(await record('tombstone')).toMatchObject({ mode: 'tombstone' });
    expect(await record('hidden_by_limit')).toMatchObject({ mode: 'hidden_by_limit' });
    expect(await record('snippet')).toMatchObject({ mode: 'snippet' });
  });

  test('a canvas and an e-mail come as web pages of another size, and an e-mail has its words in its record', async () => {
    const one = await workspaceWithBot();
    const canvas = await fileOf(one, shareOne(one, 'canvas').id);
    const page = await get(one, canvas.url_private_download);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('content-length')).not.toBe(String(canvas.size));
    const email = { subject: 'Run 7', from: 'Ida <ida@lab.example>', to: ['core@lab.example'], date: 'Mon' };
    const files = [{ name: 'Run 7', mime: 'text/html', kind: 'email' as const, email, bytes: 'It worked.' }];
    const { fileIds } = one.slack.say({ person: one.ann, channel: one.channel, text: 'look', files });
    expect(await fileOf(one, fileIds[0] ?? '')).toMatchObject({
      mode: 'email',
      filetype: 'email',
      mimetype: 'text/html',
      subject: 'Run 7',
      from: [{ name: 'Ida', address: 'ida@lab.example', original: 'Ida <ida@lab.example>' }],
      to: [{ name: '', address: 'core@lab.example', original: 'core@lab.example' }],
      plain_text: 'It worked.',
      headers: { date: 'Mon' },
    });
  });

  test('a file that is being processed has no address at first', async () => {
    const clock = new SteppedClock();
    const one = await workspaceWithBot({ clock });
    const { id } = shareOne(one, 'processing');
    expect((await fileOf(one, id)).url_private).toBeUndefined();
    clock.pass(1000);
    expect(await (await get(one, (await fileOf(one, id)).url_private)).text()).toContain('TP53');
  });

  test('a Slack Connect file is a stub in the event and whole in files.info', async () => {
    const { slack, ann, channel, client } = await workspaceWithBot();
    const { app } = socketApp(slack);
    const pushed: unknown[] = [];
    app.event('app_mention', async ({ event }) => {
      pushed.push(...(event.files ?? []));
    });
    await running(app);
    const message = slack.say({
      person: ann,
      channel,
      text: '@taskthread look',
      files: [{ name: 'a.csv', kind: 'connect_stub', bytes: 'a' }],
    });
    await slack.settled();
    await until(() => pushed.length === 1);
    expect(pushed).toEqual([{ id: message.fileIds[0], mode: 'file_access', file_access: 'check_file_info' }]);
    expect(message.subtype).toBe('file_share');
    const { file } = await client.files.info({ file: message.fileIds[0] ?? '' });
    expect(file).toMatchObject({ name: 'a.csv', size: 1 });
    const read = await client.conversations.history({ channel: channel.id });
    expect(read.messages?.[0]?.files?.[0]).toMatchObject({ name: 'a.csv' });
  });

  test('a file of 2 GiB is read in ranges without being in memory', async () => {
    const one = await workspaceWithBot();
    const { slack, ann, channel } = one;
    const size = 2 * 1024 ** 3;
    const { fileIds } = slack.say({ person: ann, channel, text: 'big', files: [{ name: 'big.bin', size }] });
    const file = await fileOf(one, fileIds[0] ?? '');
    expect(file.size).toBe(size);
    const end = await get(one, file.url_private, { range: `bytes=${size - 3}-${size - 1}` });
    expect((await end.arrayBuffer()).byteLength).toBe(3);
    const part = await get(one, file.url_private, { range: 'bytes=0-33554431' });
    expect((await part.arrayBuffer()).byteLength).toBe(32 * 1024 ** 2);
  });

  test('faults hit downloads by name', async () => {
    const one = await workspaceWithBot();
    const file = await fileOf(one, shareOne(one, 'hosted').id);
    one.slack.faults.add({ call: 'files.download', fault: { kind: 'status', status: 503 }, times: 1 });
    expect((await get(one, file.url_private)).status).toBe(503);
    expect((await get(one, file.url_private)).status).toBe(200);
  });
});

describe('uploading', () => {
  async function put(lab: Lab, bytes: string, length = bytes.length) {
    const step = await lab.client.files.getUploadURLExternal({ filename: 'plot.png', length });
    const response = await fetch(step.upload_url ?? '', { method: 'POST', body: bytes });
    return { id: step.file_id ?? '', status: response.status, text: await response.text() };
  }

  test('three steps put a file into a thread, a moment later', async () => {
    const one = await workspaceWithBot({ shareDelayMs: 2_000 });
    const { slack, ann, channel, client } = one;
    const root = slack.say({ person: ann, channel, text: 'root' });
    const { id, text } = await put(one, 'pixels');
    expect(text).toBe('OK - 6');
    await client.files.completeUploadExternal({
      files: [{ id, title: 'A plot' }],
      channel_id: channel.id,
      thread_ts: root.ts,
      initial_comment: 'Here it is',
    });
    expect(slack.thread(channel, root.ts)).toHaveLength(1);
    expect(Object.values((await fileOf(one, id)).shares?.public ?? {})).toEqual([]);
    await until(() => slack.thread(channel, root.ts).length === 2);
    const shared = slack.thread(channel, root.ts)[1];
    expect(shared).toMatchObject({ text: 'Here it is', subtype: 'file_share', fileIds: [id] });
    expect(shared?.botId).toBeUndefined();
    expect((await fileOf(one, id)).shares?.public?.[channel.id]).toMatchObject([
      { ts: shared?.ts, thread_ts: root.ts },
    ]);
    expect((await slack.fileBytes(id)).toString()).toBe('pixels');
  });

  test('a file may be accepted and never shown, and is gone once it is deleted', async () => {
    const one = await workspaceWithBot({ unshownFiles: /^plot/, shareDelayMs: 10 });
    const { slack, channel, client, ann } = one;
    const { id } = await put(one, 'pixels');
    const files: [{ id: string; title: string }] = [{ id, title: 'A plot' }];
    await client.files.completeUploadExternal({ files, channel_id: channel.id });
    await slack.settled();
    expect(slack.messages(channel)).toEqual([]);
    expect(Object.values((await fileOf(one, id)).shares?.public ?? {})).toEqual([]);
    await client.files.delete({ file: id });
    expect(await refusal(client.files.info({ file: id }))).toBe('file_deleted');
    const theirs = slack.say({ person: ann, channel, text: 'look', files: [{ name: 'a.txt' }] });
    expect(await refusal(client.files.delete({ file: theirs.fileIds[0] ?? '' }))).toBe('cant_delete_file');
  });

  test('nothing, too few bytes, unknown files and foreign channels are refused', async () => {
    const one = await workspaceWithBot();
    const { slack, client } = one;
    const away = slack.createChannel({ name: 'away', bot: false });
    expect(await refusal(client.files.getUploadURLExternal({ filename: 'a', length: 0 }))).toBe(
      'invalid_arguments',
    );
    expect((await put(one, 'abc', 5)).status).toBe(400);
    const complete = (id: string, channel_id: string) =>
      refusal(client.files.completeUploadExternal({ files: [{ id, title: 'a' }], channel_id }));
    expect(await complete('F0NONE', one.channel.id)).toBe('file_not_found');
    const { id } = await put(one, 'abc');
    expect(await complete(id, away.id)).toBe('not_in_channel');
  });
});
