import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
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

/** Forwards a request, and retries on the next process if one dies while handling it. */
async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  portOf: () => number | undefined,
): Promise<void> {
  const body = await buffer(request);
  const { url: path, method, headers } = request;
  let answer: IncomingMessage | undefined;
  const isAnswered = async () => {
    const port = portOf();
    if (port === undefined) return false;
    const forwarded = httpRequest({ host: '127.0.0.1', port, path, method, headers, agent: false });
    // A process may also die after the beginning of its answer.
    forwarded.on('error', () => undefined);
    [answer] = await once(forwarded.end(body), 'response').catch(() => []);
    return answer !== undefined;
  };
  await waitUntil(isAnswered, FORWARD_TIMEOUT_MS, POLL_INTERVAL_MS);
  if (answer === undefined) throw new Error('No process of the bot answers.');
  response.writeHead(answer.statusCode ?? 502, answer.headers);
  await pipeline(answer, response);
}
