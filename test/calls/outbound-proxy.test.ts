import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type LookupFunction, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import type { Duplex } from 'node:stream';
import { request as requestOver } from 'undici';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { closeServer, listenLocally } from '../../sandbox/local-server.ts';
import { NetworkProxy } from '../../sandbox/network-proxy.ts';
import { certify, TlsFront } from '../../sandbox/tls-front.ts';
import {
  failingIfUnused,
  failureCodes,
  fetch,
  freshConnections,
  guardedConnections,
  hostNameOf,
  keptConnections,
  openWebSocket,
  request,
  useProxy,
} from '../../src/calls/outbound-proxy.ts';
import { webClientOptions } from '../../src/slack/slack-client.ts';

const { certificate } = await certify(tmpdir());
afterEach(() => useProxy({ NO_PROXY: '' }));

/** A server behind TLS that prefers HTTP/2, reached through a path that can fail. */
async function startServer() {
  const server = createServer({ keepAliveTimeout: 60_000 }, (_request, response) => response.end('hello'));
  const port = await listenLocally(server);
  const front = new TlsFront(port, certificate);
  const frontPort = await front.listen();
  const path = await new NetworkProxy(() => connect(frontPort, '127.0.0.1')).listen();
  onTestFinished(async () => void (await Promise.all([path.stop(), front.stop(), closeServer(server)])));
  return { origin: `https://127.0.0.1:${path.port}`, path, protocols: front.protocols };
}

/** A proxy that opens tunnels, at a plain address and at one with TLS that would prefer HTTP/2. */
async function startTunnels() {
  const server = createServer();
  server.on('connect', ({ url = '' }: IncomingMessage, client: Duplex) => {
    const target = connect(Number(url.split(':')[1]), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      target.pipe(client).pipe(target);
    });
    for (const socket of [client, target]) socket.on('error', () => target.destroy());
  });
  const port = await listenLocally(server);
  const front = new TlsFront(port, certificate);
  const securePort = await front.listen();
  onTestFinished(async () => void (await Promise.all([front.stop(), closeServer(server)])));
  return { plain: `http://127.0.0.1:${port}`, secure: `https://127.0.0.1:${securePort}`, front };
}

const lookup: LookupFunction = (_host, _options, callback) =>
  callback(null, [{ address: '127.0.0.1', family: 4 }]);

test.each(['directly', 'plain', 'secure'] as const)(
  'every request that leaves (%s) speaks HTTP/1.1, even where the other side prefers HTTP/2',
  async (way) => {
    const { origin, protocols } = await startServer();
    const tunnels = await startTunnels();
    useProxy({ HTTPS_PROXY: way === 'directly' ? undefined : tunnels[way], NO_PROXY: '' });
    const guarded = guardedConnections(new Set(['127.0.0.1']), lookup, 5_000);
    onTestFinished(() => guarded.destroy());
    await (await fetch(origin)).text();
    await (await globalThis.fetch(origin)).text();
    await (await request(origin)).body.text();
    for (const dispatcher of [keptConnections, freshConnections, guarded.dispatcher])
      for (const method of ['GET', 'POST'] as const)
        await (await requestOver(origin, { dispatcher, method })).body.text();
    const socket = openWebSocket(origin.replace('https', 'wss'));
    await once(socket, 'error');
    expect(protocols.length).toBeGreaterThanOrEqual(9);
    expect(new Set([...protocols, ...tunnels.front.protocols])).toEqual(new Set(['http/1.1']));
  },
);

test('a proxy that never opens a tunnel cannot be reached', async () => {
  const { origin } = await startServer();
  const silent = createServer().on('connect', () => undefined);
  useProxy({ HTTPS_PROXY: `http://127.0.0.1:${await listenLocally(silent)}`, NO_PROXY: '' });
  const guarded = guardedConnections(new Set(['127.0.0.1']), lookup, 200);
  onTestFinished(async () => void (await Promise.all([guarded.destroy(), closeServer(silent)])));
  for (const method of ['GET', 'POST'] as const)
    await expect(requestOver(origin, { dispatcher: guarded.dispatcher, method })).rejects.toMatchObject({
      code: 'UND_ERR_HEADERS_TIMEOUT',
    });
});

