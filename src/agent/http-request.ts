import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { decodeBody, UNCOMPRESSED } from '../calls/content-coding.ts';
import { errors } from '../calls/outbound-proxy.ts';

/** The first attempt of a call that may be repeated ends after so many milliseconds of silence within it: its connection may be dead. */
export const FIRST_IDLE_MS = 8_000;

export interface HttpRequest {
  readonly dispatcher: Dispatcher;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Readable | undefined;
  /** The file that is asked for: its address may have another name. */
  readonly file?: { readonly name: string; readonly sizeBytes: number | null } | undefined;
  readonly signal: AbortSignal;
  /** Milliseconds without a byte in either direction that end the request; 0 for no limit. */
  readonly idleMs: number;
  /** The same between two chunks of the response; `idleMs` if left out. */
  readonly bodyIdleMs?: number | undefined;
  /** Called on the open connection just before the first byte is sent; throwing stops the request. */
  readonly beforeFirstByte?: (() => void) | undefined;
}

/** A response. The caller reads `body`, which is never compressed, or destroys it. */
export interface HttpResponse {
  /** What was asked for. */
  readonly url: URL;
  readonly status: number;
  header(name: string): string | undefined;
  readonly body: Readable;
  /** Whether the body came compressed: then its length is not that of the header. */
  readonly wasCompressed: boolean;
}

/**
 * A request without a response: of which a byte may have been sent (`started`) or none, or whose body could not be read from
 * its source; `cause` is then the source's own error.
 */
export class BrokenRequestError extends Error {
  readonly kind: 'started' | 'not_started' | 'unread_body';

  constructor(kind: BrokenRequestError['kind'], cause: unknown) {
    super(`The request failed without a response (${kind})`, { cause });
    this.kind = kind;
  }
}

/** Makes one request and resolves with the response's headers. Follows no redirect. Throws BrokenRequestError. */
export async function sendRequest(sending: HttpRequest): Promise<HttpResponse> {
  let started = false;
  const watched = interceptStart(sending.dispatcher, () => {
    sending.beforeFirstByte?.();
    started = true;
  });
  try {
    const { statusCode, headers, body } = await watched.request({
      origin: sending.url.origin,
      path: `${sending.url.pathname}${sending.url.search}`,
      method: sending.method,
      headers: { ...UNCOMPRESSED, ...sending.headers },
      body: sending.body ?? null,
      signal: sending.signal,
      headersTimeout: sending.idleMs,
      bodyTimeout: sending.bodyIdleMs ?? sending.idleMs,
    });
    // Destroying a body early emits an error, which must not go unhandled; a reader still gets its own.
    body.on('error', () => {});
    return {
      url: sending.url,
      status: statusCode,
      header: (name) => {
        const [value] = [headers[name.toLowerCase()]].flat();
        // Some servers write the names of files in UTF-8.
        return value && Buffer.from(value, 'latin1').toString();
      },
      ...decodeBody(body, headers, { ...sending.file, path: sending.url.pathname }),
    };
  } catch (cause) {
    throw new BrokenRequestError(started ? 'started' : 'not_started', cause);
  }
}

/** Whether a sent call failed at the head of its response: folded, too long or with two lengths to undici. What is no HTTP has none. */
export function isUnreadableHead(error: unknown): boolean {
  const { HTTPParserError, HeadersOverflowError, ResponseContentLengthMismatchError } = errors;
  if (!(error instanceof BrokenRequestError) || error.kind !== 'started') return false;
  const { cause } = error;
  if (cause instanceof HTTPParserError) return !cause.message.includes('Expected HTTP/');
  return cause instanceof HeadersOverflowError || cause instanceof ResponseContentLengthMismatchError;
}

/** Only undici's handler knows when a request is about to be written. */
function interceptStart(dispatcher: Dispatcher, onStart: () => void): Dispatcher {
  return dispatcher.compose((dispatch) => (options, handler) => {
    return dispatch(options, {
      onRequestStart: (controller, context) => {
        handler.onRequestStart?.(controller, context);
        if (controller.aborted) return;
        try {
          onStart();
        } catch (error) {
          controller.abort(error instanceof Error ? error : new Error(String(error)));
        }
      },
      onResponseStart: (...args) => handler.onResponseStart?.(...args),
      onResponseData: (...args) => handler.onResponseData?.(...args),
      onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
      onResponseError: (...args) => handler.onResponseError?.(...args),
    });
  });
}
