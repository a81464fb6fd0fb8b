import type { Response } from 'express';
import type { ResultLinkDestination } from '../relay/replies/lasting-links.ts';
import { ownServicePage } from '../render/strings/index.ts';
import { escapeHtml, htmlPage } from '../render/text-format.ts';

/** The response to an invalid link. */
export const UNKNOWN_LINK_TEXT = 'There is nothing at this address.\n';

const ERROR_RESPONSES = {
  unknown: [404, UNKNOWN_LINK_TEXT],
  expired: [410, 'This link no longer works. Press “Get fresh links” in the thread.\n'],
  unavailable: [503, 'The file is not available right now. Try again in a moment.\n'],
} as const;

/** Redirects to the file, or links there if the workspace chose the service. */
export function respondToLink(response: Response, to: ResultLinkDestination): void {
  response.set('x-robots-tag', 'noindex');
  if (to.kind !== 'found') {
    const [status, text] = ERROR_RESPONSES[to.kind];
    response.status(status).type('text').send(text);
  } else if (to.isOwnService) askFirst(response, to.url);
  else response.writeHead(302, { location: to.url }).end();
}

/** Names the host before a person goes there: our address must not vouch for a service that the operator did not choose. */
function askFirst(response: Response, url: string): void {
  const { title, text, open } = ownServicePage(new URL(url).host);
  response.set('content-security-policy', "default-src 'none'");
  response.send(htmlPage(title, `${text} <a href="${escapeHtml(url)}">${open}</a>`));
}
