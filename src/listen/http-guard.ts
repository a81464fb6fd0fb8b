import type { RequestListener } from 'node:http';

/** The largest body that Slack's requests may have (bytes); its own limits keep events far below. */
export const mostBodyBytes = 2 * 1024 * 1024;
/** How far Slack's clock may be ahead of ours (s). Bolt refuses what is older than five minutes. */
const mostAheadSeconds = 60;

/** Refuses requests before they are read: too large ones, and those that claim to come from the future. */
export function guarded(listener: RequestListener, now: () => number = Date.now): RequestListener {
  return (request, response) => {
    const stamp = request.headers['x-slack-request-timestamp'];
    // A request without a stamp is left to the check of its signature.
    const ahead = stamp === undefined ? 0 : Number(stamp) - now() / 1_000;
    const length = Number(request.headers['content-length'] ?? 0);
    if (length > mostBodyBytes) refuse(413, 'The request is too large.');
    else if (!(ahead <= mostAheadSeconds)) refuse(401, "The request's time is not now.");
    else listener(request, response);

    function refuse(status: number, why: string): void {
      response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' });
      response.end(`${why}\n`);
    }
  };
}
