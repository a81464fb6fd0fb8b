import { setTimeout as sleep } from 'node:timers/promises';
import type { NextFunction, Request, RequestHandler, Response } from 'express';

/** What can go wrong with one call. */
export type Fault =
  /** The call is held for `ms` before it is handled. */
  | { kind: 'latency'; ms: number }
  /** Answered with this status; the call takes no effect. */
  | { kind: 'status'; status: number; headers?: Record<string, string>; body?: unknown }
  /** The connection is cut; the call takes no effect. */
  | { kind: 'cut' }
  /** The call takes effect, but its answer never arrives: the connection is cut instead. */
  | { kind: 'lost' };

/** A fault that is asked for: which calls, how often. */
export interface FaultRule {
  /** A call's name: a Slack method such as `chat.update`, or `POST /experimental/tasks` at the service. */
  call: string | RegExp;
  fault: Fault;
  /** How many calls it hits before it is used up; unlimited when left out. */
  times?: number;
  /** Chance of 0 to 1 that a matching call is hit; 1 when left out. */
  chance?: number;
}

/** The faults that one sandbox server has been asked for. */
export class Faults {
  #rules: { rule: FaultRule; left: number }[] = [];
  readonly #random: () => number;

  /** `random` gives numbers from 0 up to 1; a seeded one makes a run repeatable. */
  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** Asks for a fault; the answer takes the request back. */
  add(rule: FaultRule): () => void {
    const entry = { rule, left: rule.times ?? Number.POSITIVE_INFINITY };
    this.#rules.push(entry);
    return () => {
      this.#rules = this.#rules.filter((other) => other !== entry);
    };
  }

  /** Takes all requests back. */
  clear(): void {
    this.#rules = [];
  }

  /** The fault that hits a call of this name now, if any. */
  hit(call: string): Fault | undefined {
    for (const entry of this.#rules) {
      const { rule } = entry;
      const matches = typeof rule.call === 'string' ? rule.call === call : rule.call.test(call);
      if (!matches || entry.left <= 0 || this.#random() >= (rule.chance ?? 1)) continue;
      entry.left -= 1;
      return rule.fault;
    }
    return undefined;
  }

  /** Express middleware that applies the faults; `nameOf` gives a request's call name. */
  middleware(nameOf: (request: Request) => string): RequestHandler {
    return (request, response, next) => {
      const fault = this.hit(nameOf(request));
      if (fault === undefined) return next();
      apply(fault, request, response, next).catch(next);
    };
  }
}

async function apply(fault: Fault, request: Request, response: Response, next: NextFunction): Promise<void> {
  switch (fault.kind) {
    case 'latency':
      await sleep(fault.ms);
      next();
      return;
    case 'status':
      response
        .status(fault.status)
        .set(fault.headers ?? {})
        .send(fault.body ?? '');
      return;
    case 'cut':
      request.socket.destroy();
      return;
    case 'lost':
      response.end = () => {
        request.socket.destroy();
        return response;
      };
      response.write = () => true;
      next();
      return;
  }
}
