import type { LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import { Agent, type Dispatcher } from 'undici';
import { type RetryPolicy, retryCall } from './call-retry.ts';
import {
  type CallContext,
  errorForBrokenRequest,
  errorForResponse,
  RequestBodyError,
} from './error-mapping.ts';
import { AgentRejectedError, AgentResponseError } from './errors.ts';
import { type HttpRequest, type HttpResponse, readText, sendRequest } from './http-request.ts';
import { hostNameOf, isPrivateAddress } from './network-address.ts';
import type { ServiceOptions } from './service-options.ts';

/** Redirects from link to link that a download follows at most. */
const MAX_REDIRECTS = 3;

/** Bytes of an unneeded answer that are read so that its connection can be used again. */
const MAX_DISCARDED_BYTES = 64 * 1024;

/** Where signed links may lead, and what their transfers are bound by. */
export interface SignedLinksOptions {
  /** Hosts (names without port) that may have a private address or plain http; others must be public https. */
  readonly allowedHosts: ReadonlySet<string>;
  /** How the names of those others are looked up. */
  readonly lookup: LookupFunction;
  readonly connectMs: number;
  /** Milliseconds without a byte in either direction that end a transfer. */
  readonly idleMs: number;
  readonly retry: RetryPolicy;
  /** Replaces both connection pools, for proxies and tests. */
  readonly dispatcher?: Dispatcher | undefined;
}

/** A request body sent to a signed link. */
export interface LinkUpload {
  readonly context: CallContext;
  readonly method: 'PUT' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Makes the body anew for each try. */
  readonly body: () => Uint8Array | Readable;
  readonly sizeBytes: number;
  /** Whether the body can be made again after a failure. */
  readonly repeat: boolean;
  readonly signal: AbortSignal | undefined;
}

/** How a signed link appears in errors; `name` says what it is for. */
export function linkCallContext(name: string, serviceOptions: ServiceOptions): CallContext {
  return { name, target: 'link', serviceOptions, redact: (text) => text };
}

type LinkRequest = Omit<HttpRequest, 'signal' | 'idleMs'> & { readonly signal: AbortSignal | undefined };

/** Signed links of the service. They are used without its key, and never lead into a private network. */
export class SignedLinks {
  readonly #options: SignedLinksOptions;
  readonly #allowedHostsDispatcher: Dispatcher;
  readonly #publicDispatcher: Dispatcher;
  readonly #retry: RetryPolicy;

  constructor(options: SignedLinksOptions) {
    const bounds = { allowH2: false };
    this.#options = options;
    this.#allowedHostsDispatcher =
      options.dispatcher ?? new Agent({ ...bounds, connect: { timeout: options.connectMs } });
    this.#publicDispatcher =
      options.dispatcher ??
      new Agent({ ...bounds, connect: { timeout: options.connectMs, lookup: options.lookup } });
    // A storage's 500 is a passing one.
    this.#retry = { ...options.retry, statuses: [...options.retry.statuses, 500] };
  }

  /** Sends a body; answers with the response's ETag exactly as received. */
  async put(put: LinkUpload): Promise<{ etag: string | undefined }> {
    const { url, dispatcher } = this.#resolveTarget(put.context, put.url, undefined);
    const once = async () => {
      const body = put.body();
      const answer = await this.#attempt(put.context, {
        dispatcher,
        method: put.method,
        url,
        headers: { ...put.headers, 'content-length': String(put.sizeBytes) },
        body,
        signal: put.signal,
      });
      if (answer.status >= 300) throw await errorForResponse(put.context, answer);
      await readText(answer.body, MAX_DISCARDED_BYTES).catch(() => undefined);
      return { etag: answer.header('etag') };
    };
    const policy = put.repeat ? this.#retry : { ...this.#retry, attempts: 1 };
    try {
      return await retryCall(once, policy, put.signal);
    } catch (error) {
      throw error instanceof RequestBodyError ? error.cause : error;
    }
  }

  /** Opens a download, following redirects to hosts that are allowed. `base` resolves a relative link. */
  async get(
    context: CallContext,
    link: string,
    signal: AbortSignal | undefined,
    base?: URL,
  ): Promise<HttpResponse> {
    let from = base;
    let to = link;
    for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
      const { url, dispatcher } = this.#resolveTarget(context, to, from);
      const answer = await retryCall(
        () => this.#attempt(context, { dispatcher, method: 'GET', url, headers: {}, signal }),
        this.#retry,
        signal,
      );
      const location = answer.header('location');
      if (answer.status < 300) return answer;
      if (location === undefined) throw await errorForResponse(context, answer);
      answer.body.destroy();
      from = url;
      to = location;
    }
    throw new AgentResponseError({
      sentence: `A link of the agent service leads on too often (${context.name}).`,
      outcome: 'refused',
    });
  }

  /** Ends the connections, unless they were given from outside; transfers under way fail. */
  async close(): Promise<void> {
    if (this.#options.dispatcher !== undefined) return;
    await Promise.all([this.#allowedHostsDispatcher.destroy(), this.#publicDispatcher.destroy()]);
  }

  /** One try; answers with a 2xx or a redirect. */
  async #attempt(context: CallContext, sending: LinkRequest): Promise<HttpResponse> {
    const signal = sending.signal ?? new AbortController().signal;
    try {
      const answer = await sendRequest({ ...sending, signal, idleMs: this.#options.idleMs });
      if (answer.status >= 200 && answer.status < 400) return answer;
      throw await errorForResponse(context, answer);
    } catch (error) {
      throw errorForBrokenRequest(context, error, {
        timedOut: false,
        aborted: signal.aborted,
        leaseLost: false,
      });
    }
  }

  #resolveTarget(
    context: CallContext,
    link: string,
    base: URL | undefined,
  ): { url: URL; dispatcher: Dispatcher } {
    const url = URL.parse(link, base?.href);
    if (url !== null && (url.protocol === 'https:' || url.protocol === 'http:')) {
      const host = hostNameOf(url);
      if (this.#options.allowedHosts.has(host)) return { url, dispatcher: this.#allowedHostsDispatcher };
      if (url.protocol === 'https:' && !isPrivateAddress(host))
        return { url, dispatcher: this.#publicDispatcher };
    }
    throw new AgentRejectedError({
      sentence:
        `A link of the agent service leads to a place that is not allowed (${context.name}` +
        `${url === null ? '' : `, ${url.protocol}//${url.host}`}). ` +
        'Links must be https to a public host, unless their host is among the allowed ones.',
      outcome: 'not_sent',
      words: '',
    });
  }
}
