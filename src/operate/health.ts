import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the process's pages tell. */
export interface HealthParts {
  /** Whether the database answers. */
  database(): Promise<boolean>;
  /** Whether the process is handing its turns over. */
  draining(): boolean;
  /** What an operator wants to know beside that; it changes no status. */
  report(): Record<string, unknown>;
  /** What /metrics tells; not found when left out. */
  metrics?: (() => Promise<{ type: string; text: string }>) | undefined;
  /** Everything else: Slack's requests, where events come by HTTP. */
  fallback: RequestListener | undefined;
}

interface Page {
  status: number;
  type: string;
  text: string;
}

/** On every answer: none of them is a page that shows, runs or keeps anything. */
const headers = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; form-action 'self'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** The longest that a request's headers, and the whole request, may take (ms). */
const headersMs = 10_000;
const requestMs = 30_000;
/** Bytes of a request's headers; Slack's take about one KiB. */
const headerBytes = 16 * 1024;
/** Connections at one time: Slack and a few who watch. */
const mostConnections = 1_000;

/** The process's HTTP server: health, figures, and Slack's requests where events come that way. */
export class HealthServer {
  readonly #parts: HealthParts;
  readonly #server: Server;

  constructor(parts: HealthParts) {
    this.#parts = parts;
    const limits = { maxHeaderSize: headerBytes, headersTimeout: headersMs, requestTimeout: requestMs };
    this.#server = createServer(limits, (request, response) => {
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      const page = this.#page(request);
      if (page === undefined) {
        this.#pass(request, response);
        return;
      }
      void page.then(({ status, type, text }) => {
        response.writeHead(status, { 'content-type': type });
        response.end(request.method === 'HEAD' ? '' : text);
      });
    });
    this.#server.maxConnections = mostConnections;
  }

  /** Listens; the answer is the port. Throws where the port is taken. */
  async start(port: number, host: string): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, resolve);
    });
    const address: AddressInfo | string | null = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  }

  /** Stops listening; connections that are still open 2 s later are cut. */
  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeIdleConnections();
    const force = setTimeout(() => this.#server.closeAllConnections(), 2_000);
    await closed;
    clearTimeout(force);
  }

  #page(request: IncomingMessage): Promise<Page> | undefined {
    if (request.method !== 'GET' && request.method !== 'HEAD') return undefined;
    switch (URL.parse(request.url ?? '/', 'http://localhost')?.pathname) {
      case '/healthz':
        return Promise.resolve(json(200, { status: 'alive' }));
      case '/readyz':
        return this.#readiness();
      case '/metrics':
        return this.#parts.metrics === undefined ? undefined : this.#figures(this.#parts.metrics);
      default:
        return undefined;
    }
  }

  #pass(...[request, response]: Parameters<RequestListener>): void {
    try {
      if (this.#parts.fallback !== undefined) {
        this.#parts.fallback(request, response);
        return;
      }
    } catch {
      // Bolt throws for paths that it does not know.
    }
    response.writeHead(404, { 'content-type': 'text/plain' });
    response.end('Not found\n');
  }

  async #figures(metrics: NonNullable<HealthParts['metrics']>): Promise<Page> {
    try {
      return { status: 200, ...(await metrics()) };
    } catch {
      return { status: 500, type: 'text/plain', text: 'The figures cannot be told.\n' };
    }
  }

  async #readiness(): Promise<Page> {
    const database = await this.#parts.database();
    const draining = this.#parts.draining();
    const ready = database && !draining;
    return json(ready ? 200 : 503, { ready, database, draining, ...this.#parts.report() });
  }
}

function json(status: number, body: unknown): Page {
  return { status, type: 'application/json', text: `${JSON.stringify(body)}\n` };
}
