import type { RequestListener, ServerResponse } from 'node:http';
import type { ResultLinkDestination } from '../relay/replies/result-links.ts';
import { ownServicePage } from '../render/strings/index.ts';
import { escapeHtml, htmlPage } from '../render/text/escape.ts';

/** The response to an invalid link. */
export const UNKNOWN_LINK_TEXT = 'There is nothing at this address.\n';

const ERROR_RESPONSES = {
  unknown: [404, UNKNOWN_LINK_TEXT],
  expired: [410, 'This link no longer works. Press “Get fresh links” in the thread.\n'],
  unavailable: [503, 'The file is not available right now. Try again in a moment.\n'],
} as const;

/** Redirects our own result links to the file, or links there if the workspace chose the service; passes all other paths to `fallback`. */
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
        if (to.kind === 'found')
          return to.isOwnService ? askFirst(response, to.url) : redirect(response, to.url);
        const [status, text] = ERROR_RESPONSES[to.kind];
        response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' });
        response.end(text);
      });
    return undefined;
  };
}

function redirect(response: ServerResponse, url: string): void {
  response.writeHead(302, { location: url });
  response.end();
}

/** Names the host before a person goes there: our address must not vouch for a service that the operator did not choose. */
function askFirst(response: ServerResponse, url: string): void {
  const { title, text, open } = ownServicePage(new URL(url).host);
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'",
    'referrer-policy': 'no-referrer',
  });
  response.end(htmlPage(title, `${text} <a href="${escapeHtml(url)}">${open}</a>`));
}
