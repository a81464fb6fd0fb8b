import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import type { AgentClient } from '../../src/agent/agent-client.ts';
import type { ResumableUpload, UploadedPart } from '../../src/agent/request-bodies.ts';
import { DEFAULT_SERVICE_OPTIONS } from '../../src/agent/service-options.ts';
import { uploadFile } from '../../src/agent/upload-file.ts';
import { UploadMemory } from '../../src/agent/upload-parts.ts';
import { apiKey, clientOf, type LocalServer, localServer } from '../support/local-server.ts';
import { waitFor } from '../support/wait-for.ts';

const smallParts = { ...DEFAULT_SERVICE_OPTIONS, leastPartBytes: 1 };

/** What a made-up service and its storage do. */
interface Storage {
  /** Bytes of a part; a single upload where left out. */
  readonly partBytes?: number;
  /** Status of the PUT of this part (0 for a single upload) at this try, or a wait. */
  readonly put?: (part: number, attempt: number) => number | Promise<number>;
  /** S3's code in the body of an error. */
  readonly code?: string;
  /** In place of one for each part and attempt. */
  readonly etag?: string;
  readonly finalize?: (attempt: number) => number;
  /** Where it holds a single part, they are sent one after the other. */
  readonly uploadMemory?: UploadMemory;
}

interface Stored {
  readonly server: LocalServer;
  readonly client: AgentClient;
  /** Bytes by part. */
  readonly parts: Map<number, Buffer>;
  readonly finalized: unknown[];
  /** Part numbers of each request for links. */
  readonly asked: number[][];
  /** Most PUTs that were open at once. */
  most: number;
  /** How many uploads were started. */
  started: number;
  [Symbol.asyncDispose](): Promise<void>;
}

async function storage({
  partBytes,
  put = () => 200,
  code = 'No',
  etag,
  finalize = () => 200,
  uploadMemory,
}: Storage): Promise<Stored> {
  const attempts = new Map<number, number>();
  let open = 0;
  let finals = 0;
  const file = { id: 'f', created_at: 'c', filename: 'n', size_bytes: 0, project_id: 'p' };
  const server = await localServer(async (request, response) => {
    const chunks: Buffer[] = [];
    const part = /^\/part\/(\d+)/.exec(request.url ?? '')?.[1];
    if (part !== undefined) stored.most = Math.max(stored.most, ++open);
    request.on('error', () => {});
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return;
    } finally {
      if (part !== undefined) await sleep(5).then(() => --open);
    }
    const body = Buffer.concat(chunks);
    if (part !== undefined) {
      const number = Number(part);
      const attempt = (attempts.get(number) ?? 0) + 1;
      attempts.set(number, attempt);
      const status = await put(number, attempt);
      if (status === 200) stored.parts.set(number, body);
      const location = status >= 300 && status < 400 ? { location: `/part/${number}?moved=1` } : {};
      response.writeHead(status, { etag: etag ?? `"e${number}-${attempt}"`, ...location });
      response.end(`<Error><Code>${code}</Code></Error>`);
    } else if (request.url?.endsWith('/finalize') === true) {
      stored.finalized.push(JSON.parse(body.toString()));
      response.writeHead(finalize(++finals)).end(JSON.stringify(file));
    } else if (request.url?.endsWith('/parts') === true) {
      const { part_numbers: numbers } = JSON.parse(body.toString());
      stored.asked.push(numbers);
      const urls = numbers.map((number: number) => [number, `${server.origin}/part/${number}?signed=1`]);
      response.end(JSON.stringify({ part_urls: Object.fromEntries(urls) }));
    } else if (request.method === 'POST') {
      stored.started += 1;
      const multipart = { upload_type: 'multipart', upload_id: 'u', part_size: partBytes };
      const single = { upload_url: `${server.origin}/part/0?signed=1`, headers: { 'X-Kind': 'a/b' } };
      response.end(JSON.stringify({ id: 'f', ...(partBytes === undefined ? single : multipart) }));
    } else {
      response.end(JSON.stringify(file));
    }
  });
  const options = { timeouts: { idleMs: 20_000 }, serviceOptions: smallParts };
  const client = clientOf(server.origin, { ...options, ...(uploadMemory && { uploadMemory }) });
  const stored: Stored = {
    server,
    client,
    parts: new Map(),
    finalized: [],
    asked: [],
    most: 0,
    started: 0,
    [Symbol.asyncDispose]: async () => {
      await client.close();
      await server[Symbol.asyncDispose]();
    },
  };
  return stored;
}

const bytes = Buffer.from(Array.from({ length: 100 }, (_, index) => index));

