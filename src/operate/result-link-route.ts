import type { RequestListener } from 'node:http';
import type { ResultLinkDestination } from '../relay/replies/result-links.ts';

/** What is said of a link that nobody made. */
export const UNKNOWN_LINK_TEXT = 'There is nothing at this address.\n';

const ERROR_RESPONSES = {
  unknown: [404, UNKNOWN_LINK_TEXT],
  expired: [410, 'This link does not work any more. Press “Get fresh links” in the thread.\n'],
  unavailable: [503, 'The file cannot be reached right now. Try again in a moment.\n'],
} as const;

/** Sends browsers that follow a link of ours on to the file; everything else goes to `others`. */
export function createResultLinkRoute(
  path: string,
  findDestination: (token: string) => Promise<ResultLinkDestination>,
  fallback: RequestListener | undefined,
): RequestListener {
  return (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (!pathname.startsWith(path)) {
      if (fallback !== undefined) return fallback(request, response);
      response.writeHead(404, { 'content-type': 'text/plain' });
      response.end('Not found\n');
      return undefined;
    }
    response.setHeader('x-robots-tag', 'noindex');
    const asked = request.method === 'GET' || request.method === 'HEAD';
    const found = asked
      ? findDestination(pathname.slice(path.length))
      : Promise.resolve({ kind: 'unknown' } as const);
    void found
      .catch(() => ({ kind: 'unavailable' }) as const)
      .then((to) => {
        if (to.kind === 'found') {
          response.writeHead(302, { location: to.url });
          response.end();
          return;
        }
        const [status, text] = ERROR_RESPONSES[to.kind];
        response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' });
        response.end(text);
      });
    return undefined;
  };
}
