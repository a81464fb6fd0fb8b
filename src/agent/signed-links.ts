import { Readable } from 'node:stream';
import { firstTextAt, parseJson } from '../calls/json.ts';
import { anySignal, withSecondCall } from '../calls/retries-and-waits.ts';
import type { Transport } from './client-options.ts';
import { type CallContext, errorForBrokenRequest, errorForResponse } from './error-mapping.ts';
import { AgentError, AgentRejectedError } from './errors.ts';
import { FIRST_IDLE_MS, type HttpRequest, type HttpResponse, sendRequest } from './http-request.ts';
import { mayReach } from './network-address.ts';
import { retryCall } from './retries.ts';

/** Until when a link works at the latest, if its signature says so: AWS and Google write a time and seconds. */
export function signedUntil(link: string): Date | undefined {
  const query = URL.parse(link)?.searchParams;
  const signature = ['X-Amz', 'X-Goog'].find((name) => query?.has(`${name}-Expires`));
  const signed = query?.get(`${signature}-Date`) ?? '';
  const date = signed.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z');
  const until = Date.parse(date) + Number(query?.get(`${signature}-Expires`)) * 1_000;
  return Number.isNaN(until) ? undefined : new Date(until);
}

const MAX_REDIRECTS = 3;
/** After this one, a client asks for the place with GET. */
const SEE_OTHER = 303;

/** Bytes of a JSON response that may be a link instead of a file's contents. */
const MAX_LINK_RESPONSE_BYTES = 64 * 1024;

/** The types of such a response: some services name none or a wrong one. */
const MAY_BE_LINK = /^$|json|^text\/(?:html|plain)/i;

/** Which hosts signed links may lead to. The dispatcher connects to no private address, except to those. */
interface SignedLinksOptions extends Transport {
  /** Hosts (names without port) that may have a private address or plain http; others must be public https. */
  readonly allowedHosts: ReadonlySet<string>;
}

interface LinkRequest extends Pick<HttpRequest, 'method' | 'headers' | 'file'> {
  /** Creates a new body for each attempt. */
  readonly body?: () => Readable;
  readonly signal: AbortSignal | undefined;
}

interface LinkUpload extends Required<Omit<LinkRequest, 'file'>> {
  /** What the link is for, in error sentences. */
  readonly name: string;
  readonly url: string;
  readonly sizeBytes: number;
}

/** Statuses with which a storage may answer once although the same is right a moment later, with another link. */
const RENEWED_STATUSES: readonly unknown[] = [404, 409];

/** Uses the service's signed links: without its key, and never into a private network. */
export class SignedLinks {
  readonly #options: SignedLinksOptions;

  constructor(options: SignedLinksOptions) {
    this.#options = options;
  }

  /** Sends a body. Returns the response's ETag exactly as received. Throws BrokenRequestError if the body cannot be read. */
  async put({ name, url, sizeBytes, ...upload }: LinkUpload): Promise<string | undefined> {
    const headers = { ...upload.headers, 'content-length': String(sizeBytes) };
    const response = await this.#request(name, url, { ...upload, headers });
    response.body.destroy();
    return response.header('etag');
  }

  /** Runs `use`, and once more with `isExpired` if its link has expired or leads nowhere: then it asks for another one. */
  async renewingOnce<T>(use: (isExpired: boolean) => Promise<T>): Promise<T> {
    try {
      return await use(false);
    } catch (error) {
      if (!(error instanceof AgentRejectedError)) throw error;
      if (error.kind !== 'expired_link' && !RENEWED_STATUSES.includes(error.status)) throw error;
      return await use(true);
    }
  }

  /** Opens a download, of this file. `base` resolves a relative link. */
  async get(
    link: string,
    signal?: AbortSignal,
    base?: URL,
    file?: HttpRequest['file'],
  ): Promise<HttpResponse> {
    const request = { method: 'GET', headers: {}, signal, file } as const;
    return await this.#request('download link', link, request, base);
  }

