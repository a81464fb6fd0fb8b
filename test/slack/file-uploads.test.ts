import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FileUploads } from '../../src/slack/file-uploads.ts';
import { type SlackClientScene, startSlackClientScene } from '../support/slack-client-scene.ts';
import { lease } from '../support/slack-installation.ts';

let scene: SlackClientScene;
let uploads: FileUploads;
let ids: string[];

beforeEach(async () => {
  scene = await startSlackClientScene();
  const { slack, client } = scene;
  uploads = new FileUploads(client, slack.apiUrl);
  ids = [];
  slack.on('files.getUploadURLExternal', {
    body: { ok: true, file_id: 'F9', upload_url: `${slack.origin}/upload/F9` },
  });
  slack.on('upload/F9', { body: 'OK - 6' });
  slack.on('files.info', shownAs({ thread_ts: '1.0' }));
});
afterEach(() => scene.slack.stop());

/** What files.info says of a file that Slack shows in C1. */
function shownAs(place: { thread_ts?: string }) {
  return { body: { ok: true, file: { id: 'F9', shares: { public: { C1: [{ ts: '3.0', ...place }] } } } } };
}

async function* bytes(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('abc');
  yield Buffer.from('def');
}

const request = () => ({
  name: 'chart.png',
  sizeBytes: 6,
  content: bytes(),
  onFileId: (id: string) => {
    ids.push(`${id} after ${scene.slack.calls.length} calls`);
    return Promise.resolve();
  },
});
const share = { channel: 'C1', threadTs: '1.0', files: [{ id: 'F9', title: 'chart.png' }] };

describe('an upload', () => {
  test('takes three steps, and reports the id before people can see the file', async () => {
    expect(await uploads.upload({ ...request(), ...share })).toEqual({ fileId: 'F9' });
    expect(ids).toEqual(['F9 after 1 calls']);
    expect(scene.slack.calls.map((call) => call.method)).toEqual([
      'files.getUploadURLExternal',
      'upload/F9',
      'files.completeUploadExternal',
      'files.info',
    ]);
    const [, sent, complete] = scene.slack.calls;
    expect(sent?.args).toEqual({ abcdef: '' });
    expect(sent?.headers['content-length']).toBe('6');
    expect(sent?.headers.authorization).toBeUndefined();
    expect(complete?.args).toMatchObject({ channel_id: 'C1', thread_ts: '1.0' });
    expect(JSON.parse(complete?.args.files ?? '')).toEqual([{ id: 'F9', title: 'chart.png' }]);
  });

  test('waits for slow bytes before it opens a connection', async () => {
    async function* late(): AsyncGenerator<Uint8Array> {
      scene.slack.hangUp();
      await sleep(100);
      yield Buffer.from('abcdef');
    }
    await uploads.stage(request());
    expect(await uploads.stage({ ...request(), content: late() })).toEqual({ fileId: 'F9' });
  });

  test('has no visible effect if its bytes are refused', async () => {
    scene.slack.on('upload/F9', { status: 500 });
    await expect(uploads.stage(request())).rejects.toMatchObject({ code: 'unavailable', outcome: 'none' });
  });

  test('has no visible effect if its source breaks', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('abc');
      throw new Error('source');
    }
    const failed = uploads.stage({ ...request(), content: broken() });
    await expect(failed).rejects.toMatchObject({ code: 'unavailable', outcome: 'none' });
  });

  test('reports an unknown outcome if its completion is unclear', async () => {
    scene.slack.on('files.completeUploadExternal', { status: 502 });
    await expect(uploads.share(share)).rejects.toMatchObject({ outcome: 'unknown' });
  });

  test('into a deleted thread is taken back as soon as Slack shows it in the channel', async () => {
    scene.slack.on('files.info', () => {
      const isScanned = scene.slack.callsOf('files.info').length > 1;
      return isScanned ? shownAs({}) : { body: { ok: true, file: { id: 'F9' } } };
    });
    const outcome = { code: 'message_gone', slackCode: 'thread_not_found', outcome: 'none' };
    await expect(uploads.share(share)).rejects.toMatchObject(outcome);
    expect(scene.slack.callsOf('chat.delete').map(({ args }) => args)).toMatchObject([
      { channel: 'C1', ts: '3.0' },
    ]);
  });

  test('sends no bytes to an address that is not Slack’s', async () => {
    scene.slack.on('files.getUploadURLExternal', {
      body: { ok: true, file_id: 'F9', upload_url: 'https://evil.example/upload' },
    });
    await expect(uploads.stage(request())).rejects.toMatchObject({ slackCode: 'other_host' });
  });

  test('stops when the lease ends between two steps', async () => {
    const guard = lease(60_000);
    const failed = uploads.stage({
      ...request(),
      guard,
      onFileId: () => {
        guard.lose();
        return Promise.resolve();
      },
    });
    await expect(failed).rejects.toMatchObject({ code: 'lease_ended', outcome: 'none' });
    expect(scene.slack.calls).toHaveLength(1);
  });
});

describe('the share status', () => {
  const shares = { private: { C1: [{ ts: '2.0' }] } };

  test.each([
    ['is in the channel', { ok: true, file: { id: 'F9', shares } }, 'shared'],
    ['Slack still looks through', { ok: true, file: { id: 'F9' } }, 'completed'],
    ['was there until people deleted it', { ok: false, error: 'file_deleted' }, 'completed'],
    ['never became one', { ok: false, error: 'file_not_found' }, 'absent'],
  ])('files.info tells of a file that %s', async (_, body, where) => {
    scene.slack.on('files.info', { body });
    expect(await uploads.shareStatus('F9', { channel: 'C1' })).toBe(where);
  });
});
