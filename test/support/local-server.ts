import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { closeServer, listenLocally } from '../../sandbox/local-server.ts';
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
  const server = createServer((request, response) => {
    requests.push(request);
    const answered = async () => await listener(request, response);
    answered().catch(() => request.socket.destroy());
  });
  const port = await listenLocally(server);
  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    [Symbol.asyncDispose]: () => closeServer(server),
  };
}

/** A client that is quick to try again. */
export function clientOf(origin: string, options: Partial<AgentClientOptions> = {}): AgentClient {
  const retry = { maxAttempts: 3, baseDelayMs: 1, maxDelayMs: 5, maxTotalMs: 60_000, ...options.retry };
  return new AgentClient({ baseUrl: `${origin}/v1`, apiKey, allowedHosts: ['127.0.0.1'], ...options, retry });
}
