import { Readable } from 'node:stream';
import { firstTextAt, parseJson } from '../calls/json.ts';
import type { HttpResponse } from './http-request.ts';
import type { ServiceOptions } from './service-options.ts';
import type { SignedLinks } from './signed-links.ts';

/** Bytes of a JSON response that may be a link instead of the contents. */
const MAX_LINK_RESPONSE_BYTES = 64 * 1024;

interface ContentContext {
  readonly serviceOptions: ServiceOptions;
  readonly links: SignedLinks;
  /** The base of relative redirects. */
  readonly serviceUrl: URL;
  readonly signal: AbortSignal | undefined;
  /** The file's size: contents that look like a link have it, a link does not. */
  readonly sizeBytes: () => Promise<number | null>;
}

/**
 * Opens contents: bytes, a redirect to them, or JSON with a link. `ask` asks the service for them, again if a link has
 * expired. The caller reads or destroys the `body`.
 */
export async function openContent(
  ask: () => Promise<HttpResponse>,
  context: ContentContext,
): Promise<{ readonly body: Readable }> {
  return await context.links.renewingOnce(async () => await contentIn(await ask(), context));
}

async function contentIn(
  response: HttpResponse,
  { serviceOptions, links, serviceUrl, signal, sizeBytes }: ContentContext,
): Promise<{ readonly body: Readable }> {
  const location = response.header('location');
  if (response.status >= 300 && location !== undefined) {
    response.body.destroy();
    return await links.get(location, signal, serviceUrl);
  }
  const isJson = response.header('content-type')?.includes('json') === true;
  const size = contentLength(response);
  if (!isJson || (size !== null && size > MAX_LINK_RESPONSE_BYTES)) return response;

  const { head, body } = await peek(response.body, MAX_LINK_RESPONSE_BYTES);
  const link = firstTextAt(parseJson(head.toString('utf8')), serviceOptions.fileContentUrlFields);
  if (link === null || head.length === (await sizeBytes())) return { body };
  body.destroy();
  return await links.get(link, signal);
}

function contentLength(response: HttpResponse): number | null {
  const header = response.header('content-length');
  return header !== undefined && /^\d+$/.test(header) ? Number(header) : null;
}

/** Reads a little more than `maxBytes` at most. `body` still has all bytes; `head` is cut JSON if it is not the whole. */
async function peek(body: Readable, maxBytes: number): Promise<{ head: Buffer; body: Readable }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body.iterator({ destroyOnReturn: false })) {
    const bytes = Buffer.from(chunk);
    chunks.push(bytes);
    size += bytes.length;
    if (size > maxBytes) break;
  }
  const head = Buffer.concat(chunks);
  if (body.readableEnded) return { head, body: Readable.from([head]) };
  body.unshift(head);
  return { head, body };
}
