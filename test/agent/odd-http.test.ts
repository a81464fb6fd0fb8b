import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listenLocally } from '../../sandbox/local-server.ts';
import { AgentRejectedError } from '../../src/agent/errors.ts';
import { OPERATOR_RESPONSE_LIMITS } from '../../src/agent/response-limits.ts';
import { useProxy } from '../../src/calls/outbound-proxy.ts';
import { clientOf, localServer } from '../support/local-server.ts';

const task = { id: 't1', status: 'idle', title: 'T' };
const json = JSON.stringify(task);
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

function ok(body: string, headers = ''): string {
  return `HTTP/1.1 200 OK\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** A server that writes bytes as they are, for what no library sends. */
async function rawServer(answer: (socket: Socket) => unknown) {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (data) => {
      // The body of a small request comes with its head, or after it.
      if (!/^(GET|POST|PUT) /.test(String(data))) return;
      requests.push(String(data).split('\r\n')[0] ?? '');
      answer(socket);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const origin = `http://127.0.0.1:${address.port}`;
  return {
    origin,
    client: clientOf(origin, { timeouts: { requestMs: 20_000 } }),
    requests,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Byte by byte, each in a packet of its own. */
async function dribble(socket: Socket, text: string): Promise<void> {
  socket.setNoDelay();
  for (const byte of text) {
    socket.write(byte);
    await sleep(1);
  }
}

describe('an unasked 100 Continue', () => {
  test.each([
    ['before the response', (socket: Socket) => socket.write(CONTINUE + ok(json))],
    [
      'in a packet of its own',
      (socket: Socket) => {
        socket.write(CONTINUE);
        setTimeout(() => socket.write(ok(json)), 50);
      },
    ],
    [
      'twice, with headers, among others',
      (socket: Socket) => {
        const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n';
        socket.write(`HTTP/1.1 100 \r\nx-gate: a\r\n\r\n${hints}${CONTINUE}${ok(json)}`);
      },
    ],
    ['byte by byte', (socket: Socket) => dribble(socket, CONTINUE + CONTINUE + ok(json))],
  ])('%s is accepted, and no call is repeated', async (_, answer) => {
    await using server = await rawServer(answer);
    const { client } = server;
    expect(await client.getTask('t1')).toMatchObject({ id: 't1' });
    expect(await client.startTask({ projectId: 'p', title: 'T' })).toMatchObject({ id: 't1' });
    expect(await client.createProject({ title: 'P' })).toMatchObject({ id: 't1' });
    expect(server.requests).toHaveLength(3);
  });

  test('in what a body says stays there', async () => {
    const title = `${CONTINUE}${CONTINUE}`;
    const body = JSON.stringify({ ...task, title });
    await using server = await rawServer((socket) => socket.write(ok(body)));
    expect(await server.client.getTask('t1')).toMatchObject({ title });
    const file = `${CONTINUE}a,b\n`;
    await using storage = await rawServer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${file.length}\r\n\r\n`);
      setTimeout(() => socket.write(file), 50);
    });
    const { body: read } = await storage.client.openFileContent('f');
    expect(String(Buffer.concat(await read.toArray()))).toBe(file);
  });

  test('without a response after it ends as any call that gets none', async () => {
    await using server = await rawServer((socket) => socket.end('HTTP/1.1 100 Cont'));
    const failing = server.client.startTask({ projectId: 'p', title: 'T' });
    await expect(failing).rejects.toMatchObject({ code: 'unavailable', outcome: 'unknown' });
    expect(server.requests).toHaveLength(1);
  });
});

test.each([
  ['headers of 20 kB', ok(json, `x-trace: ${'a'.repeat(20_000)}\r\n`)],
  ['a byte order mark', ok(`\uFEFF${json}`)],
  ['white space around', ok(` \r\n\t${json}\n\n`)],
  ["Python's numbers", ok(json.replace('}', ',"score":NaN,"range":[-Infinity,Infinity]}'))],
  ['another charset in its type', ok(json, 'content-type: application/json; charset=iso-8859-1\r\n')],
  ['the type of a page', ok(json, 'content-type: text/html\r\n')],
  [
    'status 202 and cookies',
    ok(json, 'set-cookie: lb=1; Path=/\r\nset-cookie: b=2\r\n').replace('200 OK', '202 Accepted'),
  ],
  ['a status without words', ok(json).replace('200 OK', '201')],
  ['a status without words or a space', ok(json).replace('200 OK', '203')],
  ['HTTP/1.0 and no length', (socket: Socket) => socket.end(`HTTP/1.0 200 OK\r\n\r\n${json}`)],
  ['no length', (socket: Socket) => socket.end(`HTTP/1.1 200 OK\r\n\r\n${json}`)],
  ['a coding that is none', ok(json, 'content-encoding: identity, aws-chunked\r\n')],
  ['pages in Link headers', ok(json, 'link: </v1/tasks?page=2>; rel="next"\r\n')],
  [
    'headers in any case, twice and empty',
    ok(json, 'CONTENT-type: text/plain\r\ncontent-TYPE: a/b\r\nx-e:\r\n'),
  ],
  [
    'chunks, extensions and trailers',
    `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n${json.length.toString(16)};a=b\r\n${json}\r\n0\r\nX-Sum: 1\r\n\r\n`,
  ],
])('a response with %s is read', async (_, answer) => {
  await using server = await rawServer((socket) =>
    typeof answer === 'string' ? socket.write(answer) : answer(socket),
  );
  expect(await server.client.getTask('t1')).toMatchObject(task);
  expect(server.requests).toHaveLength(1);
});

test.each(['gzip, gzip', 'GZIP', 'x-gzip', 'identity, gzip'])(
  'a response of coding %s is read',
  async (coding) => {
    await using server = await localServer((_, response) => {
      const isTwice = coding === 'gzip, gzip';
      response.writeHead(200, { 'content-encoding': coding });
      response.end(isTwice ? gzipSync(gzipSync(json)) : gzipSync(json));
    });
    expect(await clientOf(server.origin).getTask('t1')).toMatchObject(task);
  },
);

test.each([
  ['304', (response: ServerResponse) => response.writeHead(304, { etag: '"1"' }).end()],
  ['200 and an error', (response: ServerResponse) => response.end('{"error":{"message":"Try again"}}')],
  ['200 and two values', (response: ServerResponse) => response.end(`${json}\n${json}\n`)],
  ['200 and an envelope', (response: ServerResponse) => response.end(`{"data":${json}}`)],
])('a response of %s tells no task', async (_, answer) => {
  await using server = await localServer((_request, response) => void answer(response));
  await expect(clientOf(server.origin).getTask('t1')).rejects.toMatchObject({ code: 'not_understood' });
});

test('a refusal that comes before all of a large request is told', async () => {
  await using server = await rawServer((socket) => {
    const body = '{"detail":"Too much text"}';
    socket.end(
      `HTTP/1.1 413 Payload Too Large\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
  });
  const failing = server.client.sendMessage('t1', { content: 'a'.repeat(4_000_000) });
  await expect(failing).rejects.toMatchObject({ status: 413, reason: 'Too much text' });
});

test.each([
  ['goes on reading', (socket: Socket, answer: string) => socket.end(answer)],
  ['hangs up', (socket: Socket, answer: string) => socket.write(answer, () => socket.destroy())],
])('a refusal that comes before all of an upload is told, where the storage %s', async (_, refuse) => {
  await using server = await rawServer((socket) => {
    const body = '<Error><Code>EntityTooLarge</Code></Error>';
    const head = `HTTP/1.1 413 Too Large\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n`;
    refuse(socket, head + body);
  });
  const pieces = Array.from({ length: 40 }, () => Buffer.alloc(1_000_000));
  for (let tries = 0; tries < 20; tries += 1) {
    const failing = server.client.links.put({
      name: 'upload link',
      method: 'PUT',
      url: `${server.origin}/file`,
      headers: {},
      body: () => Readable.from(pieces, { objectMode: false }),
      sizeBytes: pieces.reduce((sum, { length }) => sum + length, 0),
      signal: undefined,
    });
    await expect(failing).rejects.toMatchObject({ status: 413, reason: 'EntityTooLarge' });
    expect(server.requests).toHaveLength(tries + 1);
  }
});

test('a response without a body is none where one is expected, and is enough where not', async () => {
  for (const answer of [
    '204 No Content\r\n',
    '205 Reset Content\r\ncontent-length: 0\r\n',
    '200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 0\r\n',
  ]) {
    await using server = await rawServer((socket) => socket.write(`HTTP/1.1 ${answer}\r\n`));
    await server.client.cancelTask('t1');
    await expect(server.client.getTask('t1')).rejects.toMatchObject({ code: 'not_understood' });
  }
});

describe('a response that comes compressed', () => {
  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ])('as %s is read, although it was not asked for, also one of an error', async (coding, compress) => {
    await using server = await localServer((request, response) => {
      const isRead = request.method === 'GET';
      response.writeHead(isRead ? 200 : 422, { 'content-encoding': coding });
      response.end(compress(isRead ? json : JSON.stringify({ detail: 'Not with this title' })));
    });
    const client = clientOf(server.origin);
    expect(await client.getTask('t1')).toMatchObject(task);
    await expect(client.createProject({ title: 'P' })).rejects.toMatchObject({
      reason: 'Not with this title',
    });
    expect(server.requests.map(({ headers }) => headers['accept-encoding'])).toEqual([
      'identity',
      'identity',
    ]);
  });

  test('is read up to the limit of its decompressed bytes', async () => {
    const long = JSON.stringify({ ...task, title: 'a'.repeat(40_000) });
    let isOpen = true;
    await using server = await localServer((request, response) => {
      request.socket.on('close', () => (isOpen = false));
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.write(gzipSync(long));
    });
    const responseLimits = { ...OPERATOR_RESPONSE_LIMITS, maxBytes: 39_000, maxConcurrentBytes: 80_000 };
    const client = clientOf(server.origin, { responseLimits });
    await expect(client.getTask('t1')).rejects.toThrow('too large to read');
    await expect.poll(() => isOpen).toBe(false);
  });

  test('and is broken is asked for again', async () => {
    let tries = 0;
    await using server = await localServer((_, response) => {
      tries += 1;
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.end(tries === 1 ? gzipSync(json).subarray(0, -5) : gzipSync(json));
    });
    expect(await clientOf(server.origin).getTask('t1')).toMatchObject(task);
  });
});

