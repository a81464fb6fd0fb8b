import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FileRefusedError, type SlackFile } from '../../src/slack/downloadable-files.ts';
import { FileDownloads, type OpenFile } from '../../src/slack/file-downloads.ts';
import { ScriptedSlack } from '../support/scripted-slack.ts';
import { type SlackClientScene, sharedTable, startSlackClientScene } from '../support/slack-client-scene.ts';

const CONTENT = Buffer.from('gene,fold\n'.repeat(2_000));
const PAGE = '<!DOCTYPE html><html><title>Sign in | Slack</title></html>';

let scene: SlackClientScene;
let downloads: FileDownloads;

beforeEach(async () => {
  scene = await startSlackClientScene();
  const { slack, client } = scene;
  downloads = new FileDownloads({
    client,
    maxBytes: 1_000_000,
    slackApiUrl: slack.apiUrl,
    idleMs: 300,
    processingMs: 1_500,
  });
});
afterEach(() => scene.slack.stop());

function file(change: Partial<SlackFile> = {}): SlackFile {
  return { ...sharedTable(scene.slack, CONTENT.length), ...change };
}

function serve(headers: Record<string, string>, body: string | Buffer = CONTENT, status = 200): void {
  const length = String(Buffer.byteLength(body));
  scene.slack.on('files/F1', {
    status,
    headers: { 'content-type': 'text/csv', 'content-length': length, ...headers },
    body,
  });
}

/** Writes the answer by hand; chunked where no length is named. */
function stream(write: (response: ServerResponse) => void, headers: Record<string, string> = {}): void {
  scene.slack.on('files/F1', (_call, _request, response) => {
    response.writeHead(200, { 'content-type': 'text/csv', ...headers });
    write(response);
    return undefined;
  });
}

async function readAll(open: Pick<OpenFile, 'stream'>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of open.stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function reasonOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => new Error('It was not refused.'),
    (caught: unknown) => caught,
  );
  if (error instanceof FileRefusedError) return error.reason;
  throw error;
}