  /** Makes a request with its retries, and follows redirects to hosts that are allowed. Returns a 2xx. */
  async #request(name: string, link: string, request: LinkRequest, base?: URL): Promise<HttpResponse> {
    const { retry, serviceOptions } = this.#options;
    const context: CallContext = { name, target: 'link', serviceOptions, redact: (text) => text };
    let from = base;
    let to = link;
    let { headers } = request;
    for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
      const url = this.#resolve(context, to, from);
      const { authorization: _credential, host: _host, ...others } = headers;
      if (hop > 0 && url.origin !== from?.origin) headers = others;
      const once = (attempt: number) => this.#attempt(context, url, { ...request, headers }, attempt);
      const response = await retryCall(once, retry, request.signal);
      const { status } = response;
      const location = response.header('location');
      if (status < 300) return response;
      if (location === undefined || (status === SEE_OTHER && request.method !== 'GET'))
        throw await errorForResponse(context, response);
      response.body.destroy();
      from = url;
      to = location;
    }
    throw new AgentError('not_understood', {
      sentence: `A link of the agent service redirects too often (${context.name}). Ask for a new link.`,
      outcome: 'refused',
    });
  }

  /**
   * Opens a file's contents: bytes, a redirect to them, or JSON with a link. `ask` asks the service for them, again if a
   * link has expired. Contents that look like a link have the file's size, a link does not. The caller reads or destroys
   * the `body`.
   */
  async openContent(
    ask: () => Promise<HttpResponse>,
    sizeBytes: () => Promise<number | null>,
    signal?: AbortSignal,
  ): Promise<{ readonly body: Readable }> {
    return await this.renewingOnce(async () => {
      const response = await ask();
      const location = response.header('location');
      if (response.status >= 300 && location !== undefined) {
        response.body.destroy();
        return await this.get(location, signal, response.url);
      }
      const mayBeLink = MAY_BE_LINK.test(response.header('content-type') ?? '');
      if (!mayBeLink || Number(response.header('content-length')) > MAX_LINK_RESPONSE_BYTES) return response;

      const { head, body } = await peek(response.body, MAX_LINK_RESPONSE_BYTES);
      const { fileContentUrlFields } = this.#options.serviceOptions;
      const link = firstTextAt(parseJson(head.toString('utf8')), fileContentUrlFields);
      if (link === null || head.length === (await sizeBytes())) return { body };
      body.destroy();
      return await this.get(link, signal, response.url);
    });
  }

  /** The link if it may be passed on (by https to a public host, or to an allowed one); otherwise null. */
  allowed(link: string | null): string | null {
    return link && this.#usable(URL.parse(link)) ? link : null;
  }

  /** A URL that may be used. The log names the host of one that may not: nobody else can allow it. */
  #usable(url: URL | null): URL | undefined {
    if (url !== null && mayReach(url, this.#options.allowedHosts)) return url;
    const why = 'a link of the agent service leads to a host that is not allowed; see PRIVATE_HOSTS';
    this.#options.log?.warn({ protocol: url?.protocol, host: url?.host }, why);
    return undefined;
  }

  /** One attempt; returns a 2xx or a redirect. */
  async #attempt(
    context: CallContext,
    url: URL,
    { body, ...request }: LinkRequest,
    attempt: number,
  ): Promise<HttpResponse> {
    const signal = request.signal ?? new AbortController().signal;
    try {
      const { dispatcher, timeouts } = this.#options;
      const { idleMs } = timeouts;
      const isRead = request.method === 'GET';
      const idle = isRead || attempt > 1 ? idleMs : Math.min(FIRST_IDLE_MS, idleMs);
      const send = (ends: AbortSignal) =>
        sendRequest({ ...request, url, body: body?.(), dispatcher, signal: ends, idleMs: idle });
      const sendBeside = ({ signal: own }: AbortController) => send(anySignal([signal, own]));
      const response = await (isRead ? withSecondCall(sendBeside) : send(signal));
      if (response.status >= 200 && response.status < 400) return response;
      throw await errorForResponse(context, response);
    } catch (error) {
      throw errorForBrokenRequest(context, error, signal.aborted ? 'caller' : undefined);
    }
  }

  #resolve(context: CallContext, link: string, base: URL | undefined): URL {
    const url = URL.parse(link, base?.href);
    const usable = this.#usable(url);
    if (usable !== undefined) return usable;
    throw new AgentError('not_understood', {
      sentence:
        `A link of the agent service leads to a host that is not allowed (${context.name}` +
        `${url === null ? '' : `, ${url.protocol}//${url.host}`}). ` +
        'Links must be https to a public host. To allow another host, add it to PRIVATE_HOSTS.',
      outcome: 'not_sent',
    });
  }
}

/** Reads a little more than `maxBytes` at most. `body` still has all bytes; `head` is cut JSON if it is not the whole. */
async function peek(body: Readable, maxBytes: number): Promise<{ head: Buffer; body: Readable }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body.iterator({ destroyOnReturn: false })) {
    const bytes = Buffer.from(chunk);
    chunks.push(bytes);
    size += bytes.length;
    if (size > maxBytes) break;
  }
  const head = Buffer.concat(chunks);
  if (body.readableEnded) return { head, body: Readable.from([head]) };
  body.unshift(head);
  return { head, body };
}