test('what is created by a call whose response cannot be read is told by its error', async () => {
  const bodies = ['<html>Done.</html>', '', '{"id":0.5}', gzipSync(json).subarray(0, -5)];
  for (const [index, body] of bodies.entries()) {
    await using server = await localServer((_, response) => {
      response.writeHead(201, index === 3 ? { 'content-encoding': 'gzip' } : {}).end(body);
    });
    const failing = clientOf(server.origin).createProject({ title: 'P' });
    await expect(failing).rejects.toMatchObject({
      unreadCreation: 'POST /projects',
      code: 'not_understood',
      outcome: 'unknown',
    });
    expect(server.requests).toHaveLength(1);
  }
});

test('nothing is created where a gateway asks for a sign-in instead', async () => {
  const location = 'https://sign-in.example/';
  await using server = await localServer((_, response) => response.writeHead(303, { location }).end());
  const failing = clientOf(server.origin).createProject({ title: 'P' });
  await expect(failing).rejects.toMatchObject({ code: 'not_understood', unreadCreation: undefined });
});

test('what is created may be where a redirect of the service leads', async () => {
  for (const status of [302, 303])
    for (const place of ['/v1/projects/p', 'p', 'http://own/p', 'https://own/p']) {
      await using server = await localServer((_, response) => {
        const location = place.replace('//own/', `//${new URL(server.origin).host}/v1/projects/`);
        response.writeHead(status, { location }).end();
      });
      const client = clientOf(server.origin);
      const unread = { unreadCreation: 'POST /projects', code: 'not_understood', outcome: 'unknown' };
      await expect(client.createProject({ title: 'P' })).rejects.toMatchObject(unread);
      const sending = client.sendMessage('t1', { content: 'x' });
      await expect(sending).rejects.toMatchObject({ code: 'not_understood', outcome: 'unknown' });
      expect(server.requests).toHaveLength(2);
    }
});

