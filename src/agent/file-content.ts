import { Readable } from 'node:stream';
import { AgentError } from './errors.ts';
import type { HttpResponse } from './http-request.ts';
import { firstTextAt, parseJson } from './json-path.ts';
import type { ServiceOptions } from './service-options.ts';
import type { SignedLinks } from './signed-links.ts';

/** Bytes of a JSON response that may be a link instead of the contents. */
const MAX_LINK_RESPONSE_BYTES = 64 * 1024;

/** A file's open contents. The caller reads `body` to its end or destroys it. */
export interface FileContent {
  readonly body: Readable;
  /** From the headers; null if they do not say. */
  readonly sizeBytes: number | null;
  readonly mimeType: string | null;
}

interface ContentContext {
  readonly serviceOptions: ServiceOptions;
  readonly links: SignedLinks;
  /** The base of relative redirects. */
  readonly serviceUrl: URL;
  readonly signal: AbortSignal | undefined;
  /** The file's size: contents that look like a link have it, a link does not. */
  readonly sizeBytes: () => Promise<number>;
}

/** Opens the contents: the response holds the bytes, redirects to them, or is JSON with a link to them. */
export async function openContent(response: HttpResponse, context: ContentContext): Promise<FileContent> {
  const { serviceOptions, links, signal } = context;
  const location = response.header('location');
  if (response.status >= 300 && location !== undefined) {
    response.body.destroy();
    return await openLink(links, location, signal, context.serviceUrl);
  }
  const json = response.header('content-type')?.includes('json') === true;
  const size = contentLength(response);
  const maybeLink = json && (size === null || size <= MAX_LINK_RESPONSE_BYTES);
  if (serviceOptions.fileContent === 'bytes' || (serviceOptions.fileContent === 'auto' && !maybeLink))
    return toFileContent(response);

  const { head, body } = await peek(response.body, MAX_LINK_RESPONSE_BYTES);
  const link = firstTextAt(parseJson(head.toString('utf8')), serviceOptions.fileContentUrlFields);
  if (
    link !== null &&
    (serviceOptions.fileContent === 'link' || head.length !== (await context.sizeBytes()))
  ) {
    body.destroy();
    return await openLink(links, link, signal);
  }
  if (serviceOptions.fileContent === 'link') {
    body.destroy();
    throw new AgentError('not_understood', {
      sentence:
        "The agent service's response to a request for a file's content holds no link. " +
        'Check fileContent and fileContentUrlFields in AGENT_DIALECT.',
      outcome: 'refused',
      status: response.status,
    });
  }
  return toFileContent(response, body);
}

/** Opens a signed link; `base` resolves a relative one. */
export async function openLink(
  links: SignedLinks,
  link: string,
  signal: AbortSignal | undefined,
  base?: URL,
): Promise<FileContent> {
  return toFileContent(await links.get(link, signal, base));
}

function toFileContent(response: HttpResponse, body: Readable = response.body): FileContent {
  return { body, sizeBytes: contentLength(response), mimeType: response.header('content-type') ?? null };
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
