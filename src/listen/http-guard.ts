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
      if (!holdsObject(body.toString('utf8'), request.headers['content-type'])) return refuse(nothing);
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

async function read(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > mostBodyBytes) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

function holdsObject(text: string, type: string | undefined): boolean {
  if (type?.startsWith('application/x-www-form-urlencoded') !== true) return isObject(text);
  const payload = new URLSearchParams(text).get('payload');
  return payload === null || isObject(payload);
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