test.each([301, 307, 308])('a redirect by %i has no effect, wherever it leads', async (status) => {
  await using server = await localServer((_, response) => {
    response.writeHead(status, { location: '/v1/projects/' }).end();
  });
  const failing = clientOf(server.origin).createProject({ title: 'P' });
  await expect(failing).rejects.toMatchObject({ outcome: 'refused', unreadCreation: undefined });
});

describe('a response of which undici reads not even the head', () => {
  const length = `content-length: ${json.length}\r\n`;
  test.each([
    ['is folded', ok(json, 'x-trace: a\r\n b\r\n')],
    ['names its length twice', ok(json, length)],
    ['names a length and chunks', ok(json, 'transfer-encoding: chunked\r\n')],
    ['ends its lines with LF alone', ok(json).replaceAll('\r\n', '\n')],
    ['is of 70 kB', ok(json, `x-trace: ${'a'.repeat(70_000)}\r\n`)],
  ])('because it %s may have created something', async (_, answer) => {
    await using server = await rawServer((socket) => socket.write(answer));
    const unread = { unreadCreation: 'POST /projects', code: 'not_understood', outcome: 'unknown' };
    await expect(server.client.createProject({ title: 'P' })).rejects.toMatchObject(unread);
    expect(server.requests).toHaveLength(1);
    const failing = server.client.cancelTask('t1');
    await expect(failing).rejects.toMatchObject({ code: 'unavailable', unreadCreation: undefined });
  });

  test('because a proxy opens no tunnel has created nothing', async () => {
    const proxy = createServer((socket) => {
      socket.on('error', () => {}).on('data', () => socket.end('HTTP/1.1 200 OK\n\n'));
    });
    useProxy({ HTTPS_PROXY: `http://127.0.0.1:${await listenLocally(proxy)}`, NO_PROXY: '' });
    onTestFinished(() => useProxy({ NO_PROXY: '' }));
    onTestFinished(() => void proxy.close());
    const failing = clientOf('http://127.0.0.1:9').createProject({ title: 'P' });
    const unsent = { unreadCreation: undefined, code: 'unavailable', outcome: 'not_sent' };
    await expect(failing).rejects.toMatchObject(unsent);
  });

  test.each([
    ['nothing at all', undefined],
    ['frames of HTTP/2', '\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0d'],
    ['the greeting of another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'],
  ])('and %s are two things', async (_, answer) => {
    await using server = await rawServer((socket) =>
      answer === undefined ? socket.destroy() : socket.end(answer),
    );
    const failing = server.client.createProject({ title: 'P' });
    await expect(failing).rejects.toMatchObject({ code: 'unavailable', unreadCreation: undefined });
  });
});

