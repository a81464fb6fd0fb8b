import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ResultLinkDestination } from '../relay/replies/result-links.ts';
import { ownServicePage } from '../render/strings/index.ts';
import { escapeHtml, htmlPage } from '../render/text/escape.ts';

export interface HealthServerDeps {
  /** Why the database is of no use now; undefined if it works. Must not hang. */
  findTrouble(): Promise<string | undefined>;
  draining(): boolean;
  /** Further fields of /readyz; they do not affect its status. */
  report(): Record<string, unknown>;
  /** The body of /metrics; 404 if left out. */
  metrics?: (() => Promise<{ type: string; text: string }>) | undefined;
  fallback: RequestListener | undefined;
}

interface HttpPage {
  status: number;
  type: string;
  text: string;
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
/** Most concurrent connections: Slack and a few probes. */
const MAX_CONNECTIONS = 1_000;

/** The HTTP server: health, metrics, and Slack's requests if events come by HTTP. */
export class HealthServer {
  readonly #deps: HealthServerDeps;
  readonly #server: Server;

  constructor(deps: HealthServerDeps) {
    this.#deps = deps;
    const limits = {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
    };
    this.#server = createServer(limits, (request, response) => {
      for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
      const page = this.#page(request);
      if (page === undefined) {
        this.#passToFallback(request, response);
        return;
      }
      void page.then(({ status, type, text }) => {
        response.writeHead(status, { 'content-type': type });
        response.end(request.method === 'HEAD' ? '' : text);
      });
    });
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  /** Starts listening and returns the port. Throws if the port is taken. */
  async start(port: number, host: string): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, resolve);
    });
    const address: AddressInfo | string | null = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  }

  /** Stops listening; closes connections that are still open after 2 s. */
  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeIdleConnections();
    const force = setTimeout(() => this.#server.closeAllConnections(), 2_000);
    await closed;
    clearTimeout(force);
  }

  #page(request: IncomingMessage): Promise<HttpPage> | undefined {
    if (request.method !== 'GET' && request.method !== 'HEAD') return undefined;
    switch (URL.parse(request.url ?? '/', 'http://localhost')?.pathname) {
      case '/healthz':
        return Promise.resolve(jsonPage(200, { status: 'alive' }));
      case '/readyz':
        return this.#readiness();
      case '/metrics':
        return this.#deps.metrics === undefined ? undefined : this.#metricsPage(this.#deps.metrics);
      default:
        return undefined;
    }
  }

  #passToFallback(...[request, response]: Parameters<RequestListener>): void {
    try {
      if (this.#deps.fallback !== undefined) {
        this.#deps.fallback(request, response);
        return;
      }
    } catch {
      // Bolt throws for unknown paths.
    }
    response.writeHead(404, { 'content-type': 'text/plain' });
    response.end('Not found\n');
  }

  async #metricsPage(metrics: NonNullable<HealthServerDeps['metrics']>): Promise<HttpPage> {
    try {
      return { status: 200, ...(await metrics()) };
    } catch {
      return { status: 500, type: 'text/plain', text: 'The metrics could not be read.\n' };
    }
  }

  async #readiness(): Promise<HttpPage> {
    const reason = await this.#deps.findTrouble();
    const database = reason === undefined;
    const draining = this.#deps.draining();
    const ready = database && !draining;
    return jsonPage(ready ? 200 : 503, { ready, database, reason, draining, ...this.#deps.report() });
  }
}

function jsonPage(status: number, body: unknown): HttpPage {
  return { status, type: 'application/json', text: `${JSON.stringify(body)}\n` };
}

/** The response to an invalid link. */
export const UNKNOWN_LINK_TEXT = 'There is nothing at this address.\n';

const ERROR_RESPONSES = {
  unknown: [404, UNKNOWN_LINK_TEXT],
  expired: [410, 'This link no longer works. Press “Get fresh links” in the thread.\n'],
  unavailable: [503, 'The file is not available right now. Try again in a moment.\n'],
} as const;

/** Redirects our own result links to the file, or links there if the workspace chose the service; passes all other paths to `fallback`. */
export function createResultLinkRoute(
  path: string,
  findDestination: (token: string) => Promise<ResultLinkDestination>,
  fallback: RequestListener | undefined,
): RequestListener {
  return (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (!pathname.startsWith(path)) {
      if (fallback !== undefined) return fallback(request, response);
      response.writeHead(404, { 'content-type': 'text/plain' });
      response.end('Not found\n');
      return undefined;
    }
    response.setHeader('x-robots-tag', 'noindex');
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const found = isRead
      ? findDestination(pathname.slice(path.length))
      : Promise.resolve({ kind: 'unknown' } as const);
    void found
      .catch(() => ({ kind: 'unavailable' }) as const)
      .then((to) => {
        if (to.kind === 'found')
          return to.isOwnService ? askFirst(response, to.url) : redirect(response, to.url);
        const [status, text] = ERROR_RESPONSES[to.kind];
        response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' });
        response.end(text);
      });
    return undefined;
  };
}

function redirect(response: ServerResponse, url: string): void {
  response.writeHead(302, { location: url });
  response.end();
}

/** Names the host before a person goes there: our address must not vouch for a service that the operator did not choose. */
function askFirst(response: ServerResponse, url: string): void {
  const { title, text, open } = ownServicePage(new URL(url).host);
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'",
    'referrer-policy': 'no-referrer',
  });
  response.end(htmlPage(title, `${text} <a href="${escapeHtml(url)}">${open}</a>`));
}
