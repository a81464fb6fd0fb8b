import type { IncomingMessage, RequestListener } from 'node:http';
import { MAX_BODY_BYTES, RequestBodyReader } from './request-body-reader.ts';

/** How far Slack's clock may be ahead of ours, and behind (s). */
const MAX_AHEAD_SECONDS = 60;
const MAX_BEHIND_SECONDS = 5 * 60;
/** After how long a request that found no room may come again (s). */
const RETRY_AFTER_SECONDS = 5;

/** Why a request is refused. */
interface HttpRejection {
  status: number;
  why: string;
}

const STALE_TIMESTAMP = { status: 401, why: "The request's time is not now." };
const MISSING_SIGNATURE = { status: 401, why: 'The request is not signed.' };
const INVALID_BODY = { status: 400, why: 'The body holds no object.' };
const BODY_REJECTIONS = {
  too_large: { status: 413, why: 'The request is too large.' },
  busy: { status: 503, why: 'Too many requests are on their way.' },
};

/**
 * Refuses requests that Bolt's receiver does not, or only once it holds all of them: those without a stamp of about now
 * or without a signature, too large ones, those for which there is no room, and bodies that hold no object, over which
 * it trips where nobody can catch it. It finds the body in `rawBody`.
 */
export function withRequestValidation(
  listener: RequestListener,
  now: () => number = Date.now,
): RequestListener {
  const bodyReader = new RequestBodyReader();
  return (request, response) => {
    const reject = ({ status, why }: HttpRejection) => {
      if (status === 503) response.setHeader('retry-after', RETRY_AFTER_SECONDS);
      response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' });
      response.end(`${why}\n`);
    };
    const validate = async () => {
      if (request.method !== 'POST') return listener(request, response);
      if (!hasFreshTimestamp(request, now())) return reject(STALE_TIMESTAMP);
      if (!hasSignature(request)) return reject(MISSING_SIGNATURE);
      if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES)
        return reject(BODY_REJECTIONS.too_large);
      const body = await bodyReader.read(request);
      if (typeof body === 'string') return reject(BODY_REJECTIONS[body]);
      if (!isJsonObjectBody(body, request.headers['content-type'])) return reject(INVALID_BODY);
      listener(Object.assign(request, { rawBody: body }), response);
    };
    validate().catch(() => {
      if (response.headersSent) response.destroy();
      else reject({ status: 404, why: 'Not found' });
    });
  };
}

function hasFreshTimestamp({ headers }: IncomingMessage, now: number): boolean {
  const stamp = String(headers['x-slack-request-timestamp']);
  const ahead = Number(stamp) - now / 1_000;
  return /^\d+$/.test(stamp) && ahead <= MAX_AHEAD_SECONDS && ahead >= -MAX_BEHIND_SECONDS;
}

/** Whether the signature is Slack's, only Bolt can say, of the whole body. */
function hasSignature({ headers }: IncomingMessage): boolean {
  return /^v0=[\da-f]{64}$/.test(String(headers['x-slack-signature']));
}

/** By its first sign alone: what is no JSON in spite of it, Bolt refuses after it has looked at the signature. */
function isJsonObjectBody(body: Buffer, type: string | undefined): boolean {
  if (type?.startsWith('application/x-www-form-urlencoded') !== true)
    return startsObject(body.toString('utf8', 0, 100));
  const payload = new URLSearchParams(body.toString('utf8')).get('payload');
  return payload === null || startsObject(payload);
}

function startsObject(text: string): boolean {
  return text.trimStart().startsWith('{');
}
