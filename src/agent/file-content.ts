import { Readable } from 'node:stream';
import { AgentResponseError } from './errors.ts';
import type { HttpResponse } from './http-request.ts';
import { firstTextAt, parseJson } from './json-path.ts';
import type { ServiceOptions } from './service-options.ts';
import { linkCallContext, type SignedLinks } from './signed-links.ts';

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
    return await openLink(links, serviceOptions, location, signal, context.serviceUrl);
  }
  const json = response.header('content-type')?.includes('json') === true;
  const size = contentLength(response);
  const maybeLink = json && (size === null || size <= MAX_LINK_RESPONSE_BYTES);
  if (serviceOptions.fileContent === 'bytes' || (serviceOptions.fileContent === 'auto' && !maybeLink))
    return toFileContent(response);

  const { head, rest } = await readHead(response.body, MAX_LINK_RESPONSE_BYTES);
  const link =
    rest === null ? firstTextAt(parseJson(head.toString('utf8')), serviceOptions.fileContentUrlFields) : null;
  if (
    link !== null &&
    (serviceOptions.fileContent === 'link' || head.length !== (await context.sizeBytes()))
  ) {
    return await openLink(links, serviceOptions, link, signal);
  }
  if (serviceOptions.fileContent === 'link') {
    throw new AgentResponseError({
      sentence:
        "The agent service's response to a request for a file's content holds no link. " +
        'Check fileContent and fileContentUrlFields in AGENT_DIALECT.',
      outcome: 'refused',
      status: response.status,
    });
  }
  return toFileContent(response, rest === null ? Readable.from([head]) : Readable.from(rejoin(head, rest)));
}

/** Opens a signed link. */
export async function openLink(
  links: SignedLinks,
  serviceOptions: ServiceOptions,
  link: string,
  signal: AbortSignal | undefined,
  base?: URL,
): Promise<FileContent> {
  return toFileContent(await links.get(linkCallContext('download link', serviceOptions), link, signal, base));
}

function toFileContent(response: HttpResponse, body: Readable = response.body): FileContent {
  return { body, sizeBytes: contentLength(response), mimeType: response.header('content-type') ?? null };
}

function contentLength(response: HttpResponse): number | null {
  const header = response.header('content-length');
  return header !== undefined && /^\d+$/.test(header) ? Number(header) : null;
}

/** Reads up to `maxBytes`; `rest` is the stream's iterator if there is more. */
async function readHead(
  body: Readable,
  maxBytes: number,
): Promise<{ head: Buffer; rest: AsyncIterator<unknown> | null }> {
  const iterator = body[Symbol.asyncIterator]();
  const chunks: Buffer[] = [];
  let size = 0;
  for (;;) {
    const next = await iterator.next();
    if (next.done === true) return { head: Buffer.concat(chunks), rest: null };
    const chunk = Buffer.from(next.value);
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) return { head: Buffer.concat(chunks), rest: iterator };
  }
}

async function* rejoin(head: Buffer, rest: AsyncIterator<unknown>): AsyncGenerator<unknown> {
  try {
    yield head;
    for (;;) {
      const next = await rest.next();
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await rest.return?.();
  }
}
