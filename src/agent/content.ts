import { Readable } from 'node:stream';
import type { Dialect } from './dialect.ts';
import { parseJson, valueAt } from './error-words.ts';
import { AgentAnswerError } from './errors.ts';
import type { Answer } from './exchange.ts';
import { type Links, linkCall } from './links.ts';

/** Bytes of a JSON answer that may be a link instead of the contents. */
const mostLinkBytes = 64 * 1024;

/** A file's contents, opened. Whoever gets it reads `body` to its end or destroys it. */
export interface FileContent {
  readonly body: Readable;
  /** From the answer's headers; null where they do not say. */
  readonly sizeBytes: number | null;
  readonly mimeType: string | null;
}

interface ContentContext {
  readonly dialect: Dialect;
  readonly links: Links;
  /** The service's address, for relative redirects. */
  readonly service: URL;
  readonly signal: AbortSignal | undefined;
  /** Asks for the file's size, which tells contents that look like a link from a link. */
  readonly sizeBytes: () => Promise<number>;
}

/** Opens the contents behind an answer that is the bytes, a redirect to them, or JSON with a link to them. */
export async function openContent(answer: Answer, context: ContentContext): Promise<FileContent> {
  const { dialect, links, signal } = context;
  const location = answer.header('location');
  if (answer.status >= 300 && location !== undefined) {
    answer.body.destroy();
    return await openLink(links, dialect, location, signal, context.service);
  }
  const json = answer.header('content-type')?.includes('json') === true;
  const size = sizeOf(answer);
  const maybeLink = json && (size === null || size <= mostLinkBytes);
  if (dialect.fileContent === 'bytes' || (dialect.fileContent === 'auto' && !maybeLink))
    return opened(answer);

  const { head, rest } = await readHead(answer.body, mostLinkBytes);
  const link = rest === null ? linkIn(head, dialect) : null;
  if (link !== null && (dialect.fileContent === 'link' || head.length !== (await context.sizeBytes()))) {
    return await openLink(links, dialect, link, signal);
  }
  if (dialect.fileContent === 'link') {
    throw new AgentAnswerError({
      sentence:
        "The answer to a request for a file's content holds no link; see the setting fileContent in AGENT_DIALECT.",
      outcome: 'refused',
      status: answer.status,
    });
  }
  return opened(answer, rest === null ? Readable.from([head]) : Readable.from(joined(head, rest)));
}

/** Opens a signed link. */
export async function openLink(
  links: Links,
  dialect: Dialect,
  link: string,
  signal: AbortSignal | undefined,
  base?: URL,
): Promise<FileContent> {
  return opened(await links.get(linkCall('download link', dialect), link, signal, base));
}

function opened(answer: Answer, body: Readable = answer.body): FileContent {
  return { body, sizeBytes: sizeOf(answer), mimeType: answer.header('content-type') ?? null };
}

function sizeOf(answer: Answer): number | null {
  const header = answer.header('content-length');
  return header !== undefined && /^\d+$/.test(header) ? Number(header) : null;
}

function linkIn(bytes: Buffer, dialect: Dialect): string | null {
  const parsed = parseJson(bytes.toString('utf8'));
  for (const place of dialect.fileContentUrlFields) {
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

async function* joined(head: Buffer, rest: AsyncIterator<unknown>): AsyncGenerator<unknown> {
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
