import type { IncomingMessage, RequestListener } from 'node:http';
import { finished } from 'node:stream/promises';
import { MAX_KEPT_TABLE_BYTES } from '../slack/slack-message.ts';

/** The largest body of a request (bytes): a message with more of pasted tables than is kept of them still arrives. */
export const MAX_BODY_BYTES = 1.5 * MAX_KEPT_TABLE_BYTES;
/** The most memory for all bodies being read (bytes). */
const MAX_BUFFERED_BYTES = 32 * 1024 * 1024;
/** How far a request's time may be ahead of our clock, and behind it (s). */
const MAX_AHEAD_SECONDS = 60;
const MAX_BEHIND_SECONDS = 5 * 60;
/** After how long a request that did not fit may be repeated (s). */
const RETRY_AFTER_SECONDS = 5;

/** Why a request is rejected, with its answer; Bolt itself answers those of another signature. */
const REJECTIONS = {
  unsigned: { status: 401, why: 'The request is not signed.' },
  clock: { status: 401, why: 'The request is too old, or from the future.' },
  body: { status: 400, why: 'The body is not a JSON object.' },
  too_large: { status: 413, why: 'The request is too large.' },
  busy: { status: 503, why: 'Too many requests at once.' },
};

export type RequestRejection = keyof typeof REJECTIONS | 'signature';

/**
 * Rejects requests before Bolt's receiver reads them: with a stale timestamp or no signature, too large, beyond the
 * memory for request bodies, or with a body that is no JSON object (on which Bolt fails with an uncaught error). Passes
 * the body on in `rawBody`.
 */
export function withRequestValidation(
  listener: RequestListener,
  onRejected: (why: RequestRejection) => void = () => undefined,
): RequestListener {
  const readBody = createBodyReader();
  return (request, response) => {
    const answer = ({ status, why }: { status: number; why: string }) => {
      if (status === 503) response.setHeader('retry-after', RETRY_AFTER_SECONDS);
      response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' });
      response.end(`${why}\n`);
    };
    const reject = (why: keyof typeof REJECTIONS) => {
      onRejected(why);
      answer(REJECTIONS[why]);
    };
    const validate = async () => {
      if (request.method !== 'POST') return listener(request, response);
      if (!hasSignature(request)) return reject('unsigned');
      if (!hasFreshTimestamp(request)) return reject('clock');
      if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return reject('too_large');
      const body = await readBody(request);
      if (typeof body === 'string') return reject(body);
      if (!isJsonObjectBody(body, request.headers['content-type'])) return reject('body');
      response.once('finish', () => {
        if (response.statusCode === 401) onRejected('signature');
      });
      listener(Object.assign(request, { rawBody: body }), response);
    };
    validate().catch(() => {
      if (response.headersSent) response.destroy();
      else answer({ status: 404, why: 'Not found' });
    });
  };
}

function hasFreshTimestamp({ headers }: IncomingMessage): boolean {
  const stamp = String(headers['x-slack-request-timestamp']);
  const ahead = Number(stamp) - Date.now() / 1_000;
  return /^\d+$/.test(stamp) && ahead <= MAX_AHEAD_SECONDS && ahead >= -MAX_BEHIND_SECONDS;
}

/** Checks the form alone: Bolt verifies the signature against the whole body. */
function hasSignature({ headers }: IncomingMessage): boolean {
  return /^v0=[\da-f]{64}$/.test(String(headers['x-slack-signature']));
}

/** Checks the first character alone: Bolt rejects other invalid JSON, after it has verified the signature. */
function isJsonObjectBody(body: Buffer, type: string | undefined): boolean {
  if (type?.startsWith('application/x-www-form-urlencoded') !== true)
    return startsObject(body.toString('utf8', 0, 100));
  const payload = new URLSearchParams(body.toString('utf8')).get('payload');
  return payload === null || startsObject(payload);
}

function startsObject(text: string): boolean {
  return text.trimStart().startsWith('{');
}

/**
 * Reads bodies of requests that are not verified yet: a whole body, or why its read was aborted. When their memory is full,
 * the oldest is. Throws if the connection closes early.
 */
function createBodyReader(): (request: IncomingMessage) => Promise<Buffer | 'too_large' | 'busy'> {
  /** In the order in which they began. */
  const activeReads = new Set<{ bytes: number; abort(reason: 'too_large' | 'busy'): void }>();
  let bufferedBytes = 0;
  return async (request) => {
    const aborted = Promise.withResolvers<'too_large' | 'busy'>();
    const reading = { bytes: 0, abort: aborted.resolve };
    const chunks: Buffer[] = [];
    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      reading.bytes += chunk.length;
      bufferedBytes += chunk.length;
      if (reading.bytes > MAX_BODY_BYTES) reading.abort('too_large');
      const [oldest] = activeReads;
      if (bufferedBytes > MAX_BUFFERED_BYTES) oldest?.abort('busy');
    };
    activeReads.add(reading);
    request.on('data', onData);
    try {
      const whole = finished(request).then(() => Buffer.concat(chunks));
      const read = await Promise.race([aborted.promise, whole]);
      if (typeof read === 'string') request.pause();
      return read;
    } finally {
      activeReads.delete(reading);
      bufferedBytes -= reading.bytes;
      request.off('data', onData);
      chunks.length = 0;
    }
  };
}
