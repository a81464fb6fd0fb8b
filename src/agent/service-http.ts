import type { LookupFunction } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Agent, type Dispatcher } from 'undici';
import type { z } from 'zod';
import { type RetryPolicy, retryCall } from './call-retry.ts';
import type { CallAttempt } from './client-options.ts';
import { parseJson } from './error-body.ts';
import {
  type CallContext,
  errorForBrokenRequest,
  errorForResponse,
  leaseLostError,
} from './error-mapping.ts';
import {
  type AgentError,
  AgentKeyError,
  AgentRateLimitError,
  AgentResponseError,
  AgentResponseSizeError,
} from './errors.ts';
import { BrokenRequestError, type HttpResponse, sendRequest } from './http-request.ts';
import type { ResponseReader } from './response-limits.ts';
import type { ServiceOptions } from './service-options.ts';
import { describeIssue } from './service-schema.ts';

/** The lease of a turn as this folder sees it. `remainingMs() <= 0`: must not send. */
export interface LeaseGuard {
  readonly signal: AbortSignal;
  /** Milliseconds until another process may hold the thread. */
  remainingMs(): number;
}

/** Stops calls with a key that was refused, as this folder sees it. */
export interface ApiKeyGate {
  /** Before each call; throws the refusal where it must not be made. */
  enter(): void;
  refused(error: AgentKeyError): void;
  accepted(): void;
}

/** One call to the service. */
export interface ServiceCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path template; `{name}`s are replaced from `ids`. It is also the call's name in errors and logs. */
  readonly path: string;
  readonly ids?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON; left out when undefined. */
  readonly body?: unknown;
  /** Whether it may be sent again after a passing failure. Never for creations and sends. */
  readonly repeat: boolean;
  /** Milliseconds for one try, from connecting to the last byte of the answer. */
  readonly timeoutMs: number;
  readonly guard?: LeaseGuard | undefined;
  /** Bounds the time-out by what is left of the lease. */
  readonly withinLease?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** What calls to the service are made with. */
export interface ServiceHttpOptions {
  readonly baseUrl: URL;
  /** The API key as it is now. */
  readonly key: () => string;
  readonly dialect: ServiceOptions;
  readonly retry: RetryPolicy;
  /** Reads the JSON answers. */
  readonly responseReader: ResponseReader;
  readonly connectMs: number;
  /** How the service's name is looked up; the system's way when left out. */
  readonly lookup?: LookupFunction | undefined;
  /** Milliseconds without a byte that end the download of a content. */
  readonly idleMs: number;
  readonly log?: Logger | undefined;
  readonly onTry?: ((made: CallAttempt) => void) | undefined;
  /** Awaited before each GET leaves, so that callers can wait together. */
  readonly beforeRead?: ((signal: AbortSignal) => Promise<void>) | undefined;
  readonly onRateLimited?: ((pauseMs: number) => void) | undefined;
  readonly gate?: ApiKeyGate | undefined;
  readonly dispatcher?: Dispatcher | undefined;
}

type ReadResponse<T> = (answer: HttpResponse, called: CallContext) => Promise<T>;

/** One try of a call. */
interface Attempt<T> {
  readonly call: ServiceCall;
  readonly context: CallContext;
  readonly url: URL;
  readonly attempt: number;
  readonly signal: AbortSignal;
  readonly read: ReadResponse<T>;
  readonly idleMs: number;
}

/** Calls to the service, with its key. Follows no redirect. */
export class ServiceHttp {
  readonly #options: ServiceHttpOptions;
  readonly #dispatcher: Dispatcher;

  /** The base address. */
  get baseUrl(): URL {
    return this.#options.baseUrl;
  }

  constructor(options: ServiceHttpOptions) {
    this.#options = options;
    this.#dispatcher =
      options.dispatcher ??
      new Agent({
        allowH2: false,
        connect: { timeout: options.connectMs, ...(options.lookup && { lookup: options.lookup }) },
      });
  }

