import type { Server as HttpServer } from 'node:http';
import { connect } from 'node:net';
import { closeServer, listenLocally } from './local-server.ts';
import type { NetworkProxy } from './network-proxy.ts';
import { type Certificate, TlsFront } from './tls-front.ts';

/** What stands between a server of the sandbox and its clients; nothing by default. */
export interface Reach {
  /** The server is reached by TLS. */
  certificate?: Certificate | undefined;
  /** The server is reached through this proxy alone. */
  proxy?: NetworkProxy | undefined;
}

/** A server that listens. */
export interface Reachable {
  /** Scheme, host and port. */
  origin: string;
  /** Leads a further proxy to the server; returns its origin there. */
  through(proxy: NetworkProxy): string;
  stop(): Promise<void>;
}

/** Listens on 127.0.0.1 behind what stands before the server. */
export async function listenBehind(
  server: HttpServer,
  { port, certificate, proxy }: Reach & { port?: number | undefined },
): Promise<Reachable> {
  const plainPort = await listenLocally(server, certificate === undefined ? port : 0);
  const front = certificate && new TlsFront(plainPort, certificate);
  const openPort = (await front?.listen(port)) ?? plainPort;
  const originAt = (at: number) => `${front === undefined ? 'http' : 'https'}://127.0.0.1:${at}`;
  const through = (passed: NetworkProxy) => {
    passed.leadTo(() => connect(openPort, '127.0.0.1'));
    return originAt(passed.port);
  };
  return {
    origin: proxy === undefined ? originAt(openPort) : through(proxy),
    through,
    stop: async () => {
      await Promise.all([front?.stop(), closeServer(server)]);
    },
  };
}