async function* chunked(from: Buffer, size = 7): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < from.length; at += size) yield from.subarray(at, at + size);
}

const described = { projectId: 'p', filename: 'n', sizeBytes: bytes.length, mimeType: 'text/plain' };
const again = { ...described, open: async (offset: number) => chunked(bytes.subarray(offset)) };

/** Keeps what an upload tells, as a store would. */
function recorder(before?: ResumableUpload) {
  let kept = before;
  const record = (): ResumableUpload => {
    if (kept === undefined) throw new Error('Nothing was told.');
    return kept;
  };
  const hooks = {
    onStart: (begun: ResumableUpload) => {
      kept = { ...begun, finalizing: false };
    },
    onPart: (part: UploadedPart) => {
      kept = { ...record(), parts: [...record().parts, part] };
    },
    onFinalize: () => {
      kept = { ...record(), finalizing: true };
    },
  };
  return { record, hooks };
}

function whole({ parts }: Stored): Buffer {
  return Buffer.concat([...parts].toSorted(([one], [other]) => one - other).map(([, part]) => part));
}

describe('an upload in one piece', () => {
  test('streams the bytes with their length and type, and without the key', async () => {
    await using stored = await storage({});
    const progress: number[] = [];
    await uploadFile(stored.client, { ...again, onProgress: (done) => progress.push(done) });
    expect(whole(stored).equals(bytes)).toBe(true);
    const sent = stored.server.requests.find(({ method }) => method === 'PUT');
    expect(sent?.headers).toMatchObject({
      'content-length': '100',
      'content-type': 'text/plain',
      'x-kind': 'a/b',
    });
    expect(JSON.stringify(sent?.rawHeaders)).not.toContain(apiKey);
    expect(sent?.headers.authorization).toBeUndefined();
    expect(progress.at(-1)).toBe(100);
    expect(stored.finalized).toEqual([{}]);
  });

  test('is retried if the source can be opened again', async () => {
    await using stored = await storage({ put: (_, attempt) => (attempt < 3 ? 500 : 200) });
    await uploadFile(stored.client, again);
    expect(whole(stored).equals(bytes)).toBe(true);
  });

  test.each([
    [400, 'RequestTimeout'],
    [409, 'OperationAborted'],
    [503, 'SlowDown'],
    [408, 'No'],
  ])('is retried over the same link after what passes, such as a %d %s', async (status, code) => {
    await using stored = await storage({ code, put: (_, attempt) => (attempt < 3 ? status : 200) });
    await uploadFile(stored.client, again);
    expect(whole(stored).equals(bytes)).toBe(true);
    expect(stored.started).toBe(1);
  });

  test.each([400, 401, 403, 404, 409])('is started once more after a %d', async (status) => {
    await using stored = await storage({ put: (_, attempt) => (attempt === 1 ? status : 200) });
    const begun: string[] = [];
    await uploadFile(stored.client, { ...again, onStart: ({ fileId }) => void begun.push(fileId) });
    expect(whole(stored).equals(bytes)).toBe(true);
    expect(begun).toHaveLength(2);
    await using refusing = await storage({ put: () => status });
    await expect(uploadFile(refusing.client, again)).rejects.toMatchObject({ code: 'rejected', status });
    expect(refusing.started).toBe(2);
  });

  test('is not started again if it is too large', async () => {
    await using stored = await storage({ put: () => 413 });
    await expect(uploadFile(stored.client, again)).rejects.toMatchObject({ status: 413 });
    expect(stored.started).toBe(1);
  });

  test.each([301, 307, 308])('follows a %d to where the storage keeps it', async (status) => {
    await using stored = await storage({ put: (_, attempt) => (attempt === 1 ? status : 200) });
    await uploadFile(stored.client, again);
    expect(whole(stored).equals(bytes)).toBe(true);
    expect(stored.started).toBe(1);
  });

  test('does not open the source if the storage cannot be reached', async () => {
    const closed = await localServer(() => undefined);
    await closed[Symbol.asyncDispose]();
    const started = { id: 'f', upload_url: `${closed.origin}/part/0` };
    await using server = await localServer((_, response) => response.end(JSON.stringify(started)));
    const client = clientOf(server.origin);
    let opened = 0;
    const open = async () => {
      opened += 1;
      return chunked(bytes);
    };
    const failing = uploadFile(client, { ...described, open });
    await expect(failing).rejects.toMatchObject({ code: 'unavailable', attempts: 3 });
    await client.close();
    expect(opened).toBe(0);
  });

  test('fails with the error of a source that cannot be opened', async () => {
    await using stored = await storage({});
    const open = () => Promise.reject(new RangeError('no source'));
    await expect(uploadFile(stored.client, { ...described, open })).rejects.toThrow(RangeError);
    expect(stored.finalized).toEqual([]);
  });

  test('accepts an empty file', async () => {
    await using stored = await storage({});
    await uploadFile(stored.client, {
      ...described,
      sizeBytes: 0,
      open: async () => chunked(Buffer.alloc(0)),
    });
    expect(whole(stored)).toHaveLength(0);
    expect(stored.finalized).toHaveLength(1);
  });
});

