import { setTimeout as sleep } from 'node:timers/promises';
import type { NextFunction, Request, RequestHandler, Response } from 'express';

/** What can go wrong with one call. */
export type Fault =
  /** The call is delayed by `ms` before it is handled. */
  | { kind: 'latency'; ms: number }
  /** The call is held until a promise resolves, and handled then. */
  | { kind: 'hold'; until: Promise<void> }
  /** The response has this status; the call has no effect. */
  | { kind: 'status'; status: number; headers?: Record<string, string>; body?: unknown }
  /** The connection is cut; the call has no effect. */
  | { kind: 'cut' }
  /** The call takes effect, but its response is lost: the connection is cut instead. */
  | { kind: 'lost' }
  /** The connection is cut at once, as by a gateway that gives up; the call takes effect `ms` later. */
  | { kind: 'late'; ms: number };

/** Which calls a fault hits, and how often. */
export interface FaultRule {
  /** The call's name: a Slack method such as `chat.update`, or an endpoint such as `POST /experimental/tasks`. */
  call: string | RegExp;
  /** Only calls whose address or arguments contain this: a channel's, message's or task's id. */
  about?: string;
  fault: Fault;
  /** How many calls it hits; unlimited by default. */
  times?: number;
  /** Probability (0 to 1) that it hits a matching call; 1 by default. */
  chance?: number;
}

/** The fault rules of one sandbox server. */
export class Faults {
  #rules: { rule: FaultRule; left: number }[] = [];
  readonly #random: () => number;

  /** `random` returns numbers in [0, 1); a seeded one makes a run repeatable. */
  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** Adds a rule; the returned function removes it. */
  add(rule: FaultRule): () => void {
    const entry = { rule, left: rule.times ?? Number.POSITIVE_INFINITY };
    this.#rules.push(entry);
    return () => {
      this.#rules = this.#rules.filter((other) => other !== entry);
    };
  }

  /** Removes all rules. */
  clear(): void {
    this.#rules = [];
  }

  /** The fault that hits this call, if any: the first matching rule applies. `subject` has its address and arguments. */
  hit(call: string, subject: () => string = () => ''): Fault | undefined {
    for (const entry of this.#rules) {
      const { rule } = entry;
      const matches = typeof rule.call === 'string' ? rule.call === call : rule.call.test(call);
      const isAbout = matches && (rule.about === undefined || subject().includes(rule.about));
      if (!isAbout || entry.left <= 0 || this.#random() >= (rule.chance ?? 1)) continue;
      entry.left -= 1;
      return rule.fault;
    }
    return undefined;
  }

  /** Express middleware that applies the faults; `nameOf` returns the call name of a request. */
  middleware(nameOf: (request: Request) => string): RequestHandler {
    return (request, response, next) => {
      const fault = this.hit(
        nameOf(request),
        () => `${request.originalUrl} ${JSON.stringify(request.body ?? '')}`,
      );
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
    case 'hold':
      await fault.until;
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
    case 'late':
      request.socket.destroy();
      await sleep(fault.ms);
      next();
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
