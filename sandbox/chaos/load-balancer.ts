import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeServer, listenLocally } from '../local-server.ts';
import { waitUntil } from '../wait-until.ts';

/** Less than Slack's 3 s, so that this side gives up first. */
const FORWARD_TIMEOUT_MS = 2_800;
const POLL_INTERVAL_MS = 20;

/**
 * A load balancer on 127.0.0.1 in front of the bot's processes: an event waits until a process runs. `portOf` returns the
 * port of a running process, if there is one.
 */
export async function startLoadBalancer(portOf: () => number | undefined) {
  const server = createServer((request, response) => {
    forward(request, response, portOf).catch(() => {
      if (!response.headersSent) response.writeHead(503);
      response.end();
    });
  });
  const port = await listenLocally(server);
  return { eventsUrl: `http://127.0.0.1:${port}/slack/events`, stop: () => closeServer(server) };
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

/** Forwards a request, and retries on the next process if one dies while handling it. */
async function forwardUntilAnswered(
  { url: path, method, headers }: IncomingMessage,
  body: Buffer,
  portOf: () => number | undefined,
  deadline: number,
): Promise<IncomingMessage> {
  for (;;) {
    const port = await waitForPort(portOf, deadline);
    const forwarded = httpRequest({ host: '127.0.0.1', port, path, method, headers, agent: false });
    forwarded.end(body);
    try {
      return await new Promise<IncomingMessage>((resolve, reject) => {
        forwarded.once('response', resolve);
        forwarded.once('error', reject);
      });
    } catch {
      await sleep(POLL_INTERVAL_MS);
    }
  }
}

async function waitForPort(portOf: () => number | undefined, deadline: number): Promise<number> {
  let port: number | undefined;
  const isRunning = () => {
    port = portOf();
    return port !== undefined;
  };
  await waitUntil(isRunning, deadline - performance.now(), POLL_INTERVAL_MS);
  if (port === undefined) throw new Error('No process of the bot is running.');
  return port;
}