describe('a download', () => {
  test('that comes compressed returns what was shared, also of a file that is compressed itself', async () => {
    serve({ 'content-encoding': 'gzip' }, gzipSync(CONTENT));
    const open = await downloads.open(file());
    expect(open).toMatchObject({ sizeBytes: CONTENT.length });
    expect(await readAll(open)).toEqual(CONTENT);
    const archive = gzipSync(CONTENT);
    serve({ 'content-encoding': 'gzip' }, archive);
    const shared = file({ name: 'data.csv.gz', mimetype: 'application/gzip', size: archive.length });
    expect(await readAll(await downloads.open(shared))).toEqual(archive);
  });

  test.each([301, 302, 303, 307, 308])(
    'that Slack redirects by %i to another of its addresses sends the token and the range there',
    async (status) => {
      serve({ location: 'moved/F1' }, '', status);
      scene.slack.on('files/moved/F1', ({ headers }) => {
        const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
        const range = `bytes ${from}-${CONTENT.length - 1}/${CONTENT.length}`;
        const body = CONTENT.subarray(from);
        return from === 0 ? { body } : { status: 206, headers: { 'content-range': range }, body };
      });
      expect(await readAll(await downloads.open(file()))).toEqual(CONTENT);
      expect(await readAll(await downloads.open(file(), { offset: 500 }))).toEqual(CONTENT.subarray(500));
      const tokens = scene.slack.calls.map(({ headers }) => headers.authorization);
      expect(new Set(tokens)).toEqual(new Set([`Bearer ${scene.client.installation.token}`]));
    },
  );

  test('returns the bytes and the size, and sends the token', async () => {
    serve({});
    const open = await downloads.open(file());
    expect(open).toMatchObject({ sizeBytes: CONTENT.length });
    expect(await readAll(open)).toEqual(CONTENT);
    expect(scene.slack.calls[0]?.headers.authorization).toBe('Bearer xoxb-test-token');
  });

  test('resumes from an offset', async () => {
    scene.slack.on('files/F1', (call) => {
      expect(call.headers.range).toBe('bytes=15000-');
      return {
        status: 206,
        headers: { 'content-range': `bytes 15000-${CONTENT.length - 1}/${CONTENT.length}` },
        body: CONTENT.subarray(15_000),
      };
    });
    const open = await downloads.open(file(), { offset: 15_000 });
    expect(await readAll(open)).toEqual(CONTENT.subarray(15_000));
    expect(open.sizeBytes).toBe(CONTENT.length);
  });

  test('skips to the offset if the server does not support ranges', async () => {
    serve({});
    const open = await downloads.open(file(), { offset: 15_003 });
    expect(await readAll(open)).toEqual(CONTENT.subarray(15_003));
  });

  test('accepts an HTML file that is meant to be one', async () => {
    serve({ 'content-type': 'text/html' }, PAGE);
    const open = await downloads.open(file({ mimetype: 'text/html', filetype: 'html', size: PAGE.length }));
    expect((await readAll(open)).toString()).toBe(PAGE);
  });

  test('accepts a text file that starts like a web page', async () => {
    serve({ 'content-type': 'text/plain' }, PAGE);
    const open = await downloads.open(file({ mimetype: 'text/plain', size: PAGE.length }));
    expect((await readAll(open)).toString()).toBe(PAGE);
  });

  const table = Buffer.from('<html><body><table><tr><td>well</td></tr></table></body></html>');
  const xls = () => file({ name: 'plate.xls', mimetype: 'application/vnd.ms-excel', size: table.length });

  test.each(['application/vnd.ms-excel', 'text/html'])(
    'accepts a table in HTML that is called .xls, and comes as %s',
    async (type) => {
      serve({ 'content-type': type }, table);
      expect(await readAll(await downloads.open(xls()))).toEqual(table);
      stream((response) => response.end(table), { 'content-type': type });
      expect(await readAll(await downloads.open(xls()))).toEqual(table);
    },
  );

  test('of a canvas or of an unknown mode is what Slack writes, of whatever size', async () => {
    for (const mode of ['quip', 'whiteboard']) {
      serve({ 'content-type': 'text/html' }, table);
      const open = await downloads.open(file({ mode, size: 3 }));
      expect(open).toMatchObject({ sizeBytes: table.length, mime: 'text/html' });
      expect(await readAll(open)).toEqual(table);
    }
  });

  test('frees the connection when its reader leaves', async () => {
    stream((response) => {
      const more = setInterval(() => response.write('x'.repeat(1_000)), 5);
      response.on('close', () => clearInterval(more));
    });
    const open = await downloads.open(file({ size: 500_000 }));
    for await (const _ of open.stream) break;
    await expect.poll(() => scene.slack.calls[0]?.cutOff).toBe(true);
  });

  test('ends with the reason of the caller’s signal', async () => {
    stream((response) => response.write('gene'));
    const stop = new AbortController();
    const open = await downloads.open(file(), { signal: stop.signal });
    const reading = readAll(open);
    stop.abort(new Error('the turn is over'));
    await expect(reading).rejects.toThrow('the turn is over');
  });
});

