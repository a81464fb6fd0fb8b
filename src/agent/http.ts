import type { LookupFunction } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Agent, type Dispatcher } from 'undici';
import type { z } from 'zod';
import type { AnswerReader } from './answer-bounds.ts';
import type { Dialect } from './dialect.ts';
import { parseJson } from './error-words.ts';
import {
  AgentAnswerError,
  AgentAnswerSizeError,
  type AgentError,
  AgentKeyError,
  AgentRateLimitError,
} from './errors.ts';
import { type Answer, BrokenExchange, exchange } from './exchange.ts';
import { breakdown, type Called, leaseLost, refusal } from './failure.ts';
import type { ServiceTry } from './options.ts';
import { type RetryPolicy, repeated } from './retry.ts';
import { issueWord } from './schema.ts';

/** The lease of a turn as this folder sees it. `remainingMs() <= 0`: must not send. */
export interface Guard {
  readonly signal: AbortSignal;
  /** Milliseconds until another process may hold the thread. */
  remainingMs(): number;
}

/** Stops calls with a key that was refused, as this folder sees it. */
export interface KeyGate {
  /** Before each call; throws the refusal where it must not be made. */
  enter(): void;
  refused(error: AgentKeyError): void;
  accepted(): void;
}

/** One call to the service. */
export interface Call {
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
  readonly guard?: Guard | undefined;
  /** Bounds the time-out by what is left of the lease. */
  readonly withinLease?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** What calls to the service are made with. */
export interface HttpOptions {
  readonly baseUrl: URL;
  /** The API key as it is now. */
  readonly key: () => string;
  readonly dialect: Dialect;
  readonly retry: RetryPolicy;
  /** Reads the JSON answers. */
  readonly answers: AnswerReader;
  readonly connectMs: number;
  /** How the service's name is looked up; the system's way when left out. */
  readonly lookup?: LookupFunction | undefined;
  /** Milliseconds without a byte that end the download of a content. */
  readonly idleMs: number;
  readonly log?: Logger | undefined;
  readonly onTry?: ((made: ServiceTry) => void) | undefined;
  /** Awaited before each GET leaves, so that callers can wait together. */
  readonly beforeRead?: ((signal: AbortSignal) => Promise<void>) | undefined;
  readonly onRateLimited?: ((pauseMs: number) => void) | undefined;
  readonly gate?: KeyGate | undefined;
  readonly dispatcher?: Dispatcher | undefined;
}

type ReadAnswer<T> = (answer: Answer, called: Called) => Promise<T>;

/** One try of a call. */
interface Try<T> {
  readonly call: Call;
  readonly called: Called;
  readonly url: URL;
  readonly attempt: number;
  readonly outer: AbortSignal;
  readonly read: ReadAnswer<T>;
  readonly idleMs: number;
}

/** Calls to the service, with its key. Follows no redirect. */
export class Http {
  readonly #options: HttpOptions;
  readonly #dispatcher: Dispatcher;

  /** The base address. */
  get address(): URL {
    return this.#options.baseUrl;
  }

  constructor(options: HttpOptions) {
    this.#options = options;
    this.#dispatcher =
      options.dispatcher ??
      new Agent({
        allowH2: false,
        connect: { timeout: options.connectMs, ...(options.lookup && { lookup: options.lookup }) },
      });
  }

  /** Makes a call and reads its JSON answer by `schema`; `raw` is that answer as it came, `bytes` its size. */
  async json<Schema extends z.ZodType>(
    call: Call,
    schema: Schema,
  ): Promise<{ value: z.output<Schema>; raw: unknown; bytes: number }> {
    return await this.#call(
      call,
      async (answer, called) => {
        if (answer.status >= 300) throw await refusal(called, answer);
        const { answers } = this.#options;
        const { text, whole, bytes } = await answers.text(answer.body);
        if (!whole || !answers.isModest(text)) throw this.#tooLarge(called, answer);
        const raw = parseJson(text);
        const parsed = schema.safeParse(raw);
        if (parsed.success) return { value: parsed.data, raw, bytes };
        if (raw === undefined) throw this.#notUnderstood(called, answer, 'is not JSON');
        const why = `has a shape that this version does not know, ${firstIssues(parsed.error)}`;
        throw this.#notUnderstood(called, answer, why);
      },
      0,
    );
  }

