import { Readable } from 'node:stream';
import { parseJson, valueAt } from './error-body.ts';
import { AgentResponseError } from './errors.ts';
import type { HttpResponse } from './http-request.ts';
import type { ServiceOptions } from './service-options.ts';
import { linkCallContext, type SignedLinks } from './signed-links.ts';

/** Bytes of a JSON answer that may be a link instead of the contents. */
const MAX_LINK_ANSWER_BYTES = 64 * 1024;

/** A file's contents, opened. Whoever gets it reads `body` to its end or destroys it. */
export interface FileContent {
  readonly body: Readable;
  /** From the answer's headers; null where they do not say. */
  readonly sizeBytes: number | null;
  readonly mimeType: string | null;
}

interface ContentContext {
  readonly serviceOptions: ServiceOptions;
  readonly links: SignedLinks;
  /** The service's address, for relative redirects. */
  readonly service: URL;
  readonly signal: AbortSignal | undefined;
  /** Asks for the file's size, which tells contents that look like a link from a link. */
  readonly sizeBytes: () => Promise<number>;
}

/** Opens the contents behind an answer that is the bytes, a redirect to them, or JSON with a link to them. */
export async function openContent(answer: HttpResponse, context: ContentContext): Promise<FileContent> {
  const { serviceOptions, links, signal } = context;
  const location = answer.header('location');
  if (answer.status >= 300 && location !== undefined) {
    answer.body.destroy();
    return await openLink(links, serviceOptions, location, signal, context.service);
  }
  const json = answer.header('content-type')?.includes('json') === true;
  const size = contentLength(answer);
  const maybeLink = json && (size === null || size <= MAX_LINK_ANSWER_BYTES);
  if (serviceOptions.fileContent === 'bytes' || (serviceOptions.fileContent === 'auto' && !maybeLink))
    return toFileContent(answer);

  const { head, rest } = await readHead(answer.body, MAX_LINK_ANSWER_BYTES);
  const link = rest === null ? linkInJson(head, serviceOptions) : null;
  if (
    link !== null &&
    (serviceOptions.fileContent === 'link' || head.length !== (await context.sizeBytes()))
  ) {
    return await openLink(links, serviceOptions, link, signal);
  }
  if (serviceOptions.fileContent === 'link') {
    throw new AgentResponseError({
      sentence:
        "The answer to a request for a file's content holds no link; see the setting fileContent in AGENT_DIALECT.",
      outcome: 'refused',
      status: answer.status,
    });
  }
  return toFileContent(answer, rest === null ? Readable.from([head]) : Readable.from(rejoin(head, rest)));
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

function toFileContent(answer: HttpResponse, body: Readable = answer.body): FileContent {
  return { body, sizeBytes: contentLength(answer), mimeType: answer.header('content-type') ?? null };
}

function contentLength(answer: HttpResponse): number | null {
  const header = answer.header('content-length');
  return header !== undefined && /^\d+$/.test(header) ? Number(header) : null;
}

function linkInJson(bytes: Buffer, serviceOptions: ServiceOptions): string | null {
  const parsed = parseJson(bytes.toString('utf8'));
  for (const place of serviceOptions.fileContentUrlFields) {
    const value = valueAt(parsed, place);
    if (typeof value === 'string' && value !== '') return value;
  }
  return null;
}

/** Reads up to `most` bytes; `rest` is the stream's iterator where there is more. */
async function readHead(
  body: Readable,
  most: number,
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
    if (size > most) return { head: Buffer.concat(chunks), rest: iterator };
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