describe('a file is refused', () => {
  test('with missing_scope when a sign-in page comes instead', async () => {
    serve({ 'content-type': 'text/html; charset=utf-8' }, PAGE);
    expect(await reasonOf(downloads.open(file()))).toBe('missing_scope');
  });

  test('with access_denied when a sign-in page comes although the app has its scopes', async ({
    onTestFinished,
  }) => {
    const { installation } = scene.client;
    onTestFinished(() => void delete installation.missingScopes);
    installation.missingScopes = [];
    serve({ 'content-type': 'text/html; charset=utf-8' }, PAGE);
    expect(await reasonOf(downloads.open(file()))).toBe('access_denied');
    stream((response) => response.end(PAGE), { 'content-type': 'application/octet-stream' });
    const open = await downloads.open(file({ mimetype: 'application/pdf' }));
    expect(await reasonOf(readAll(open))).toBe('access_denied');
    serve({ location: `${scene.slack.origin}/?redir=x` }, '', 302);
    expect(await reasonOf(downloads.open(file()))).toBe('access_denied');
    installation.missingScopes = ['files:read'];
    expect(await reasonOf(downloads.open(file()))).toBe('missing_scope');
  });

  test('with missing_scope when the sign-in page claims another type', async () => {
    stream((response) => response.end(PAGE), { 'content-type': 'application/octet-stream' });
    const open = await downloads.open(file({ mimetype: 'application/pdf' }));
    expect(await reasonOf(readAll(open))).toBe('missing_scope');
  });

  test('with missing_scope when the sign-in page comes without a length in place of a table in HTML', async () => {
    stream((response) => response.end(PAGE), { 'content-type': 'text/html' });
    const open = await downloads.open(file({ name: 'plate.xls', mimetype: 'application/vnd.ms-excel' }));
    expect(await reasonOf(readAll(open))).toBe('missing_scope');
  });

  test.each([
    ['canvas', 'quip'],
    ['list', 'list'],
    ['post', 'space'],
    ['not_a_file', 'whiteboard'],
  ])('as %s when Slack does not deliver what has the mode %s', async (reason, mode) => {
    serve({ 'content-type': 'text/html' }, '', 404);
    expect(await reasonOf(downloads.open(file({ mode })))).toBe(reason);
    serve({ 'x-slack-meta': '?;acl_fail' });
    expect(await reasonOf(downloads.open(file({ mode })))).toBe(reason);
    serve({ 'content-type': 'text/html' }, PAGE);
    expect(await reasonOf(readAll(await downloads.open(file({ mode }))))).toBe(reason);
  });

  test('with missing_scope when the sign-in page replaces an HTML file', async () => {
    serve({ 'content-type': 'text/html' }, PAGE);
    expect(await reasonOf(downloads.open(file({ mimetype: 'text/html' })))).toBe('missing_scope');
  });

  test('with missing_scope when Slack redirects to its sign-in page or another host, without following', async () => {
    const other = await new ScriptedSlack().start();
    const { slack } = scene;
    for (const location of [`${other.origin}/login`, `${slack.origin}/?redir=%2Ffiles-pri`, '/?redir=x']) {
      serve({ location }, '', 302);
      expect(await reasonOf(downloads.open(file()))).toBe('missing_scope');
    }
    expect(other.calls).toHaveLength(0);
    expect(new Set(slack.calls.map(({ method }) => method))).toEqual(new Set(['files/F1']));
    await other.stop();
  });

  test('with missing_scope when Slack redirects in a circle', async () => {
    serve({ location: '/files/F1' }, '', 302);
    expect(await reasonOf(downloads.open(file()))).toBe('missing_scope');
    expect(scene.slack.calls).toHaveLength(4);
  });

  test('with missing_scope when Slack’s header says so', async () => {
    serve({ 'x-slack-meta': '?;acl_fail' });
    expect(await reasonOf(downloads.open(file()))).toBe('missing_scope');
  });

  test('without a request when its address is not Slack’s', async () => {
    const other = await new ScriptedSlack().start();
    expect(await reasonOf(downloads.open(file({ url_private: `${other.origin}/files/F1` })))).toBe(
      'other_host',
    );
    expect(other.calls).toHaveLength(0);
    await other.stop();
  });

  test.each([
    [403, 'access_denied'],
    [404, 'deleted'],
    [416, 'changed'],
  ])('HTTP %i means %s', async (status, reason) => {
    serve({}, '', status);
    expect(await reasonOf(downloads.open(file()))).toBe(reason);
  });

  test('when its length is not the announced one', async () => {
    serve({});
    expect(await reasonOf(downloads.open(file({ size: 17 })))).toBe('changed');
  });

  test('when more bytes arrive than announced', async () => {
    stream((response) => {
      response.write(CONTENT.subarray(0, 5_000));
      setTimeout(() => response.end(CONTENT.subarray(5_000)), 50);
    });
    const open = await downloads.open(file({ size: 9_999 }));
    expect(await reasonOf(readAll(open))).toBe('changed');
  });

  test('when fewer bytes arrive than announced', async () => {
    stream((response) => response.end(CONTENT));
    const open = await downloads.open(file({ size: CONTENT.length + 1 }));
    expect(await reasonOf(readAll(open))).toBe('broken_off');
  });

  test('when the connection is cut', async () => {
    stream(
      (response) => {
        response.write(CONTENT.subarray(0, 5_000));
        setTimeout(() => response.destroy(), 50);
      },
      { 'content-length': String(CONTENT.length) },
    );
    const open = await downloads.open(file());
    expect(await reasonOf(readAll(open))).toBe('broken_off');
  });

  test('when its compressed bytes are spoiled, and all have arrived', async () => {
    const spoiled = gzipSync(CONTENT);
    spoiled.writeUInt8(spoiled.readUInt8(spoiled.length - 6) ^ 1, spoiled.length - 6);
    stream((response) => response.end(spoiled), { 'content-encoding': 'gzip' });
    const open = await downloads.open(file());
    expect(await reasonOf(readAll(open))).toBe('broken_off');
  });

  test('when nothing arrives for too long', async () => {
    stream((response) => response.write(CONTENT.subarray(0, 5_000)));
    const open = await downloads.open(file());
    expect(await reasonOf(readAll(open))).toBe('broken_off');
  });

  test('when it exceeds the limit without an announced size', async () => {
    stream((response) => response.end(Buffer.alloc(1_000_001, 'x')));
    const open = await downloads.open(file({ size: undefined }));
    expect(await reasonOf(readAll(open))).toBe('too_large');
  });

  test('when a range starts elsewhere or the file has another size', async () => {
    serve({ 'content-range': `bytes 0-9/${CONTENT.length}` }, CONTENT, 206);
    expect(await reasonOf(downloads.open(file(), { offset: 10 }))).toBe('changed');
    serve({ 'content-range': 'bytes 10-19/20' }, CONTENT.subarray(10, 20), 206);
    expect(await reasonOf(downloads.open(file(), { offset: 10 }))).toBe('changed');
  });

  test('when files.info does not know the stub', async () => {
    const stub = { id: 'F1', file_access: 'check_file_info' };
    const decisionFor = async (body: object) => {
      scene.slack.on('files.info', { body });
      return (await downloads.resolve(stub)).decision;
    };
    expect(await decisionFor({ ok: false, error: 'file_deleted' })).toEqual({
      do: 'refuse',
      reason: 'deleted',
    });
    expect(await decisionFor({ ok: false, error: 'file_not_found' })).toMatchObject({ reason: 'deleted' });
    const denied = { do: 'refuse', reason: 'access_denied' };
    for (const error of ['not_visible', 'slack_connect_canvas_sharing_blocked'])
      expect(await decisionFor({ ok: false, error })).toEqual(denied);
    expect(await decisionFor({ ok: true, file: stub })).toEqual(denied);
    expect(await reasonOf(downloads.open(stub))).toBe('access_denied');
  });
});

