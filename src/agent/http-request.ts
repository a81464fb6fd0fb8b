import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';

/** One HTTP request, as it goes out. */
export interface HttpRequest {
  readonly dispatcher: Dispatcher;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | Readable | undefined;
  readonly signal: AbortSignal;
  /** Milliseconds without a byte in either direction that break the exchange; 0 for no bound. */
  readonly idleMs: number;
  /** Called when the connection stands, just before the first byte leaves; an error that it throws stops it. */
  readonly beforeFirstByte?: (() => void) | undefined;
}

/** An answer whose body is still to be read, or destroyed. */
export interface HttpResponse {
  readonly status: number;
  header(name: string): string | undefined;
  readonly body: Readable;
}

/** An exchange without an answer; `started` tells whether a byte may have left. */
export class BrokenRequestError extends Error {
  readonly wasStarted: boolean;

  constructor(cause: unknown, started: boolean) {
    super('The exchange broke', { cause });
    this.wasStarted = started;
  }
}

/** Makes one request and answers when the headers are there. Follows no redirect. Throws BrokenExchange. */
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
      headers: sending.headers,
      body: typeof sending.body === 'object' ? toUndiciBody(sending.body) : (sending.body ?? null),
      signal: sending.signal,
      headersTimeout: sending.idleMs,
      bodyTimeout: sending.idleMs,
    });
    // undici tells a body that is destroyed before its end of an error; whoever reads it still gets its own.
    body.on('error', () => {});
    return {
      status: statusCode,
      header: (name) => {
        const value = headers[name.toLowerCase()];
        return Array.isArray(value) ? value[0] : value;
      },
      body,
    };
  } catch (cause) {
    throw new BrokenRequestError(cause, started);
  }
}

/** A body's text, at most `most` bytes of it; `whole` is false where it was longer. Goes on when `onBytes` does. */
export async function readText(
  body: Readable,
  most: number,
  onBytes?: (size: number) => Promise<void>,
): Promise<{ text: string; whole: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    await onBytes?.(bytes.length);
    chunks.push(bytes);
    if (size > most) break;
  }
  return { text: Buffer.concat(chunks).subarray(0, most).toString('utf8'), whole: size <= most };
}

function toUndiciBody(body: Uint8Array | Readable): Buffer | Readable {
  return body instanceof Uint8Array ? Buffer.from(body.buffer, body.byteOffset, body.byteLength) : body;
}

/** undici tells a handler when a request is about to be written; nothing else knows whether it left. */
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
      onRequestUpgrade: (...told) => handler.onRequestUpgrade?.(...told),
      onResponseStart: (...told) => handler.onResponseStart?.(...told),
      onResponseData: (...told) => handler.onResponseData?.(...told),
      onResponseEnd: (...told) => handler.onResponseEnd?.(...told),
      onResponseError: (...told) => handler.onResponseError?.(...told),
    });
  });
}
