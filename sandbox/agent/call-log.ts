import type { Request, RequestHandler } from 'express';
import { newId } from './records.ts';

/** One request that the service got, recorded when its connection is done with it. */
export interface RecordedCall {
  /** Such as `POST /experimental/tasks/{task_id}/messages`, `PUT part`, `PUT upload`, `GET download`. */
  name: string;
  path: string;
  /** 0 where the connection was cut before an answer. */
  status: number;
  /** From the request's head to the answer's end, ms. */
  ms: number;
  /** When it arrived, milliseconds since 1970. */
  at: number;
  /** The JSON body; `undefined` where there was none. */
  body: unknown;
}

const MOST_CALLS = 50_000;

/** Keeps the latest calls and tells listeners of each. */
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
      const { path } = request;
      response.setHeader('x-request-id', newId('req'));
      response.on('close', () => {
        const status = response.writableFinished ? response.statusCode : 0;
        const ms = performance.now() - started;
        this.#add({ name: nameOf(request), path, status, ms, at, body: request.body });
      });
      next();
    };
  }

  #add(call: RecordedCall): void {
    if (this.calls.length >= MOST_CALLS) this.calls.splice(0, MOST_CALLS / 2);
    this.calls.push(call);
    for (const listener of this.#listeners) listener(call);
  }
}