  /** Makes a call and reads its JSON answer by `schema`; `raw` is that answer as it came, `bytes` its size. */
  async requestJson<Schema extends z.ZodType>(
    call: ServiceCall,
    schema: Schema,
  ): Promise<{ value: z.output<Schema>; raw: unknown; bytes: number }> {
    return await this.#call(
      call,
      async (answer, context) => {
        if (answer.status >= 300) throw await errorForResponse(context, answer);
        const { responseReader: answers } = this.#options;
        const { text, whole, bytes } = await answers.readText(answer.body);
        if (!whole || !answers.isWithinLimits(text)) throw this.#tooLargeError(context, answer);
        const raw = parseJson(text);
        const parsed = schema.safeParse(raw);
        if (parsed.success) return { value: parsed.data, raw, bytes };
        if (raw === undefined) throw this.#unreadableError(context, answer, 'is not JSON');
        const why = `has a shape that this version does not know, ${describeIssues(parsed.error)}`;
        throw this.#unreadableError(context, answer, why);
      },
      0,
    );
  }

  /** Makes a call whose answer may be any 2xx; gives it where it is of `schema`, else null. */
  async requestJsonOrNull<Schema extends z.ZodType>(
    call: ServiceCall,
    schema: Schema,
  ): Promise<z.output<Schema> | null> {
    return await this.#call(
      call,
      async (answer, context) => {
        if (answer.status >= 300) throw await errorForResponse(context, answer);
        const { responseReader: answers } = this.#options;
        const { text, whole } = await answers.readText(answer.body);
        const parsed = schema.safeParse(whole && answers.isWithinLimits(text) ? parseJson(text) : undefined);
        return parsed.success ? parsed.data : null;
      },
      0,
    );
  }

  /** Makes a call whose answer is a stream or a redirect; its body is bound by the idle time only. */
  async requestStream(call: ServiceCall): Promise<HttpResponse> {
    return await this.#call(
      call,
      async (answer, context) => {
        const redirect =
          answer.status >= 300 && answer.status < 400 && answer.header('location') !== undefined;
        if (answer.status >= 300 && !redirect) throw await errorForResponse(context, answer);
        return answer;
      },
      this.#options.idleMs,
    );
  }

  /** How a call to the service appears in errors. */
  callContext(name: string): CallContext {
    const { key, dialect: serviceOptions } = this.#options;
    return { name, target: 'service', serviceOptions, redact: (text) => text.replaceAll(key(), '[key]') };
  }

  /** Ends the connections, unless they were given from outside; calls under way fail. */
  async close(): Promise<void> {
    if (this.#options.dispatcher === undefined) await this.#dispatcher.destroy();
  }

  async #call<T>(call: ServiceCall, read: ReadResponse<T>, idleMs: number): Promise<T> {
    const context = this.callContext(`${call.method} ${call.path}`);
    const url = this.#url(call, context);
    const policy = call.repeat ? this.#options.retry : { ...this.#options.retry, attempts: 1 };
    const outer = AbortSignal.any([call.signal, call.guard?.signal].filter((signal) => signal !== undefined));
    const once = async (attempt: number): Promise<T> => {
      if (call.method === 'GET') await this.#waitToRead(context, outer);
      return await this.#attempt({ call, context, url, attempt, signal: outer, read, idleMs });
    };
    return await retryCall(once, policy, outer);
  }

  async #attempt<T>({ call, context, url, attempt, signal: outer, read, idleMs }: Attempt<T>): Promise<T> {
    const { guard } = call;
    const left = () => guard?.remainingMs() ?? Number.POSITIVE_INFINITY;
    const mustHold = () => {
      if (left() <= 0) throw leaseLostError(context.name, 'not_sent');
    };
    mustHold();
    this.#options.gate?.enter();
    const clock = new AbortController();
    const ms = call.withinLease === true ? Math.min(call.timeoutMs, left()) : call.timeoutMs;
    const timer = setTimeout(() => clock.abort(), ms);
    const start = performance.now();
    let status: number | undefined;
    try {
      const answer = await sendRequest({
        dispatcher: this.#dispatcher,
        method: call.method,
        url,
        headers: this.#headers(call),
        body: call.body === undefined ? undefined : JSON.stringify(call.body),
        signal: AbortSignal.any([outer, clock.signal]),
        idleMs,
        beforeFirstByte: mustHold,
      });
      status = answer.status;
      const value = await read(answer, context);
      this.#options.gate?.accepted();
      return value;
    } catch (error) {
      const failure = errorForBrokenRequest(context, error, {
        timedOut: clock.signal.aborted,
        aborted: call.signal?.aborted === true,
        leaseLost: guard?.signal.aborted === true,
      });
      if (failure instanceof AgentKeyError) this.#options.gate?.refused(failure);
      else if (status !== undefined && status < 500) this.#options.gate?.accepted();
      if (failure instanceof AgentRateLimitError && failure.retryAfterMs !== undefined)
        this.#options.onRateLimited?.(failure.retryAfterMs);
      throw failure;
    } finally {
      clearTimeout(timer);
      const made = { call: context.name, status, attempt, ms: Math.round(performance.now() - start) };
      this.#options.log?.debug(made, 'agent service');
      this.#options.onTry?.(made);
    }
  }

  /** Waits for the caller's read rate, and until large answers are made up for; that wait's own errors come through as they are. */
  async #waitToRead(context: CallContext, outer: AbortSignal): Promise<void> {
    try {
      await this.#options.beforeRead?.(outer);
      const waitMs = this.#options.responseReader.waitMs();
      if (waitMs > 0) await sleep(waitMs, undefined, { signal: outer });
    } catch (cause) {
      if (!outer.aborted) throw cause;
      const ending = { timedOut: false, aborted: true, leaseLost: false };
      throw errorForBrokenRequest(context, new BrokenRequestError(cause, false), ending);
    }
  }

  #headers(call: ServiceCall): Record<string, string> {
    const headers: Record<string, string> = {
      authorization: `Bearer ${this.#options.key()}`,
      accept: 'application/json',
      'user-agent': 'taskthread',
    };
    if (call.body !== undefined) headers['content-type'] = 'application/json';
    return headers;
  }

  #url(call: ServiceCall, context: CallContext): URL {
    const path = call.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const id = call.ids?.[name] ?? '';
      if (id === '' || id === '.' || id === '..') {
        throw new AgentResponseError({
          sentence: `The id ${JSON.stringify(id)} cannot be asked for (${context.name}).`,
          outcome: 'not_sent',
        });
      }
      return encodeURIComponent(id);
    });
    const url = new URL(this.#options.baseUrl);
    url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`;
    for (const [name, value] of Object.entries(call.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    return url;
  }

  #tooLargeError(context: CallContext, answer: HttpResponse): AgentError {
    return new AgentResponseSizeError({
      sentence:
        `The agent service's answer is larger than is read (${context.name}, at most ` +
        `${this.#options.responseReader.maxDescription}). Go on in a new thread, and ask for long answers as files.`,
      outcome: 'unknown',
      status: answer.status,
      requestId: answer.header(this.#options.dialect.requestIdHeader),
    });
  }

  #unreadableError(context: CallContext, answer: HttpResponse, why: string): AgentError {
    return new AgentResponseError({
      sentence:
        `The agent service's answer ${why} (${context.name}, status ${answer.status}). ` +
        'Check that AGENT_BASE_URL is the address of the service.',
      outcome: 'unknown',
      status: answer.status,
      requestId: answer.header(this.#options.dialect.requestIdHeader),
    });
  }
}

/** Where an answer is not as it should be, at up to three places; the rest of its issues may be longer than it. */
function describeIssues({ issues }: z.ZodError): string {
  const places = issues
    .slice(0, 3)
    .map((issue) => `${issue.path.join('.').slice(0, 100) || 'at its top'} (${describeIssue(issue)})`);
  return `first ${places.join(', ')}`;
}
