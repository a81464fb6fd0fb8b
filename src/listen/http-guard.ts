import type { IncomingMessage, RequestListener } from 'node:http';

/** The largest body that Slack's requests may have (bytes); its own limits keep events far below. */
export const mostBodyBytes = 2 * 1024 * 1024;
/** How far Slack's clock may be ahead of ours (s). Bolt refuses what is older than five minutes. */
const mostAheadSeconds = 60;

/** Why a request is refused. */
interface Refusal {
  status: number;
  why: string;
}

const tooLarge = { status: 413, why: 'The request is too large.' };
const notNow = { status: 401, why: "The request's time is not now." };
const nothing = { status: 400, why: 'The body holds no object.' };

/**
 * Refuses requests that Bolt's receiver does not: too large ones, those that claim to come from the future, and bodies
 * that hold no object, over which it trips where nobody can catch it. It finds the body in `rawBody`.
 */
export function guarded(listener: RequestListener, now: () => number = Date.now): RequestListener {
  return (request, response) => {
    const refuse = ({ status, why }: Refusal) => {
      response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' });
      response.end(`${why}\n`);
    };
    const judge = async () => {
      if (isAhead(request, now())) return refuse(notNow);
      if (Number(request.headers['content-length'] ?? 0) > mostBodyBytes) return refuse(tooLarge);
      if (request.method !== 'POST') return listener(request, response);
      const body = await read(request);
      if (body === undefined) return refuse(tooLarge);
      if (!holdsObject(body, request.headers['content-type'])) return refuse(nothing);
      listener(Object.assign(request, { rawBody: body }), response);
    };
    judge().catch(() => {
      if (response.headersSent) response.destroy();
      else refuse({ status: 404, why: 'Not found' });
    });
  };
}

/** A request without a stamp is left to the check of its signature. */
function isAhead({ headers }: IncomingMessage, now: number): boolean {
  const stamp = headers['x-slack-request-timestamp'];
  return stamp !== undefined && !(Number(stamp) - now / 1_000 <= mostAheadSeconds);
}

/** Undefined where the body is too large. */
function read(request: IncomingMessage): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= mostBodyBytes) return void chunks.push(chunk);
      request.pause();
      resolve(undefined);
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('close', () => reject(new Error('The request ended too early.')));
    request.once('error', reject);
  });
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
