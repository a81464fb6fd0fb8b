import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { AgentClient } from '../../src/agent/client.ts';
import type { AgentClientOptions } from '../../src/agent/options.ts';

export const apiKey = 'sk-very-secret-key';

/** A server that answers as a test says, for faults that no service shows on request. */
export interface LocalServer extends AsyncDisposable {
  readonly origin: string;
  /** `METHOD path` of each request so far. */
  readonly requests: readonly IncomingMessage[];
}

export async function localServer(listener: RequestListener): Promise<LocalServer> {
  const requests: IncomingMessage[] = [];
  const server: Server = createServer((request, response) => {
    requests.push(request);
    listener(request, response);
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
  const retry = { attempts: 3, baseMs: 1, capMs: 5, totalMs: 2000, ...options.retry };
  return new AgentClient({ baseUrl: `${origin}/v1`, apiKey, ...options, retry });
}
