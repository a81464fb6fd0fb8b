import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { parseJson } from '../calls/json.ts';
import { abortWith, anySignal, type LeaseGuard, withSecondCall } from '../calls/retries-and-waits.ts';
import { Presence } from '../calls/shared-calls.ts';
import type { AgentClientOptions, CallAttempt, CursorPage, Transport } from './client-options.ts';
import {
  type CallContext,
  errorForBrokenRequest,
  errorForResponse,
  leaseLostError,
  responseSizeError,
  unreadableResponseError,
  unreadCreationError,
} from './error-mapping.ts';
import { AgentError, AgentRejectedError } from './errors.ts';
import { expectKeyRefusal, KeyCheck, NO_TASK_ID } from './forbidden-or-bad-key.ts';
import {
  BrokenRequestError,
  FIRST_IDLE_MS,
  type HttpResponse,
  isUnreadableHead,
  sendRequest,
} from './http-request.ts';
import { nextCursor } from './request-bodies.ts';
import { isJsonWithinLimits, type ResponseReader } from './response-limits.ts';
import { retryCall } from './retries.ts';
import type { Page } from './service-schema.ts';

export interface CallDetails {
  /** Values for the `{name}`s of the path. */
  readonly ids?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON; omitted if undefined. */
  readonly body?: unknown;
  /** Whether the call is retried after a transient failure; every call but a POST is, if left out. */
  readonly mayRepeat?: boolean;
  /** Milliseconds for one attempt, from connecting to the last byte of the response; `requestMs` if left out. */
  readonly timeoutMs?: number;
  /** Milliseconds without a byte in either direction; no limit if left out. */
  readonly idleMs?: number;
  /** The media type that is asked for; JSON if left out. */
  readonly accept?: string;
  readonly guard?: LeaseGuard | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Whether something is created: an error of which nobody knows whether it was names the call. */
  readonly creates?: boolean;
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

interface ServiceHttpOptions
  extends Transport,
    Pick<AgentClientOptions, 'onAttempt' | 'beforeRead' | 'onRateLimited' | 'gate'> {
  readonly baseUrl: URL;
  readonly apiKey: () => string;
  readonly responseReader: ResponseReader;
  /** The calls only try the key, so their 403 is about the key. */
  readonly isTrial?: boolean;
}

const TRIAL_TIMEOUT_MS = 10_000;

type ReadResponse<T> = (response: HttpResponse, context: CallContext) => Promise<T>;

interface Attempt<T> extends CallDetails {
  readonly context: CallContext;
  readonly method: Method;
  readonly url: URL;
  readonly attempt: number;
  /** Ends with the caller's signal or the lease. */
  readonly outerSignal: AbortSignal;
  /** Ends the attempt. */
  readonly ends: AbortController;
  readonly read: ReadResponse<T>;
  /** Called when the response begins. */
  readonly heard?: (() => void) | undefined;
}

/** Calls the service with its key. Follows no redirect. */
export class ServiceHttp {
  readonly #options: ServiceHttpOptions;
  readonly #keyCheck: KeyCheck;
  /** When a call last got the response that it asked for (`performance.now()`). */
  lastSuccessAt = Number.NEGATIVE_INFINITY;
  /** Whether the service itself answers: a call under the key succeeds, or a wrong key is refused. */
  readonly presence = new Presence(() => expectKeyRefusal(this));
  /** The lists whose left out items were logged: a reply is read again and again. */
  readonly #listsLeftOutOf = new Set<string>();

  constructor(options: ServiceHttpOptions) {
    this.#options = options;
    this.#keyCheck = new KeyCheck(this, options.gate);
  }

