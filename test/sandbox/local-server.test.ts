import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { closeServer, listenLocally } from '../../sandbox/local-server.ts';
import { NetworkProxy } from '../../sandbox/network-proxy.ts';
import { temporaryFolder } from '../../sandbox/temporary-folder.ts';
import { certify, TlsFront } from '../../sandbox/tls-front.ts';

/** A client that never closes its connection by itself. */
async function client(port: number, says = '') {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(says);
  return { socket, closed: once(socket, 'close') };
}

/** It leads nowhere. */
async function tlsFront(undo: AsyncDisposableStack): Promise<TlsFront> {
  const { certificate } = await certify(await temporaryFolder(undo));
  return new TlsFront(1, certificate);
}

const UPGRADE = 'GET / HTTP/1.1\r\nhost: here\r\nconnection: upgrade\r\nupgrade: words\r\n\r\n';

test('a server over TLS stops in the middle of a handshake', async () => {
  await using undo = new AsyncDisposableStack();
  const front = await tlsFront(undo);
  const { closed } = await client(await front.listen());
  await front.stop();
  expect(await closed).toHaveLength(1);
});

test('a server stops where a connection has left HTTP', async () => {
  const server = createServer().on('upgrade', (_request, socket) =>
    socket.write('HTTP/1.1 101 As you say\r\n\r\n'),
  );
  const { socket, closed } = await client(await listenLocally(server), UPGRADE);
  await once(socket, 'data');
  await closeServer(server);
  expect(await closed).toHaveLength(1);
});

test('a proxy stops where a client has not said a word', async () => {
  const proxy = await new NetworkProxy().listen();
  proxy.reset(Buffer.from('Go away.'));
  const { closed } = await client(proxy.port);
  await proxy.stop();
  expect(await closed).toHaveLength(1);
});

test('a server behind a path that has gone silent stops in the middle of a handshake', async () => {
  await using undo = new AsyncDisposableStack();
  const front = await tlsFront(undo);
  const port = await front.listen();
  const arrived = Promise.withResolvers<void>();
  const proxy = await new NetworkProxy(() => connect(port, '127.0.0.1', () => arrived.resolve())).listen();
  onTestFinished(() => proxy.stop());
  const { socket } = await client(proxy.port);
  await arrived.promise;
  proxy.silence();
  socket.destroy();
  expect(await front.stop()).toBeUndefined();
});
