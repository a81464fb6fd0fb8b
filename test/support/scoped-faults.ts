import express, { type Request, type RequestHandler } from 'express';
import { type Fault, Faults } from '../../sandbox/faults.ts';

/**
 * Faults that hit what one thread's turn calls, while others go on beside it: a call's name is followed by the thread
 * that it is about, and by what it says.
 */
export class ScopedFaults extends Faults {
  /** The calls that were hit. */
  readonly hits: string[] = [];
  /** Tells what a request is about, by its address and body. */
  scopeOf: (said: string) => string = () => '';

  override hit(call: string): Fault | undefined {
    const fault = super.hit(call);
    if (fault !== undefined) this.hits.push(call);
    return fault;
  }

  override middleware(nameOf: (request: Request) => string): RequestHandler {
    const parse = express.json({ limit: '8mb', strict: false });
    const apply = super.middleware((request) => {
      const said = `${request.originalUrl} ${JSON.stringify(request.body ?? '')}`;
      return `${nameOf(request)} ${this.scopeOf(said)} ${said}`;
    });
    return (request, response, next) =>
      parse(request, response, (error?: unknown) =>
        error === undefined ? apply(request, response, next) : next(error),
      );
  }
}
