import type { Request, RequestHandler } from 'express';
import { newId } from './records.ts';

/** One request to the service, recorded when its response has ended. */
export interface RecordedCall {
  /** For example `POST /experimental/tasks/{task_id}/messages`, `PUT part`, `PUT upload`, `GET download`. */
  name: string;
  path: string;
  query: Readonly<Record<string, unknown>>;
  /** 0 if the connection was cut before a response. */
  status: number;
  /** From the request's headers to the response's end, ms. */
  ms: number;
  /** When it arrived, Unix time in ms. */
  at: number;
  /** The JSON body, if any. */
  body: unknown;
}

const MAX_CALLS = 50_000;

/** Keeps the latest calls and reports each to listeners. */
export class CallLog {
  readonly calls: RecordedCall[] = [];
  readonly #listeners = new Set<(call: RecordedCall) => void>();

  onCall(listener: (call: RecordedCall) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  middleware(nameOf: (request: Request) => string): RequestHandler {
    return (request, response, next) => {
      const at = Date.now();
      const started = performance.now();
      const { path, query } = request;
      response.setHeader('x-request-id', newId('req'));
      response.on('close', () => {
        const status = response.writableFinished ? response.statusCode : 0;
        const ms = performance.now() - started;
        this.#add({ name: nameOf(request), path, query, status, ms, at, body: request.body });
      });
      next();
    };
  }

  #add(call: RecordedCall): void {
    if (this.calls.length >= MAX_CALLS) this.calls.splice(0, MAX_CALLS / 2);
    this.calls.push(call);
    for (const listener of this.#listeners) listener(call);
  }
}
