import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { FileDownloads } from '../../src/slack/file-downloads.ts';
import { SlackClient } from '../../src/slack/slack-client.ts';
import { silentLog } from '../support/silent-log.ts';
import { type SlackClientScene, sharedTable, startSlackClientScene } from '../support/slack-client-scene.ts';
import { installation } from '../support/slack-installation.ts';

let scene: SlackClientScene;
beforeEach(async () => {
  scene = await startSlackClientScene();
});
afterEach(() => scene.slack.stop());

describe('a call of the Web API', () => {
  const call = () =>
    new SlackClient({ installation, log: silentLog, slackApiUrl: scene.slack.apiUrl }).call(
      'odd',
      {},
      { schema: z.looseObject({ ts: z.string() }) },
    );

  test.each([200, 201, 202, 203, 206, 299])('has its answer with status %i', async (status) => {
    scene.slack.on('odd', { status, body: { ok: true, ts: '1.5' } });
    expect(await call()).toMatchObject({ ts: '1.5' });
  });

  test.each([204, 421, 425])('may have had its effect with status %i and no answer', async (status) => {
    scene.slack.on('odd', { status });
    await expect(call()).rejects.toMatchObject({ code: 'unavailable', outcome: 'unknown' });
  });

  test.each([
    ['a code of Slack', { ok: false, error: 'channel_not_found' }, { code: 'channel_gone' }],
    ['the page of a firewall', '<html>Blocked</html>', { code: 'refused', slackCode: 'http_403' }],
    ['a success', { ok: true, ts: '1.5' }, { code: 'refused', slackCode: 'http_403' }],
  ])('had no effect with status 403 and %s', async (_, body, error) => {
    scene.slack.on('odd', { status: 403, body });
    await expect(call()).rejects.toMatchObject({ ...error, outcome: 'none' });
  });
});

describe('a file', () => {
  const CONTENT = Buffer.from('gene,fold\n'.repeat(2_000));
  const MIDDLE = 7_000;
  const last = CONTENT.length - 1;

  /** The file's bytes, and the ranges that were asked for. */
  async function read() {
    const { client, slack } = scene;
    const { apiUrl: slackApiUrl } = slack;
    const downloads = new FileDownloads({ client, maxBytes: 1_000_000, slackApiUrl, idleMs: 300 });
    const chunks: Uint8Array[] = [];
    for await (const chunk of downloads.read(sharedTable(slack, CONTENT.length))) chunks.push(chunk);
    return {
      bytes: Buffer.concat(chunks),
      ranges: slack.callsOf('files/F1').map(({ headers }) => headers.range),
    };
  }

  /** Answers by hand, and the later requests with the rest of the file. */
  function serve(first: (response: ServerResponse) => void, headers: Record<string, string> = {}): void {
    scene.slack.on('files/F1', (call, _request, response) => {
      const [, from] = /^bytes=(\d+)-/.exec(String(call.headers.range)) ?? [];
      if (from === undefined) {
        first(response);
        return undefined;
      }
      if (Number(from) > last)
        return { status: 416, headers: { 'content-range': `bytes */${CONTENT.length}` } };
      const range = { 'content-range': `bytes ${from}-${last}/${CONTENT.length}` };
      return { status: 206, headers: { ...range, ...headers }, body: CONTENT.subarray(Number(from)) };
    });
  }

  /** Breaks the response after so many bytes. */
  const breakingAt =
    (bytes: number, headers: Record<string, string> = {}) =>
    (response: ServerResponse) => {
      response.writeHead(200, headers);
      response.write(CONTENT.subarray(0, bytes), () => setTimeout(() => response.destroy(), 20));
    };

  test('whose connection breaks after its last byte is whole', async () => {
    serve(breakingAt(CONTENT.length));
    expect(await read()).toEqual({ bytes: CONTENT, ranges: [undefined] });
  });

  test.each([
    ['a weak ETag', { etag: '"one"' }, { etag: 'W/"one"' }],
    ['an ETag that is weak no more', { etag: 'W/"one"' }, { etag: '"one"' }],
    ['an ETag without its quotes', { etag: '"one"' }, { etag: 'one' }],
    ['a range in capitals', {}, { 'content-range': `Bytes ${MIDDLE}-${last}/${CONTENT.length}` }],
    ['a range of an unknown whole', {}, { 'content-range': `bytes ${MIDDLE}-${last}/*` }],
  ])('goes on over another connection with %s', async (_, headers, later) => {
    serve(breakingAt(MIDDLE, headers), later);
    expect(await read()).toEqual({ bytes: CONTENT, ranges: [undefined, `bytes=${MIDDLE}-`] });
  });

  test('may come through a proxy that calls it transformed', async () => {
    scene.slack.on('files/F1', { status: 203, body: CONTENT });
    expect((await read()).bytes).toEqual(CONTENT);
  });

  test.each([408, 421, 425])('is not refused by a status %i, which passes', async (status) => {
    scene.slack.on('files/F1', { status });
    await expect(read()).rejects.toMatchObject({ code: 'unavailable', slackCode: `http_${status}` });
  });

  test('is not the sign-in page, whose type may be in capitals', async () => {
    scene.slack.on('files/F1', {
      headers: { 'content-type': 'Text/HTML', 'content-length': '6' },
      body: '<html>',
    });
    await expect(read()).rejects.toMatchObject({ reason: 'missing_scope' });
  });
});
