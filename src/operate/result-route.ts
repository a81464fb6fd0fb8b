import type { RequestListener } from 'node:http';
import type { Destination } from '../relay/showing/result-links.ts';

/** What is said of a link that nobody made. */
export const unknownLink = 'There is nothing at this address.\n';

const answers = {
  unknown: [404, unknownLink],
  over: [410, 'This link does not work any more. Press “Get fresh links” in the thread.\n'],
  later: [503, 'The file cannot be reached right now. Try again in a moment.\n'],
} as const;

/** Sends browsers that follow a link of ours on to the file; everything else goes to `others`. */
export function resultRoute(
  path: string,
  find: (token: string) => Promise<Destination>,
  others: RequestListener | undefined,
): RequestListener {
  return (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (!pathname.startsWith(path)) {
      if (others !== undefined) return others(request, response);
      response.writeHead(404, { 'content-type': 'text/plain' });
      response.end('Not found\n');
      return undefined;
    }
    response.setHeader('x-robots-tag', 'noindex');
    const asked = request.method === 'GET' || request.method === 'HEAD';
    const found = asked ? find(pathname.slice(path.length)) : Promise.resolve({ kind: 'unknown' } as const);
    void found
      .catch(() => ({ kind: 'later' }) as const)
      .then((to) => {
        if (to.kind === 'there') {
          response.writeHead(302, { location: to.url });
          response.end();
          return;
        }
        const [status, text] = answers[to.kind];
        response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' });
        response.end(text);
      });
    return undefined;
  };
}