test.each([408, 421, 425])('a status %i is no rejection of what was sent', async (status) => {
  await using server = await localServer((_, response) => response.writeHead(status).end());
  const failing = clientOf(server.origin).createProject({ title: 'P' });
  await expect(failing).rejects.toMatchObject({ code: 'unavailable', status });
});

test.each([408, 421, 425, 500, 520, 522])(
  'what only reads is asked for again after a status %i',
  async (status) => {
    let tries = 0;
    await using server = await localServer((_, response) => {
      tries += 1;
      if (tries === 1) response.writeHead(status).end();
      else response.end(json);
    });
    expect(await clientOf(server.origin).getTask('t1')).toMatchObject(task);
  },
);

test('a redirect is not followed, and its error names only where it leads', async () => {
  await using server = await localServer((_, response) => {
    response.writeHead(302, { location: 'https://sign-in.example:8443/sso?ticket=secret' }).end();
  });
  const failing = clientOf(server.origin).getTask('t1');
  await expect(failing).rejects.toThrow(
    /a redirect to https:\/\/sign-in\.example:8443, .* Check AGENT_BASE_URL\.$/,
  );
  await expect(failing).rejects.not.toThrow('ticket');
  await using relative = await localServer((_, response) =>
    response.writeHead(302, { location: '/in' }).end(),
  );
  await expect(clientOf(relative.origin).getTask('t1')).rejects.toThrow('with a redirect, which');
});

test('the page of a gateway that rejects a request is told by its title, or else by its status', async () => {
  const pages = [
    '<HTML><head><Title>Blocked by\n policy</Title></head><p>Reference 7</p>',
    '<html><p>No title</p>',
  ];
  const reasons: unknown[] = [];
  for (const page of pages) {
    await using server = await localServer((_, response) => response.writeHead(413).end(page));
    const error: unknown = await clientOf(server.origin)
      .createProject({ title: 'P' })
      .catch((cause) => cause);
    reasons.push(error instanceof AgentRejectedError ? error.reason : error);
  }
  expect(reasons).toEqual(['Blocked by policy', '413 Payload Too Large']);
});

test('a pause until a date is as long as by the clock of the server', async () => {
  await using server = await localServer((_, response) => {
    const at = (ms: number) => new Date(Date.now() + 3_000_000 + ms).toUTCString();
    response.writeHead(429, { date: at(0), 'retry-after': at(30_000) }).end();
  });
  const failing = clientOf(server.origin).createProject({ title: 'P' });
  await expect(failing).rejects.toMatchObject({ code: 'rate_limited', retryAfterMs: 30_000 });
});

