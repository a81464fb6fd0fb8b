import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FileUploads } from '../../src/slack/file-uploads.ts';
import { type SlackClientScene, startSlackClientScene } from '../support/slack-client-scene.ts';
import { lease } from '../support/slack-installation.ts';

let scene: SlackClientScene;
let uploads: FileUploads;

beforeEach(async () => {
  scene = await startSlackClientScene();
  const { slack, client } = scene;
  uploads = new FileUploads(client, slack.apiUrl);
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
});
const share = { channel: 'C1', threadTs: '1.0', files: [{ id: 'F9', title: 'chart.png' }] };

describe('an upload', () => {
  test('takes three steps', async () => {
    expect(await uploads.stage(request())).toEqual({ fileId: 'F9' });
    await uploads.share(share);
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

  test.each([201, 204])('is accepted with status %i', async (status) => {
    scene.slack.on('upload/F9', { status });
    expect(await uploads.stage(request())).toEqual({ fileId: 'F9' });
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

  test('stops when the lease ends between two steps, before its bytes are read', async () => {
    let leftMs = 60_000;
    const guard = { ...lease(leftMs), remainingMs: () => leftMs };
    let reads = 0;
    async function* counted(): AsyncGenerator<Uint8Array> {
      reads += 1;
      yield Buffer.from('abcdef');
    }
    scene.slack.on('files.getUploadURLExternal', () => {
      leftMs = 0;
      return { body: { ok: true, file_id: 'F9', upload_url: `${scene.slack.origin}/upload/F9` } };
    });
    const failed = uploads.stage({ ...request(), content: counted(), guard });
    await expect(failed).rejects.toMatchObject({ code: 'lease_ended', outcome: 'none' });
    expect([scene.slack.calls.length, reads]).toEqual([1, 0]);
  });

  test('stops when the lease ends while its bytes are read', async () => {
    const guard = lease(60_000);
    async function* lost(): AsyncGenerator<Uint8Array> {
      guard.lose();
      yield Buffer.from('abcdef');
    }
    const failed = uploads.stage({ ...request(), content: lost(), guard });
    await expect(failed).rejects.toMatchObject({ code: 'lease_ended', outcome: 'none' });
    expect(scene.slack.calls).toHaveLength(1);
  });
});

describe('what became of a share', () => {
  const shares = { private: { C1: [{ ts: '2.0' }] } };

  test.each([
    ['is in the channel', { ok: true, file: { id: 'F9', shares } }, 'shared'],
    ['is in a direct message', { ok: true, file: { id: 'F9', ims: ['C1'] } }, 'shared'],
    ['was deleted', { ok: false, error: 'file_deleted' }, 'absent'],
    ['never became one', { ok: false, error: 'file_not_found' }, 'absent'],
  ])('files.info tells of a file that %s', async (_, body, where) => {
    scene.slack.on('files.info', { body });
    expect(await uploads.shareOutcome('F9', { channel: 'C1' })).toBe(where);
  });
});

describe('a share that Slack accepts', () => {
  beforeEach(async () => {
    await scene.slack.stop();
    scene = await startSlackClientScene({ pace: 100 });
    uploads = new FileUploads(scene.client, scene.slack.apiUrl);
  });
  const deleted = () => scene.slack.callsOf('files.delete').map(({ args }) => args.file);
  const files = [
    { id: 'F8', title: 'seen.png' },
    { id: 'F9', title: 'lost.png' },
  ];

  test.each([{ threadTs: '1.0' }, {}])(
    'and never shows ends with the files that did not appear, which are deleted (%j)',
    async (place) => {
      const { body } = shownAs(place.threadTs === undefined ? {} : { thread_ts: place.threadTs });
      scene.slack.on('files.info', ({ args }) =>
        args.file === 'F8' ? { body } : { body: { ok: true, file: { id: 'F9', shares: {} } } },
      );
      const failed = uploads.share({ channel: 'C1', ...place, files });
      await expect(failed).rejects.toMatchObject({
        slackCode: 'not_shown',
        outcome: 'none',
        fileIds: ['F9'],
      });
      expect(deleted()).toEqual(['F9']);
    },
  );

  test('and shows after other looks were refused or failed has succeeded', async () => {
    scene.slack.on('files.info', () => {
      const looks = scene.slack.callsOf('files.info').length;
      if (looks === 1) return { status: 502 };
      return looks < 5 ? { body: { ok: true, file: { id: 'F9' } } } : shownAs({ thread_ts: '1.0' });
    });
    await uploads.share(share);
    expect(deleted()).toEqual([]);
  });

  test('counts as shown where Slack does not say', async () => {
    scene.slack.on('files.info', { body: { ok: false, error: 'missing_scope' } });
    await uploads.share(share);
    expect([scene.slack.callsOf('files.info').length, deleted()]).toEqual([1, []]);
  });

  test('is left to the process that holds the turn next once the lease has ended', async () => {
    const guard = lease(60_000);
    scene.slack.on('files.info', () => {
      guard.lose();
      return { body: { ok: true, file: { id: 'F9' } } };
    });
    await expect(uploads.share({ ...share, guard })).rejects.toMatchObject({ code: 'lease_ended' });
    expect(deleted()).toEqual([]);
  });
});
