import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type net from 'node:net';
import express, { type ErrorRequestHandler, type Express } from 'express';
import type { ResultLinkDestination } from '../relay/replies/lasting-links.ts';
import { respondToLink } from './result-link-pages.ts';

export interface HealthServerDeps {
  /** Why the database is of no use now; undefined if it works. Must not hang. */
  findTrouble: () => Promise<string | undefined>;
  draining: () => boolean;
  /** Further fields of /readyz; they do not affect its status. */
  report: () => Record<string, unknown>;
  /** The body of /metrics; 404 if left out. */
  metrics?: (() => Promise<{ type: string; text: string }>) | undefined;
  /** The path of our result links, and how their files are found; these do not exist if left out. */
  results?: { path: string; find: (token: string) => Promise<ResultLinkDestination> } | undefined;
  /** Slack's requests. Throws for other paths. */
  fallback?: RequestListener | undefined;
}

/** On every response: none of them is a page with scripts, frames or anything to cache. */
const SECURITY_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; form-action 'self'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** The longest that a request's headers, and the whole request, may take to arrive (ms). */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** Bytes of a request's headers; Slack's take about one KiB. */
const MAX_HEADER_BYTES = 16 * 1024;
/** How often it is looked for requests that take longer (ms): Node's own interval would add half a minute. */
const LOOK_MS = 1_000;
/** Most concurrent connections: Slack and a few probes. */
const MAX_CONNECTIONS = 1_000;
/** Most of them whose first request has not arrived: then the oldest one goes, so that Slack's find room. */
const MAX_SILENT = 500;

/** The HTTP server: health, metrics, and Slack's requests if events come by HTTP. */
export class HealthServer {
  readonly #server: Server;

  constructor(deps: HealthServerDeps) {
    const limits = {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: LOOK_MS,
    };
    this.#server = createServer(limits, routesOf(deps));
    this.#server.maxConnections = MAX_CONNECTIONS;
    limitSilentConnections(this.#server);
  }

  /** Starts listening and returns the port. Throws if the port is taken. */
  async start(port: number, host: string): Promise<number> {
    await once(listenOn(this.#server, port, host), 'listening');
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  }

  /** Stops listening; closes connections that are still open after 2 s. */
  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    using _force = setTimeout(() => this.#server.closeAllConnections(), 2_000);
    await closed;
  }
}

/** Closes the oldest of too many connections whose first request has not arrived. */
function limitSilentConnections(server: Server): void {
  const silent = new Set<net.Socket>();
  server.on('connection', (socket) => {
    const [oldest] = silent;
    if (silent.size >= MAX_SILENT) oldest?.destroy();
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  server.on('request', ({ socket }) => silent.delete(socket));
}

/** Begins to listen. For `::`, Node listens on 0.0.0.0 where the machine has no IPv6. */
export function listenOn(server: net.Server, port: number, host: string): net.Server {
  return host === '::' ? server.listen(port) : server.listen(port, host);
}

function routesOf({ findTrouble, draining, report, metrics, results, fallback }: HealthServerDeps): Express {
  const app = express().disable('x-powered-by').disable('etag');
  app.use((_request, response, next) => {
    response.set(SECURITY_HEADERS);
    next();
  });
  app.get('/healthz', (_request, response) => {
    response.json({ status: 'alive' });
  });
  app.get('/readyz', async (_request, response) => {
    const reason = await findTrouble();
    const state = { database: reason === undefined, reason, draining: draining() };
    const ready = state.database && !state.draining;
    response.status(ready ? 200 : 503).json({ ready, ...state, ...report() });
  });
  if (metrics !== undefined)
    app.get('/metrics', async (_request, response) => {
      const { type, text } = await metrics();
      response.type(type).send(text);
    });
  if (results !== undefined)
    app.all(`${results.path}{:token}`, async ({ method, params }, response) => {
      const isRead = method === 'GET' || method === 'HEAD';
      const found = isRead ? results.find(String(params.token ?? '')) : undefined;
      const destination = await found?.catch(() => ({ kind: 'unavailable' }) as const);
      respondToLink(response, destination ?? { kind: 'unknown' });
    });
  if (fallback !== undefined) app.use(fallback);
  app.use((_request, response) => {
    response.status(404).type('text').send('Not found\n');
  });
  app.use(handleError);
  return app;
}

/** Bolt throws for unknown paths. */
const handleError: ErrorRequestHandler = (_error, { path }, response, _next) => {
  const isMetrics = path === '/metrics';
  response.status(isMetrics ? 500 : 404).type('text');
  response.send(isMetrics ? 'The metrics could not be read.\n' : 'Not found\n');
};
