import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ScriptedCall {
  method: string;
  args: Record<string, string>;
  headers: IncomingMessage['headers'];
  at: number;
  /** The client hung up before it had the answer. */
  cutOff: boolean;
}

export interface ScriptedAnswer {
  status?: number;
  headers?: Record<string, string>;
  /** Sent as JSON, a string as it is. */
  body?: unknown;
}

type Script = (
  call: ScriptedCall,
  request: IncomingMessage,
  response: ServerResponse,
) => ScriptedAnswer | undefined;

/** A server that answers each method as a test says, and notes what it was asked. */
export class ScriptedSlack {
  readonly calls: ScriptedCall[] = [];
  readonly #scripts = new Map<string, Script>();
  readonly #server = createServer((request, response) => {
    this.#handle(request, response).catch((error: unknown) => response.destroy(error as Error));
  });

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Ends the connections on which nothing is asked, as servers do after a while. */
  hangUp(): void {
    this.#server.closeIdleConnections();
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get apiUrl(): string {
    return `${this.origin}/api/`;
  }

  /** Answers a method (or a path) so from now on. A function may write the answer itself and give undefined. */
  on(method: string, script: Script | ScriptedAnswer): void {
    this.#scripts.set(method, typeof script === 'function' ? script : () => script);
  }

  /** What a method was called with. */
  callsOf(method: string): ScriptedCall[] {
    return this.calls.filter((call) => call.method === method);
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const method = (request.url ?? '').replace(/^\/(api\/)?/, '');
    const args = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
    const call: ScriptedCall = {
      method,
      args,
      headers: request.headers,
      at: performance.now(),
      cutOff: false,
    };
    this.calls.push(call);
    response.on('close', () => {
      call.cutOff = !response.writableFinished;
    });
    const script: Script = this.#scripts.get(method) ?? (() => ({ body: { ok: true } }));
    const answer = script(call, request, response);
    if (answer === undefined) return;
    const { body = '' } = answer;
    response.writeHead(answer.status ?? 200, {
      'content-type': typeof body === 'string' ? 'text/plain' : 'application/json',
      ...answer.headers,
    });
    response.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
  }
}
