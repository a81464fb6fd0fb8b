import type { IncomingMessage, RequestListener } from 'node:http';
import { Bodies, mostBodyBytes } from './bodies.ts';

/** How far Slack's clock may be ahead of ours, and behind (s). */
const mostAheadSeconds = 60;
const mostBehindSeconds = 5 * 60;
/** After how long a request that found no room may come again (s). */
const againAfterSeconds = 5;

/** Why a request is refused. */
interface Refusal {
  status: number;
  why: string;
}

const notNow = { status: 401, why: "The request's time is not now." };
const unsigned = { status: 401, why: 'The request is not signed.' };
const nothing = { status: 400, why: 'The body holds no object.' };
const refusals = {
  too_large: { status: 413, why: 'The request is too large.' },
  busy: { status: 503, why: 'Too many requests are on their way.' },
};

/**
 * Refuses requests that Bolt's receiver does not, or only once it holds all of them: those without a stamp of about now
 * or without a signature, too large ones, those for which there is no room, and bodies that hold no object, over which
 * it trips where nobody can catch it. It finds the body in `rawBody`.
 */
export function guarded(listener: RequestListener, now: () => number = Date.now): RequestListener {
  const bodies = new Bodies();
  return (request, response) => {
    const refuse = ({ status, why }: Refusal) => {
      if (status === 503) response.setHeader('retry-after', againAfterSeconds);
      response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' });
      response.end(`${why}\n`);
    };
    const judge = async () => {
      if (request.method !== 'POST') return listener(request, response);
      if (!isOfNow(request, now())) return refuse(notNow);
      if (!hasSignature(request)) return refuse(unsigned);
      if (Number(request.headers['content-length'] ?? 0) > mostBodyBytes) return refuse(refusals.too_large);
      const body = await bodies.read(request);
      if (typeof body === 'string') return refuse(refusals[body]);
      if (!holdsObject(body, request.headers['content-type'])) return refuse(nothing);
      listener(Object.assign(request, { rawBody: body }), response);
    };
    judge().catch(() => {
      if (response.headersSent) response.destroy();
      else refuse({ status: 404, why: 'Not found' });
    });
  };
}

function isOfNow({ headers }: IncomingMessage, now: number): boolean {
  const stamp = String(headers['x-slack-request-timestamp']);
  const ahead = Number(stamp) - now / 1_000;
  return /^\d+$/.test(stamp) && ahead <= mostAheadSeconds && ahead >= -mostBehindSeconds;
}

/** Whether the signature is Slack's, only Bolt can say, of the whole body. */
function hasSignature({ headers }: IncomingMessage): boolean {
  return /^v0=[\da-f]{64}$/.test(String(headers['x-slack-signature']));
}

/** By its first sign alone: what is no JSON in spite of it, Bolt refuses after it has looked at the signature. */
function holdsObject(body: Buffer, type: string | undefined): boolean {
  if (type?.startsWith('application/x-www-form-urlencoded') !== true)
    return opensObject(body.toString('utf8', 0, 100));
  const payload = new URLSearchParams(body.toString('utf8')).get('payload');
  return payload === null || opensObject(payload);
}

function opensObject(text: string): boolean {
  return text.trimStart().startsWith('{');
}