describe('an upload in parts', () => {
  test('sends every part once, a few at a time, and finalizes them in order with their ETags', async () => {
    await using stored = await storage({ partBytes: 9 });
    const progress: number[] = [];
    const request = { ...again, onProgress: (done: number) => progress.push(done) };
    await uploadFile(stored.client, request);
    expect(whole(stored).equals(bytes)).toBe(true);
    const parts = Array.from({ length: 12 }, (_, index) => ({
      part_number: index + 1,
      etag: `"e${index + 1}-1"`,
    }));
    expect(stored.finalized).toEqual([{ upload_id: 'u', parts }]);
    expect(stored.most).toBeGreaterThan(1);
    expect(stored.most).toBeLessThanOrEqual(4);
    expect(stored.asked.flat()).toEqual(parts.map(({ part_number }) => part_number));
    expect(stored.asked.length).toBeGreaterThan(1);
    expect(progress.toSorted((one, other) => one - other)).toEqual(progress);
    expect(progress.at(-1)).toBe(100);
    const puts = stored.server.requests.filter(({ method }) => method === 'PUT');
    expect(puts.every(({ headers }) => headers.authorization === undefined)).toBe(true);
  });

  test('retries only the part that failed', async () => {
    await using stored = await storage({
      partBytes: 30,
      put: (part, n) => (part === 2 && n < 3 ? 503 : 200),
    });
    await uploadFile(stored.client, again);
    expect(whole(stored).equals(bytes)).toBe(true);
    expect(stored.server.requests.filter(({ method }) => method === 'PUT')).toHaveLength(6);
  });

  test.each([400, 401, 403, 404, 409, 410])(
    'requests the link of a part once more after a %d',
    async (status) => {
      await using stored = await storage({
        partBytes: 30,
        put: (part, n) => (part === 2 && n < 2 ? status : 200),
      });
      await uploadFile(stored.client, again);
      expect(whole(stored).equals(bytes)).toBe(true);
      expect(stored.asked).toEqual([[1, 2, 3, 4], [2]]);
    },
  );

  test('fails if the link of a part is refused twice', async () => {
    await using stored = await storage({ partBytes: 30, put: (part) => (part === 2 ? 403 : 200) });
    const failing = uploadFile(stored.client, again);
    await expect(failing).rejects.toMatchObject({ code: 'rejected', status: 403, reason: 'No' });
    expect(stored.asked).toEqual([[1, 2, 3, 4], [2], [1, 2, 3, 4], [2]]);
    expect(stored.finalized).toEqual([]);
  });

  test('is not finalized where the storage names no ETag', async () => {
    await using stored = await storage({ partBytes: 30, etag: '' });
    await expect(uploadFile(stored.client, again)).rejects.toThrow(/no usable ETag for part \d/);
    expect(stored.finalized).toEqual([]);
  });

  test('ends at once when a part fails while the source hangs', async () => {
    await using stored = await storage({ partBytes: 10, put: () => 403 });
    async function* hanging(): AsyncGenerator<Uint8Array> {
      yield bytes.subarray(0, 15);
      await new Promise(() => {});
    }
    const failing = uploadFile(stored.client, { ...described, open: async () => hanging() });
    await expect(failing).rejects.toMatchObject({ status: 403 });
  });

  test('reports enough to resume, and resumes without the finished parts', async () => {
    const uploadMemory = new UploadMemory(1);
    const broken = await storage({ partBytes: 30, put: (part) => (part === 3 ? 400 : 200), uploadMemory });
    const { record, hooks } = recorder();
    const failing = uploadFile(broken.client, { ...again, ...hooks });
    await expect(failing).rejects.toMatchObject({ status: 400 });
    await broken[Symbol.asyncDispose]();
    const resume = record();
    expect(resume).toMatchObject({ fileId: 'f', uploadId: 'u', partBytes: 30, finalizing: false });
    expect(resume.parts).toHaveLength(2);

    await using stored = await storage({ partBytes: 30 });
    await uploadFile(stored.client, { ...again, resume });
    expect(new Set(stored.parts.keys())).toEqual(new Set([3, 4]));
    expect(whole(stored).equals(bytes.subarray(60))).toBe(true);
    expect(stored.finalized).toMatchObject([{ parts: [1, 2, 3, 4].map((part_number) => ({ part_number })) }]);
    expect(stored.server.requests.some(({ url }) => url?.endsWith('/files') === true)).toBe(false);
  });

  test('restarts if the service no longer knows it', async () => {
    await using stored = await storage({ partBytes: 30, finalize: (attempt) => (attempt === 1 ? 404 : 200) });
    const parts = [{ number: 1, etag: 'old' }];
    const resume = { fileId: 'f', uploadId: 'old', partBytes: 30, parts };
    const { record, hooks } = recorder(resume);
    await uploadFile(stored.client, { ...again, ...hooks, resume });
    expect(whole(stored).equals(bytes)).toBe(true);
    expect(stored.finalized).toMatchObject([{ upload_id: 'old' }, { upload_id: 'u' }]);
    expect(record()).toMatchObject({ uploadId: 'u', finalizing: true });
    expect(record().parts).toHaveLength(4);
  });

  test('is not sent again if it may have been finalized before the crash', async () => {
    await using stored = await storage({ partBytes: 100, finalize: () => 409 });
    const parts = [{ number: 1, etag: 'kept' }];
    const resume = { fileId: 'f', uploadId: 'u', partBytes: 100, parts, finalizing: true };
    expect(await uploadFile(stored.client, { ...again, resume })).toMatchObject({ id: 'f' });
    expect(stored.parts.size).toBe(0);
  });

  test('shares its memory with all other uploads', async () => {
    const memory = new UploadMemory(100);
    await using stored = await storage({ partBytes: 50, put: () => sleep(5).then(() => 200) });
    const client = clientOf(stored.server.origin, { uploadMemory: memory, serviceOptions: smallParts });
    const sent = [1, 2, 3].map(() => uploadFile(client, again));
    await Promise.all(sent);
    await client.close();
    expect(stored.most).toBeLessThanOrEqual(2);
    expect(stored.finalized).toHaveLength(3);
  });

  test('leaves memory to other accounts if its own storage is slow', async () => {
    const memory = new UploadMemory(150);
    const hold = Promise.withResolvers<number>();
    let puts = 0;
    const put = () => {
      puts += 1;
      return hold.promise;
    };
    await using slow = await storage({ partBytes: 50, put });
    await using quick = await storage({ partBytes: 50 });
    const share = (at: typeof slow) =>
      clientOf(at.server.origin, { uploadMemory: memory.share(100), serviceOptions: smallParts });
    const [theirs, ours] = [share(slow), share(quick)];
    const held = [1, 2, 3].map(() => uploadFile(theirs, again));
    await waitFor(() => expect(puts).toBe(2));
    await uploadFile(ours, again);
    expect(quick.finalized).toHaveLength(1);
    expect(puts).toBe(2);
    hold.resolve(200);
    await Promise.all(held);
    await Promise.all([theirs.close(), ours.close()]);
    expect(slow.finalized).toHaveLength(3);
  });

  test('is refused unread if its parts do not fit in memory', async () => {
    await using stored = await storage({ partBytes: 60 });
    const client = clientOf(stored.server.origin, {
      uploadMemory: new UploadMemory(150).share(50),
    });
    await expect(uploadFile(client, again)).rejects.toMatchObject({ code: 'rejected', outcome: 'not_sent' });
    await client.close();
    expect(stored.parts.size).toBe(0);
  });

  test('skips a finished part in the middle', async () => {
    await using stored = await storage({});
    const parts = [{ number: 2, etag: 'kept' }];
    const resume = { fileId: 'f', uploadId: 'u', partBytes: 30, parts };
    await uploadFile(stored.client, { ...again, resume });
    expect(new Set(stored.parts.keys())).toEqual(new Set([1, 3, 4]));
    expect(stored.finalized[0]).toMatchObject({ parts: [{}, { part_number: 2, etag: 'kept' }, {}, {}] });
  });
});