describe('a failure of Slack', () => {
  test('429 is a rate limit and 503 is unavailable: both can be retried', async () => {
    serve({ 'retry-after': '4' }, '', 429);
    await expect(downloads.open(file())).rejects.toMatchObject({ code: 'throttled', retryAfterMs: 4_000 });
    serve({}, '', 503);
    await expect(downloads.open(file())).rejects.toMatchObject({ code: 'unavailable', outcome: 'none' });
  });
});

describe('a download that breaks off', () => {
  /** Serves the content in stretches of so many bytes, each cut off; `answer` changes what a range is told. */
  function serveCutting(stretch: number, answer: (from: number) => { status: number; etag?: string }): void {
    scene.slack.on('files/F1', (call, _request, response) => {
      const from = Number(/^bytes=(\d+)-/.exec(String(call.headers.range ?? ''))?.[1] ?? 0);
      const { status, etag = '"one"' } = answer(from);
      const start = status === 206 ? from : 0;
      response.writeHead(status, {
        'content-type': 'text/csv',
        'content-length': String(CONTENT.length - start),
        ...(etag !== '' && { etag }),
        ...(status === 206 && { 'content-range': `bytes ${start}-${CONTENT.length - 1}/${CONTENT.length}` }),
      });
      response.write(CONTENT.subarray(start, from + stretch), () => {
        if (from + stretch >= CONTENT.length) response.end();
        else setTimeout(() => response.destroy(), 20);
      });
      return undefined;
    });
  }

  test('resumes with a range from the byte where it broke off', async () => {
    serveCutting(7_001, (from) => ({ status: from === 0 ? 200 : 206 }));
    expect(await readAll({ stream: downloads.read(file()) })).toEqual(CONTENT);
    const ranges = scene.slack.calls.map((call) => call.headers.range);
    expect(ranges).toEqual([undefined, 'bytes=7001-', 'bytes=14002-']);
  });

  test('resumes where an answer lacks the ETag, which says nothing then', async () => {
    serveCutting(7_001, (from) =>
      from === 7_001 ? { status: 206, etag: '' } : { status: from === 0 ? 200 : 206 },
    );
    expect(await readAll({ stream: downloads.read(file()) })).toEqual(CONTENT);
  });

  test('restarts and skips bytes if Slack does not support ranges', async () => {
    serveCutting(12_000, () => ({ status: 200 }));
    expect(await readAll({ stream: downloads.read(file()) })).toEqual(CONTENT);
  });

  test('fails when the server has another version of the file, and leaves no connection open', async () => {
    const left = Promise.withResolvers<void>();
    scene.slack.on('files/F1', (call, _request, response) => {
      const isFirst = call.headers.range === undefined;
      response.writeHead(isFirst ? 200 : 206, {
        'content-type': 'text/csv',
        etag: isFirst ? '"one"' : '"two"',
        ...(isFirst ? {} : { 'content-range': `bytes 7000-${CONTENT.length - 1}/${CONTENT.length}` }),
      });
      if (isFirst) response.write(CONTENT.subarray(0, 7_000), () => setTimeout(() => response.destroy(), 20));
      else response.once('close', () => left.resolve()).write(Buffer.alloc(64 * 1_024 * 1_024));
      return undefined;
    });
    expect(await reasonOf(readAll({ stream: downloads.read(file()) }))).toBe('changed');
    await left.promise;
  });

  test('fails when Slack does not deliver the rest', async () => {
    let calls = 0;
    scene.slack.on('files/F1', (_call, _request, response) => {
      calls += 1;
      if (calls > 1) return { status: 410 };
      response.writeHead(200, { 'content-type': 'text/csv', 'content-length': String(CONTENT.length) });
      response.write(CONTENT.subarray(0, 100), () => setTimeout(() => response.destroy(), 20));
      return undefined;
    });
    expect(await reasonOf(readAll({ stream: downloads.read(file()) }))).toBe('deleted');
  });
});

