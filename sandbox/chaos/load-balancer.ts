import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';

/** Less than Slack's 3 s, so that it is us who give up. */
const FORWARD_TIMEOUT_MS = 2_800;
const POLL_INTERVAL_MS = 20;

/** Where Slack's events arrive while the bot's processes come and go: a load balancer that waits for one that runs. */
export interface LoadBalancer {
  readonly eventsUrl: string;
  stop(): Promise<void>;
}

/** Starts it on 127.0.0.1; `portOf` tells the port of a process that runs, if there is one. */
export async function startLoadBalancer(portOf: () => number | undefined): Promise<LoadBalancer> {
  const server = createServer((request, response) => {
    forward(request, response, portOf).catch(() => {
      if (!response.headersSent) response.writeHead(503);
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  return {
    eventsUrl: `http://127.0.0.1:${port}/slack/events`,
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  portOf: () => number | undefined,
): Promise<void> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const body = Buffer.concat(chunks);
  const deadline = performance.now() + FORWARD_TIMEOUT_MS;
  const answer = await forwardUntilAnswered(request, body, portOf, deadline);
  response.writeHead(answer.statusCode ?? 502, answer.headers);
  for await (const chunk of answer) response.write(chunk);
  response.end();
}

/** Passes a request on to the next process where one dies over it, as long as there is time. */
async function forwardUntilAnswered(
  { url: path, method, headers }: IncomingMessage,
  body: Buffer,
  portOf: () => number | undefined,
  deadline: number,
): Promise<IncomingMessage> {
  for (;;) {
    const port = await waitForPort(portOf, deadline);
    const onward = httpRequest({ host: '127.0.0.1', port, path, method, headers, agent: false });
    onward.end(body);
    try {
      return await new Promise<IncomingMessage>((resolve, reject) => {
        onward.once('response', resolve);
        onward.once('error', reject);
      });
    } catch {
      await pause();
    }
  }
}

async function waitForPort(portOf: () => number | undefined, deadline: number): Promise<number> {
  while (performance.now() < deadline) {
    const port = portOf();
    if (port !== undefined) return port;
    await pause();
  }
  throw new Error('No process of the bot runs.');
}

async function pause(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
}