describe.each([
  ['one piece', undefined],
  ['parts', 30],
])('an upload in %s', (_, partBytes) => {
  const setting = partBytes === undefined ? {} : { partBytes };

  test.each([
    [99, 'has more'],
    [101, 'ended after 100 bytes'],
  ])('of a file that does not have %d bytes finalizes nothing', async (sizeBytes, words) => {
    await using stored = await storage(setting);
    const failing = uploadFile(stored.client, { ...again, sizeBytes });
    await expect(failing).rejects.toMatchObject({
      code: 'wrong_size',
      message: expect.stringContaining(words),
    });
    expect(stored.finalized).toEqual([]);
  });

  test("fails with the source's own error", async () => {
    await using stored = await storage(setting);
    const own = new Error('the source broke');
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield bytes.subarray(0, 50);
      throw own;
    }
    await expect(uploadFile(stored.client, { ...described, open: async () => failing() })).rejects.toBe(own);
    const unopened = { ...described, open: () => Promise.reject(own) };
    await expect(uploadFile(stored.client, unopened)).rejects.toBe(own);
    expect(stored.finalized).toEqual([]);
  });

  test('can be aborted, also while the storage or the source hangs', async () => {
    const stop = new AbortController();
    await using stored = await storage({
      ...setting,
      put: async () => {
        stop.abort();
        return await new Promise<never>(() => {});
      },
    });
    const stopped = { code: 'aborted' };
    await expect(uploadFile(stored.client, { ...again, signal: stop.signal })).rejects.toMatchObject(stopped);

    const later = new AbortController();
    let closed = false;
    const source = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<never>(() => setTimeout(() => later.abort(), 5)),
        return: async () => {
          closed = true;
          return { done: true as const, value: undefined };
        },
      }),
    };
    const hanging = uploadFile(stored.client, {
      ...described,
      open: async () => source,
      signal: later.signal,
    });
    await expect(hanging).rejects.toMatchObject(stopped);
    expect(closed).toBe(true);
    expect(stored.finalized).toEqual([]);
  });

  test('lets Get a file decide when a repeated finalize is refused', async () => {
    await using stored = await storage({ ...setting, finalize: (attempt) => (attempt === 1 ? 503 : 409) });
    expect(await uploadFile(stored.client, again)).toMatchObject({ id: 'f' });
    expect(stored.finalized).toHaveLength(2);
  });
});

