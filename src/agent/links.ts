import type { LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import { Agent, type Dispatcher } from 'undici';
import { bareHost, isPrivateAddress } from './address.ts';
import type { Dialect } from './dialect.ts';
import { AgentAnswerError, AgentRejectedError } from './errors.ts';
import { type Answer, exchange, readText, type Sending } from './exchange.ts';
import { BodyFailure, breakdown, type Called, refusal } from './failure.ts';
import { type RetryPolicy, repeated } from './retry.ts';

/** Redirects from link to link that a download follows at most. */
const mostRedirects = 3;

/** Bytes of an unneeded answer that are read so that its connection can be used again. */
const mostIgnoredBytes = 64 * 1024;

/** Where signed links may lead, and what their transfers are bound by. */
export interface LinksOptions {
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
export interface Put {
  readonly called: Called;
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
export function linkCall(name: string, dialect: Dialect): Called {
  return { name, to: 'link', dialect, redact: (text) => text };
}

type LinkSending = Omit<Sending, 'signal' | 'idleMs'> & { readonly signal: AbortSignal | undefined };

/** Signed links of the service. They are used without its key, and never lead into a private network. */
export class Links {
  readonly #options: LinksOptions;
  readonly #allowed: Dispatcher;
  readonly #public: Dispatcher;
  readonly #retry: RetryPolicy;

  constructor(options: LinksOptions) {
    const bounds = { allowH2: false };
    this.#options = options;
    this.#allowed = options.dispatcher ?? new Agent({ ...bounds, connect: { timeout: options.connectMs } });
    this.#public =
      options.dispatcher ??
      new Agent({ ...bounds, connect: { timeout: options.connectMs, lookup: options.lookup } });
    // A storage's 500 is a passing one.
    this.#retry = { ...options.retry, statuses: [...options.retry.statuses, 500] };
  }

  /** Sends a body; answers with the response's ETag exactly as received. */
  async put(put: Put): Promise<{ etag: string | undefined }> {
    const { url, dispatcher } = this.#target(put.called, put.url, undefined);
    const once = async () => {
      const body = put.body();
      const answer = await this.#once(put.called, {
        dispatcher,
        method: put.method,
        url,
        headers: { ...put.headers, 'content-length': String(put.sizeBytes) },
        body,
        signal: put.signal,
      });
      if (answer.status >= 300) throw await refusal(put.called, answer);
      await readText(answer.body, mostIgnoredBytes).catch(() => undefined);
      return { etag: answer.header('etag') };
    };
    const policy = put.repeat ? this.#retry : { ...this.#retry, attempts: 1 };
    try {
      return await repeated(once, policy, put.signal);
    } catch (error) {
      throw error instanceof BodyFailure ? error.cause : error;
    }
  }

  /** Opens a download, following redirects to hosts that are allowed. `base` resolves a relative link. */
  async get(called: Called, link: string, signal: AbortSignal | undefined, base?: URL): Promise<Answer> {
    let from = base;
    let to = link;
    for (let hop = 0; hop <= mostRedirects; hop += 1) {
      const { url, dispatcher } = this.#target(called, to, from);
      const answer = await repeated(
        () => this.#once(called, { dispatcher, method: 'GET', url, headers: {}, signal }),
        this.#retry,
        signal,
      );
      const location = answer.header('location');
      if (answer.status < 300) return answer;
      if (location === undefined) throw await refusal(called, answer);
      answer.body.destroy();
      from = url;
      to = location;
    }
    throw new AgentAnswerError({
      sentence: `A link of the agent service leads on too often (${called.name}).`,
      outcome: 'refused',
    });
  }

  /** Ends the connections, unless they were given from outside; transfers under way fail. */
  async close(): Promise<void> {
    if (this.#options.dispatcher !== undefined) return;
    await Promise.all([this.#allowed.destroy(), this.#public.destroy()]);
  }

  /** One try; answers with a 2xx or a redirect. */
  async #once(called: Called, sending: LinkSending): Promise<Answer> {
    const signal = sending.signal ?? new AbortController().signal;
    try {
      const answer = await exchange({ ...sending, signal, idleMs: this.#options.idleMs });
      if (answer.status >= 200 && answer.status < 400) return answer;
      throw await refusal(called, answer);
    } catch (error) {
      throw breakdown(called, error, { timedOut: false, aborted: signal.aborted, leaseLost: false });
    }
  }

  #target(called: Called, link: string, base: URL | undefined): { url: URL; dispatcher: Dispatcher } {
    const url = URL.parse(link, base?.href);
    if (url !== null && (url.protocol === 'https:' || url.protocol === 'http:')) {
      const host = bareHost(url);
      if (this.#options.allowedHosts.has(host)) return { url, dispatcher: this.#allowed };
      if (url.protocol === 'https:' && !isPrivateAddress(host)) return { url, dispatcher: this.#public };
    }
    throw new AgentRejectedError({
      sentence:
        `A link of the agent service leads to a place that is not allowed (${called.name}` +
        `${url === null ? '' : `, ${url.protocol}//${url.host}`}). ` +
        'Links must be https to a public host, unless their host is among the allowed ones.',
      outcome: 'not_sent',
      words: '',
    });
  }
}
