import type { RequestListener } from 'node:http';
import type { ResultLinkDestination } from '../relay/replies/result-link-access.ts';

/** The response to an invalid link. */
export const UNKNOWN_LINK_TEXT = 'There is nothing at this address.\n';

const ERROR_RESPONSES = {
  unknown: [404, UNKNOWN_LINK_TEXT],
  expired: [410, 'This link no longer works. Press “Get fresh links” in the thread.\n'],
  unavailable: [503, 'The file is not available right now. Try again in a moment.\n'],
} as const;

/** Redirects our own result links to the file; passes all other paths to `fallback`. */
export function createResultLinkRoute(
  path: string,
  findDestination: (token: string, signal: AbortSignal) => Promise<ResultLinkDestination>,
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
    const left = new AbortController();
    response.once('close', () => left.abort());
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const found = isRead
      ? findDestination(pathname.slice(path.length), left.signal)
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
