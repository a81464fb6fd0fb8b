import { once } from 'node:events';
import type { Server, Socket } from 'node:net';

/** The open connections of each server, also those in a TLS handshake, and those that left HTTP. */
const connections = new WeakMap<Server, Set<Socket>>();

/** Listens on 127.0.0.1, on any free port by default; resolves to the port. */
export async function listenLocally(server: Server, port = 0): Promise<number> {
  if (!connections.has(server)) keepConnections(server);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return address.port;
}

function keepConnections(server: Server): void {
  const open = new Set<Socket>();
  connections.set(server, open);
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
}

/** Closes a server that listens, and cuts its connections, whatever they wait for. */
export async function closeServer(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  for (const socket of connections.get(server) ?? []) socket.destroy();
  await closed;
}