  /** Calls an endpoint and reads its JSON response by `schema`. `path` is also the call's name in errors and logs. */
  async call<Schema extends z.ZodType>(
    method: Method,
    path: string,
    schema: Schema,
    details: CallDetails,
  ): Promise<z.output<Schema>> {
    return (await this.#requestJson(method, path, schema, details)).value;
  }

  /** Reads one page of a list. */
  async list<Item extends { readonly id: string }>(
    path: string,
    schema: z.ZodType<Page<Item>>,
    details: CallDetails,
  ): Promise<CursorPage<Item>> {
    const { value, raw, bytes } = await this.#requestJson('GET', path, schema, details);
    const { leftOut } = value;
    if (leftOut > 0 && !this.#listsLeftOutOf.has(path)) {
      this.#listsLeftOutOf.add(path);
      const about = { call: `GET ${path}`, leftOut };
      this.#options.log?.warn(about, 'left out items of a list that cannot be read');
    }
    const cursor = nextCursor(raw, this.#options.serviceOptions, value.items.at(-1)?.id);
    return { ...value, bytes, cursor };
  }

  /** Opens a stream, or the redirect to one. Only `idleMs` limits the time to read the body. */
  async openStream(path: string, details: CallDetails): Promise<HttpResponse> {
    const read: ReadResponse<HttpResponse> = async (response, context) => {
      const { status } = response;
      const isRedirect = status >= 300 && status < 400 && response.header('location') !== undefined;
      if (status >= 300 && !isRedirect) throw await errorForResponse(context, response);
      return response;
    };
    const { idleMs } = this.#options.timeouts;
    return await this.#request('GET', path, { ...details, accept: '*/*', idleMs }, read);
  }

  /** `raw` is the parsed response before the schema, `bytes` its size. */
  async #requestJson<Schema extends z.ZodType>(
    method: Method,
    path: string,
    schema: Schema,
    details: CallDetails,
  ): Promise<{ value: z.output<Schema>; raw: unknown; bytes: number }> {
    return await this.#request(method, path, details, async (response, context) => {
      if (response.status >= 300) throw await errorForResponse(context, response);
      const { responseReader } = this.#options;
      const { text, isWhole, bytes } = await responseReader.readText(response.body);
      if (!isWhole || !isJsonWithinLimits(text, responseReader.limits.maxValues)) {
        throw responseSizeError(context, response, responseReader.maxDescription);
      }
      const raw = text.trim() === '' ? null : parseJson(text);
      const parsed = schema.safeParse(raw);
      if (parsed.success) return { value: parsed.data, raw, bytes };
      const problem =
        raw === undefined || raw === null
          ? 'is not JSON'
          : `has an unknown shape, ${describeIssues(parsed.error)}`;
      throw unreadableResponseError(context, response, problem);
    });
  }