describe('a link that leads elsewhere', () => {
  const upload = {
    name: 'upload link',
    method: 'PUT',
    headers: { authorization: 'Bearer of the storage', host: 'bucket.example', 'x-kind': 'block' },
    body: () => Readable.from([Buffer.from('bytes')]),
    sizeBytes: 5,
    signal: undefined,
  } as const;

  test.each([307, 308])('by status %i takes credentials and a host to no other host', async (status) => {
    await using server = await localServer((request, response) => {
      const next = { '/': '/same', '/same': `${server.origin.replace('127.0.0.1', 'localhost')}/other` };
      const location = Object.entries(next).find(([path]) => path === request.url)?.[1];
      request.resume().on('end', () => {
        if (location === undefined) response.setHeader('etag', '"1"').end();
        else response.writeHead(status, { location }).end();
      });
    });
    const client = clientOf(server.origin, { allowedHosts: ['127.0.0.1', 'localhost'] });
    expect(await client.links.put({ ...upload, url: `${server.origin}/` })).toBe('"1"');
    const sent = server.requests.map(({ headers }) => [headers.authorization, headers.host]);
    expect(sent).toEqual([
      ['Bearer of the storage', 'bucket.example'],
      ['Bearer of the storage', 'bucket.example'],
      [undefined, new URL(server.origin.replace('127.0.0.1', 'localhost')).host],
    ]);
    expect(server.requests.map(({ headers }) => headers['x-kind'])).toEqual(['block', 'block', 'block']);
  });

  test('may name its file in bare UTF-8', async () => {
    const paths: unknown[] = [];
    await using server = await localServer((request, response) => {
      paths.push(request.url);
      const location = Buffer.from('/日本 é.csv?sig=1#top').toString('latin1');
      if (paths.length === 1) response.writeHead(302, { location });
      response.end('a,b\n');
    });
    const { body } = await clientOf(server.origin).links.get(`${server.origin}/`);
    expect(String(Buffer.concat(await body.toArray()))).toBe('a,b\n');
    expect(paths).toEqual(['/', `/${encodeURIComponent('日本 é')}.csv?sig=1`]);
  });

  test('may lead to a file that is compressed itself, which stays so', async () => {
    const archive = gzipSync('a,b\n');
    await using server = await localServer((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/csv' }).end(archive);
    });
    const client = clientOf(server.origin);
    const { body, wasCompressed } = await client.links.get(`${server.origin}/b/genes.csv.gz?sig=1`);
    expect([Buffer.concat(await body.toArray()), wasCompressed]).toEqual([archive, false]);
  });

  test.each([
    ['genes.csv.gz', 'abc123', gzipSync('a,b\n')],
    ['genes.csv', 'genes.csv.gz', Buffer.from('a,b\n')],
  ])('may lead to the file %s under the name %s', async (fileName, key, contents) => {
    await using server = await localServer((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/csv' });
      response.end(gzipSync('a,b\n'));
    });
    const link = `${server.origin}/b/${key}?sig=1`;
    const file = { name: fileName, sizeBytes: null };
    const { body } = await clientOf(server.origin).links.get(link, undefined, undefined, file);
    expect(Buffer.concat(await body.toArray())).toEqual(contents);
  });

  test.each(['genes', 'genes.txt', 'genes.svgz'])(
    'may lead to a compressed file named %s, as its listed size tells',
    async (name) => {
      const archive = gzipSync('a,b\n');
      const sizeBytes = archive.length;
      await using server = await localServer((_, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': sizeBytes }).end(archive);
      });
      const link = `${server.origin}/b/genes.csv.gz?sig=1`;
      const file = { name, sizeBytes };
      const { body, wasCompressed } = await clientOf(server.origin).links.get(
        link,
        undefined,
        undefined,
        file,
      );
      expect([Buffer.concat(await body.toArray()), wasCompressed]).toEqual([archive, false]);
    },
  );
});

describe("a file's contents", () => {
  test('may be at a place relative to where they were asked for', async () => {
    await using server = await localServer((request, response) => {
      if (request.url?.endsWith('/content') === true) response.writeHead(302, { location: '../stored/f' });
      else if (request.url === '/v1/experimental/files/stored/f') response.write('a,b\n1,2\n');
      response.end();
    });
    const { body } = await clientOf(server.origin).openFileContent('f');
    expect(String(Buffer.concat(await body.toArray()))).toBe('a,b\n1,2\n');
  });

  test.each(['application/json', 'text/html', 'text/plain', undefined])(
    'may be a link in a response of type %s',
    async (type) => {
      await using server = await localServer((request, response) => {
        if (type !== undefined) response.setHeader('content-type', type);
        const link = `${server.origin}/stored?signature=1`;
        const file = { id: 'f', size_bytes: 8 };
        const url = request.url ?? '';
        if (url.startsWith('/stored')) response.end('a,b\n1,2\n');
        else response.end(JSON.stringify(url.endsWith('/f') ? file : { url: link }));
      });
      const { body } = await clientOf(server.origin).openFileContent('f');
      expect(String(Buffer.concat(await body.toArray()))).toBe('a,b\n1,2\n');
    },
  );
});
