import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { AgentClient } from '../../src/agent/agent-client.ts';
import type { AgentClientOptions } from '../../src/agent/client-options.ts';

export const apiKey = 'a-very-secret-key';

/** A server that answers as a test says, for faults that no service shows on request. */
export interface LocalServer extends AsyncDisposable {
  readonly origin: string;
  /** Each request so far. */
  readonly requests: readonly IncomingMessage[];
}

/** An error of the listener cuts the connection. */
type Listener = (request: IncomingMessage, response: ServerResponse) => unknown;

export async function localServer(listener: Listener): Promise<LocalServer> {
  const requests: IncomingMessage[] = [];
  const server: Server = createServer((request, response) => {
    requests.push(request);
    const answered = async () => await listener(request, response);
    answered().catch(() => request.socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    origin: `http://127.0.0.1:${address.port}`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A client that is quick to try again. */
export function clientOf(origin: string, options: Partial<AgentClientOptions> = {}): AgentClient {
  const retry = { maxAttempts: 3, baseDelayMs: 1, maxDelayMs: 5, maxTotalMs: 60_000, ...options.retry };
  return new AgentClient({ baseUrl: `${origin}/v1`, apiKey, allowedHosts: ['127.0.0.1'], ...options, retry });
}