describe('a signed link', () => {
  test.each([
    'http://10.0.0.1/x',
    'https://10.0.0.1/x',
    'https://[::1]/x',
    'https://169.254.169.254/latest',
    'http://example.org/x',
    'file:///etc/passwd',
    'nonsense',
  ])('to %s is not used', async (link) => {
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => void lines.push(line) });
    const client = clientOf('https://service.example', { log });
    const failing = client.links.get(link);
    await expect(failing).rejects.toMatchObject({ code: 'not_understood', outcome: 'not_sent' });
    await client.close();
    // Who operates the app allows the host.
    expect(lines).toEqual([expect.stringMatching(/is not allowed; see PRIVATE_HOSTS/)]);
    expect(lines.join('')).toContain(URL.parse(link)?.host ?? 'host');
  });

  test('may not redirect to a private host, and reaches allowed hosts without the key', async () => {
    await using target = await localServer((_, response) => response.end('bytes'));
    const local = target.origin.replace('127.0.0.1', 'localhost');
    const places = [local, 'http://10.0.0.1/x'];
    await using server = await localServer((_, response) => {
      response.writeHead(302, { location: places.shift() ?? '' }).end();
    });
    const client = clientOf(server.origin, { allowedHosts: ['127.0.0.1', 'LOCALHOST'] });
    const { body } = await client.openFileContent('f');
    expect(String(await body.toArray())).toBe('bytes');
    expect(target.requests[0]?.headers.authorization).toBeUndefined();
    await expect(client.openFileContent('f')).rejects.toMatchObject({
      code: 'not_understood',
      outcome: 'not_sent',
    });
    await client.close();
  });

  test('fails if it redirects in a circle', async () => {
    await using server = await localServer((request, response) => {
      response.writeHead(302, { location: request.url ?? '' }).end();
    });
    const client = clientOf(server.origin);
    await expect(client.links.get(`${server.origin}/a`)).rejects.toMatchObject({
      code: 'not_understood',
    });
    await client.close();
  });

  test('does not appear in the error if it is refused', async () => {
    await using server = await localServer((_, response) => {
      response.writeHead(403).end('<Error><Code>Expired</Code></Error>');
    });
    const client = clientOf(server.origin, { serviceOptions: DEFAULT_SERVICE_OPTIONS });
    const failing = client.links.get(`${server.origin}/a?signature=sesame`);
    await expect(failing).rejects.toMatchObject({ code: 'rejected', reason: 'Expired' });
    await expect(failing).rejects.not.toMatchObject({ message: expect.stringContaining('sesame') });
    await client.close();
  });
});