  /** Makes a call whose answer may be any 2xx; gives it where it is of `schema`, else null. */
  async any<Schema extends z.ZodType>(call: Call, schema: Schema): Promise<z.output<Schema> | null> {
    return await this.#call(
      call,
      async (answer, called) => {
        if (answer.status >= 300) throw await refusal(called, answer);
        const { answers } = this.#options;
        const { text, whole } = await answers.text(answer.body);
        const parsed = schema.safeParse(whole && answers.isModest(text) ? parseJson(text) : undefined);
        return parsed.success ? parsed.data : null;
      },
      0,
    );
  }

  /** Makes a call whose answer is a stream or a redirect; its body is bound by the idle time only. */
  async open(call: Call): Promise<Answer> {
    return await this.#call(
      call,
      async (answer, called) => {
        const redirect =
          answer.status >= 300 && answer.status < 400 && answer.header('location') !== undefined;
        if (answer.status >= 300 && !redirect) throw await refusal(called, answer);
        return answer;
      },
      this.#options.idleMs,
    );
  }

  /** How a call to the service appears in errors. */
  called(name: string): Called {
    const { key, dialect } = this.#options;
    return { name, to: 'service', dialect, redact: (text) => text.replaceAll(key(), '[key]') };
  }

  /** Ends the connections, unless they were given from outside; calls under way fail. */
  async close(): Promise<void> {
    if (this.#options.dispatcher === undefined) await this.#dispatcher.destroy();
  }

  async #call<T>(call: Call, read: ReadAnswer<T>, idleMs: number): Promise<T> {
    const called = this.called(`${call.method} ${call.path}`);
    const url = this.#url(call, called);
    const policy = call.repeat ? this.#options.retry : { ...this.#options.retry, attempts: 1 };
    const outer = AbortSignal.any([call.signal, call.guard?.signal].filter((signal) => signal !== undefined));
    const once = async (attempt: number): Promise<T> => {
      if (call.method === 'GET') await this.#mayRead(called, outer);
      return await this.#once({ call, called, url, attempt, outer, read, idleMs });
    };
    return await repeated(once, policy, outer);
  }

  async #once<T>({ call, called, url, attempt, outer, read, idleMs }: Try<T>): Promise<T> {
    const { guard } = call;
    const left = () => guard?.remainingMs() ?? Number.POSITIVE_INFINITY;
    const mustHold = () => {
      if (left() <= 0) throw leaseLost(called.name, 'not_sent');
    };
    mustHold();
    this.#options.gate?.enter();
    const clock = new AbortController();
    const ms = call.withinLease === true ? Math.min(call.timeoutMs, left()) : call.timeoutMs;
    const timer = setTimeout(() => clock.abort(), ms);
    const start = performance.now();
    let status: number | undefined;
    try {
      const answer = await exchange({
        dispatcher: this.#dispatcher,
        method: call.method,
        url,
        headers: this.#headers(call),
        body: call.body === undefined ? undefined : JSON.stringify(call.body),
        signal: AbortSignal.any([outer, clock.signal]),
        idleMs,
        onStart: mustHold,
      });
      status = answer.status;
      const value = await read(answer, called);
      this.#options.gate?.accepted();
      return value;
    } catch (error) {
      const failure = breakdown(called, error, {
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
      const made = { call: called.name, status, attempt, ms: Math.round(performance.now() - start) };
      this.#options.log?.debug(made, 'agent service');
      this.#options.onTry?.(made);
    }
  }

  /** Waits for the caller's read rate, and until large answers are made up for; that wait's own errors come through as they are. */
  async #mayRead(called: Called, outer: AbortSignal): Promise<void> {
    try {
      await this.#options.beforeRead?.(outer);
      const waitMs = this.#options.answers.waitMs();
      if (waitMs > 0) await sleep(waitMs, undefined, { signal: outer });
    } catch (cause) {
      if (!outer.aborted) throw cause;
      const ending = { timedOut: false, aborted: true, leaseLost: false };
      throw breakdown(called, new BrokenExchange(cause, false), ending);
    }
  }

  #headers(call: Call): Record<string, string> {
    const headers: Record<string, string> = {
      authorization: `Bearer ${this.#options.key()}`,
      accept: 'application/json',
      'user-agent': 'taskthread',
    };
    if (call.body !== undefined) headers['content-type'] = 'application/json';
    return headers;
  }

  #url(call: Call, called: Called): URL {
    const path = call.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const id = call.ids?.[name] ?? '';
      if (id === '' || id === '.' || id === '..') {
        throw new AgentAnswerError({
          sentence: `The id ${JSON.stringify(id)} cannot be asked for (${called.name}).`,
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

  #tooLarge(called: Called, answer: Answer): AgentError {
    return new AgentAnswerSizeError({
      sentence:
        `The agent service's answer is larger than is read (${called.name}, at most ` +
        `${this.#options.answers.most}). Go on in a new thread, and ask for long answers as files.`,
      outcome: 'unknown',
      status: answer.status,
      requestId: answer.header(this.#options.dialect.requestIdHeader),
    });
  }

  #notUnderstood(called: Called, answer: Answer, why: string): AgentError {
    return new AgentAnswerError({
      sentence:
        `The agent service's answer ${why} (${called.name}, status ${answer.status}). ` +
        'Check that AGENT_BASE_URL is the address of the service.',
      outcome: 'unknown',
      status: answer.status,
      requestId: answer.header(this.#options.dialect.requestIdHeader),
    });
  }
}

/** Where an answer is not as it should be, at up to three places; the rest of its issues may be longer than it. */
function firstIssues({ issues }: z.ZodError): string {
  const places = issues
    .slice(0, 3)
    .map((issue) => `${issue.path.join('.').slice(0, 100) || 'at its top'} (${issueWord(issue)})`);
  return `first ${places.join(', ')}`;
}