test('a proxy whose tunnels break before their use cannot be reached, until one can be used', async () => {
  const { path } = await startServer();
  const opened: Socket[] = [];
  const open = failingIfUnused(async () => {
    const socket = connect(path.port, '127.0.0.1');
    opened.push(socket);
    await once(socket, 'connect');
    return { socket, statusCode: 200 };
  });
  const use = async (host: string, bytes: string) => {
    const { socket } = await open({ path: `${host}:80`, origin: 'http://proxy' });
    if (bytes !== '') await new Promise((sent) => socket.write(bytes, sent));
    socket.destroy();
    await once(socket, 'close');
  };
  const cannotBeUsed = { message: expect.stringMatching(/^Proxy response \(200\)/) };
  for (let tries = 0; tries < 3; tries += 1) await use('broken', '');
  await use('whole', '');
  await expect(use('broken', '')).rejects.toMatchObject(cannotBeUsed);
  expect(opened).toHaveLength(4);
  for (const bytes of ['', '', 'hello', '', '']) await use('broken', bytes);
  expect(opened).toHaveLength(9);
});

test('a proxy that refuses every tunnel is named with its status each time', async () => {
  const { origin } = await startServer();
  const refusing = createServer().on('connect', (_request, client: Duplex) => {
    client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
  });
  useProxy({ HTTPS_PROXY: `http://127.0.0.1:${await listenLocally(refusing)}`, NO_PROXY: '' });
  onTestFinished(() => closeServer(refusing));
  const codes: string[] = [];
  for (let tries = 0; tries < 5; tries += 1)
    codes.push(...failureCodes(await fetch(origin).catch((error: unknown) => error)));
  expect(codes.filter((code) => code.startsWith('PROXY_'))).toEqual(Array(5).fill('PROXY_407'));
});

test('what may not be repeated never leaves on a connection that may be dead', async () => {
  const { origin, path } = await startServer();
  const guarded = guardedConnections(new Set(['127.0.0.1']), lookup, 5_000);
  onTestFinished(() => guarded.destroy());
  const { dispatcher } = guarded;
  for (const method of ['GET', 'POST'] as const)
    await (await requestOver(origin, { dispatcher, method })).body.text();
  await (await fetch(origin)).text();
  path.silence();
  const signal = AbortSignal.timeout(2_000);
  expect((await requestOver(origin, { dispatcher, method: 'POST', signal })).statusCode).toBe(200);
  expect((await fetch(origin, { method: 'POST', body: '', signal })).status).toBe(200);
  await expect(requestOver(origin, { dispatcher, signal })).rejects.toThrow(/timeout/i);
});

test('a dead connection that nobody uses goes before a call on another one counts as silent', async () => {
  const { origin, path } = await startServer();
  const get = async (signal?: AbortSignal) =>
    (await requestOver(origin, { dispatcher: keptConnections, signal: signal ?? null })).body.text();
  await Promise.all([get(), get(), get(), get(), get(), get()]);
  const before = path.accepted;
  path.silence();
  await expect(get(AbortSignal.timeout(5_000))).rejects.toThrow(/timeout/i);
  expect(await get(AbortSignal.timeout(4_000))).toBe('hello');
  expect(path.accepted).toBe(before + 1);
});

test("calls of Slack's packages, such as a token exchange, never leave on a connection that may be dead", async () => {
  const { origin, path, protocols } = await startServer();
  const { fetch: exchange } = webClientOptions(`${origin}/api/`);
  const post = async () => (await exchange(origin, { method: 'POST', body: 'code=1' })).status;
  expect(await post()).toBe(200);
  path.silence();
  expect(await post()).toBe(200);
  expect(protocols).toEqual(['http/1.1', 'http/1.1']);
});

test("a call of Slack's packages that nothing else limits ends after five seconds", async () => {
  const { origin, path } = await startServer();
  const { fetch: respond } = webClientOptions(`${origin}/api/`);
  path.vanish();
  await expect(respond(origin, { method: 'POST', body: '{}' })).rejects.toThrow(/timeout/i);
});

test.each([
  ['https://[::1]:8080/a', '::1'],
  ['https://EXAMPLE.org/a', 'example.org'],
  ['http://2130706433/', '127.0.0.1'],
])('the host name of %s is %s', (url, host) => {
  expect(hostNameOf(new URL(url))).toBe(host);
});