  async #request<T>(method: Method, path: string, details: CallDetails, read: ReadResponse<T>) {
    const { apiKey, serviceOptions, retry, isTrial } = this.#options;
    const redact = (text: string) => text.replaceAll(apiKey(), '[key]');
    const name = `${method} ${path}`;
    const creates = details.creates === true ? name : undefined;
    const context = { name, target: 'service', serviceOptions, redact, isTrial, creates } as const;
    const url = this.#url(path, details, context);
    const { mayRepeat = method !== 'POST', signal, guard } = details;
    const outerSignal = anySignal([signal, guard?.signal]);
    const once = async (attempt: number): Promise<T> => {
      if (method === 'GET') await this.#waitToRead(context, outerSignal);
      const call = { ...details, context, method, url, attempt, outerSignal, read };
      const send = (ends: AbortController, heard?: () => void) => this.#attempt({ ...call, ends, heard });
      return await (method === 'GET' ? withSecondCall(send) : send(new AbortController()));
    };
    return await retryCall(once, retry, outerSignal, mayRepeat).catch(async (error: unknown) => {
      const isAboutKey = error instanceof AgentRejectedError && error.status === 403;
      throw isAboutKey && serviceOptions.badKeyStatuses.includes(403)
        ? await this.#keyCheck.explain(error, outerSignal)
        : error;
    });
  }

  async #attempt<T>(call: Attempt<T>): Promise<T> {
    const { context, guard, outerSignal, ends, attempt, idleMs = 0 } = call;
    const { dispatcher, gate, timeouts, log, onAttempt, onRateLimited } = this.#options;
    const assertLeaseHeld = () => {
      if (guard !== undefined && guard.remainingMs() <= 0) throw leaseLostError(context.name, 'not_sent');
    };
    assertLeaseHeld();
    gate?.enter();
    const unlink = abortWith(ends, outerSignal);
    const { timeoutMs = timeouts.requestMs } = call;
    let isLate = false;
    using _timeout = setTimeout(() => {
      isLate = true;
      ends.abort();
    }, timeoutMs);
    const start = performance.now();
    let status: number | undefined;
    try {
      const response = await sendRequest({
        dispatcher,
        method: call.method,
        url: call.url,
        headers: this.#headers(call.accept, call.body !== undefined),
        body: call.body === undefined ? undefined : JSON.stringify(call.body),
        signal: ends.signal,
        idleMs,
        bodyIdleMs: idleMs || (call.method === 'GET' && attempt === 1 ? FIRST_IDLE_MS : 0),
        beforeFirstByte: assertLeaseHeld,
      });
      status = response.status;
      response.body.once('close', unlink);
      call.heard?.();
      const value = await call.read(response, context);
      gate?.accepted();
      this.lastSuccessAt = performance.now();
      this.presence.show();
      return value;
    } catch (error) {
      unlink();
      const isEnded = { lease: guard?.signal.aborted, caller: call.signal?.aborted, timeout: isLate };
      const endedBy = (['lease', 'caller', 'timeout'] as const).find((end) => isEnded[end]);
      const broken = errorForBrokenRequest(context, error, endedBy);
      const isSuccess = status === undefined ? isUnreadableHead(error) : status < 300;
      const isUnread = call.creates === true && isSuccess && endedBy === undefined;
      const failure =
        isUnread && broken instanceof AgentError ? unreadCreationError(context, broken, status) : broken;
      if (failure instanceof AgentError && failure.code === 'bad_key') gate?.refused(failure);
      else if (status !== undefined && status < 500 && status !== 403) gate?.accepted();
      if (failure instanceof AgentError && failure.code === 'rate_limited')
        onRateLimited?.(failure.retryAfterMs ?? 0);
      throw failure;
    } finally {
      const durationMs = Math.round(performance.now() - start);
      const made: CallAttempt = { call: context.name, status, attempt, durationMs };
      log?.debug(made, 'called the agent service');
      onAttempt?.(made);
    }
  }

  /** Asks for a task that does not exist, once. The answer to another key tells nothing of this one. */
  async tryKey(otherKey?: string): Promise<unknown> {
    const { gate: _gate, beforeRead: _beforeRead, log, onAttempt, onRateLimited, ...options } = this.#options;
    const retry = { ...options.retry, maxAttempts: 1 };
    const own = otherKey === undefined ? { log, onAttempt, onRateLimited } : { apiKey: () => otherKey };
    const once = new ServiceHttp({ ...options, ...own, retry, isTrial: true });
    const limit = otherKey === undefined ? { timeoutMs: TRIAL_TIMEOUT_MS } : {};
    const details = { ids: { task_id: NO_TASK_ID }, ...limit };
    return await once.call('GET', '/experimental/tasks/{task_id}', z.looseObject({}), details);
  }

  /** Waits for the caller's read rate and the limit on bytes per second. Rethrows the caller's own errors. */
  async #waitToRead(context: CallContext, signal: AbortSignal): Promise<void> {
    try {
      await this.#options.beforeRead?.(signal);
      const waitMs = this.#options.responseReader.waitMs();
      if (waitMs > 0) await sleep(waitMs, undefined, { signal });
    } catch (cause) {
      if (!signal.aborted) throw cause;
      throw errorForBrokenRequest(context, new BrokenRequestError('not_started', cause), 'caller');
    }
  }

  #headers(accept: string | undefined, hasBody: boolean): Record<string, string> {
    return {
      authorization: `Bearer ${this.#options.apiKey()}`,
      accept: accept ?? 'application/json',
      'user-agent': 'taskthread',
      ...(hasBody && { 'content-type': 'application/json' }),
    };
  }

  #url(template: string, { ids = {}, query = {} }: CallDetails, context: CallContext): URL {
    const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const id = ids[name] ?? '';
      if (id === '' || id === '.' || id === '..') {
        const sentence = `${JSON.stringify(id)} is not a valid id (${context.name}).`;
        throw new AgentError('not_understood', { sentence, outcome: 'not_sent' });
      }
      return encodeURIComponent(id);
    });
    const url = new URL(this.#options.baseUrl);
    url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`;
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    return url;
  }
}

/** Names up to three places where a response does not match the schema, with a code or our own words: never its values. */
function describeIssues({ issues }: z.ZodError): string {
  const places = issues.slice(0, 3).map(({ path, code, message }) => {
    const place = path.join('.').slice(0, 100) || 'at the top';
    return `${place} (${code === 'custom' ? message : code})`;
  });
  return `first ${places.join(', ')}`;
}