describe('resolving a shared file', () => {
  test('waits until Slack has an address, a size and a type', async () => {
    const { url_private: url, ...unfinished } = file();
    const answers = [
      { ...unfinished, size: null },
      { ...unfinished, url_private: url, mimetype: '' },
      file(),
    ];
    scene.slack.on('files.info', () => ({ body: { ok: true, file: answers.shift() ?? file() } }));
    let waits = 0;
    const slow = new FileDownloads({
      client: scene.client,
      maxBytes: 1_000_000,
      slackApiUrl: scene.slack.apiUrl,
    });
    const looked = await slow.resolve({ id: 'F1', mode: 'hosted' }, { onWait: () => (waits += 1) });
    expect(looked.decision).toMatchObject({ do: 'download', sizeBytes: CONTENT.length });
    expect(waits).toBe(3);
  });

  test('gives up after its time limit', async () => {
    scene.slack.on('files.info', { body: { ok: true, file: { id: 'F1', mode: 'hosted' } } });
    const { decision: verdict } = await downloads.resolve({ id: 'F1', mode: 'hosted' });
    expect(verdict).toEqual({ do: 'refuse', reason: 'processing' });
  });

  test('learns the name of a stub', async () => {
    scene.slack.on('files.info', { body: { ok: true, file: file() } });
    const looked = await downloads.resolve({ id: 'F1', mode: 'file_access', file_access: 'check_file_info' });
    expect(looked).toMatchObject({ file: { name: 'data.csv' }, decision: { do: 'download' } });
    expect(scene.slack.callsOf('files.info')[0]?.args.file).toBe('F1');
  });
});
