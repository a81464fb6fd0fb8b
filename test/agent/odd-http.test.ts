import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { OPERATOR_RESPONSE_LIMITS } from '../../src/agent/response-limits.ts';
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
  return {
    client: clientOf(`http://127.0.0.1:${address.port}`, { timeouts: { requestMs: 20_000 } }),
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
    'headers in any case, twice and empty',
    ok(json, 'CONTENT-type: text/plain\r\ncontent-TYPE: a/b\r\nx-e:\r\n'),
  ],
  [
    'chunks, extensions and trailers',
    `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n${json.length.toString(16)};a=b\r\n${json}\r\n0\r\nX-Sum: 1\r\n\r\n`,
  ],
])('a response with %s is read', async (_, answer) => {
  await using server = await rawServer((socket) => socket.write(answer));
  expect(await server.client.getTask('t1')).toMatchObject(task);
  expect(server.requests).toHaveLength(1);
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
  const bodies = ['<html>Done.</html>', '', '{"id":5}', gzipSync(json).subarray(0, -5)];
  for (const [index, body] of bodies.entries()) {
    await using server = await localServer((_, response) => {
      response.writeHead(201, index === 3 ? { 'content-encoding': 'gzip' } : {}).end(body);
    });
    const failing = clientOf(server.origin).createProject({ title: 'P' });
    await expect(failing).rejects.toMatchObject({
      name: 'AgentUnreadCreationError',
      call: 'POST /projects',
      code: 'not_understood',
      outcome: 'unknown',
    });
    expect(server.requests).toHaveLength(1);
  }
});

describe("a file's contents", () => {
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
