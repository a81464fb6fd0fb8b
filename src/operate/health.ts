import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What /healthz and /readyz tell. */
export interface HealthParts {
  /** Whether the database answers. */
  database(): Promise<boolean>;
  /** Whether the process is handing its turns over. */
  draining(): boolean;
  /** What an operator wants to know beside that; it changes no status. */
  report(): Record<string, unknown>;
  /** Everything else: Slack's requests, where events come by HTTP. */
  fallback: RequestListener | undefined;
}

/** The process's HTTP server: health, and Slack's requests where events come that way. */
export class HealthServer {
  readonly #parts: HealthParts;
  readonly #server: Server;

  constructor(parts: HealthParts) {
    this.#parts = parts;
    this.#server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://localhost');
      if (request.method === 'GET' && pathname === '/healthz') {
        answer(200, { status: 'alive' });
      } else if (request.method === 'GET' && pathname === '/readyz') {
        void this.#readiness().then(({ status, body }) => answer(status, body));
      } else {
        this.#pass(request, response);
      }
      function answer(status: number, body: unknown): void {
        response.writeHead(status, {
          'content-type': 'application/json',
          'x-content-type-options': 'nosniff',
        });
        response.end(`${JSON.stringify(body)}\n`);
      }
    });
    this.#server.requestTimeout = 30_000;
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

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeIdleConnections();
    const force = setTimeout(() => this.#server.closeAllConnections(), 2_000);
    await closed;
    clearTimeout(force);
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

  async #readiness(): Promise<{ status: number; body: unknown }> {
    const database = await this.#parts.database();
    const draining = this.#parts.draining();
    const ready = database && !draining;
    return { status: ready ? 200 : 503, body: { ready, database, draining, ...this.#parts.report() } };
  }
}
