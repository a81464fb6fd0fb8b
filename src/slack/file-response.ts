import { createHash } from 'node:crypto';
import type { Dispatcher } from 'undici';
import { parseRetryAfter } from '../calls/retries-and-waits.ts';
import { FileRefusedError, FileUnavailableError, isHtmlFile, type SlackFile } from './downloadable-files.ts';
import { SlackRateLimitError } from './errors.ts';

/** Checks status and headers; returns the whole file's size in bytes, if known. */
export function checkResponse(
  file: SlackFile,
  response: Dispatcher.ResponseData,
  from: { sizeBytes: number | undefined; offset: number },
): number | undefined {
  const header = (name: string) => [response.headers[name]].flat().join(',');
  const { statusCode: status } = response;
  if (header('x-slack-meta').includes('acl_fail')) throw new FileRefusedError(file.id, 'missing_scope');
  if (status >= 300 && status < 400) throw new FileRefusedError(file.id, 'missing_scope');
  if (status === 401 || status === 403) throw new FileRefusedError(file.id, 'access_denied');
  if (status === 404 || status === 410) throw new FileRefusedError(file.id, 'deleted');
  if (status === 416) throw new FileRefusedError(file.id, 'changed');
  if (status === 429) {
    const retryAfterMs = parseRetryAfter(header('retry-after'));
    const call = { method: `download of ${file.id}`, slackCode: 'ratelimited' };
    throw new SlackRateLimitError(call, retryAfterMs);
  }
  if (status >= 500) throw new FileUnavailableError(file.id, `http_${status}`);
  if (status !== 200 && status !== 206) throw new FileRefusedError(file.id, 'access_denied');
  if (header('content-type').startsWith('text/html') && !isHtmlFile(file)) {
    throw new FileRefusedError(file.id, 'missing_scope');
  }
  const length = /^\d+$/.test(header('content-length')) ? Number(header('content-length')) : undefined;
  const total = status === 206 ? totalFromRange(file, header('content-range'), from.offset) : length;
  const announced = from.sizeBytes;
  if (total !== undefined && announced !== undefined && total !== announced) {
    // A sign-in page in place of an HTML file has another size.
    const isSignInPage = isHtmlFile(file) && header('content-type').startsWith('text/html');
    throw new FileRefusedError(file.id, isSignInPage ? 'missing_scope' : 'changed');
  }
  return total ?? announced;
}

/** The file's ETag, or when it was last modified. */
export function versionOf({ headers }: Dispatcher.ResponseData): string | undefined {
  return [headers.etag ?? headers['last-modified']].flat().join(',') || undefined;
}

function totalFromRange(file: SlackFile, range: string, offset: number): number | undefined {
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(range) ?? [];
  if (start === undefined || Number(start) !== offset) throw new FileRefusedError(file.id, 'changed');
  return total === undefined || total === '*' ? undefined : Number(total);
}

export interface ContentCheck {
  file: SlackFile;
  /** Where the stream starts in the file, in bytes. */
  offset: number;
  /** The whole file's size in bytes, if known. */
  total: number | undefined;
  maxBytes: number;
  signal: AbortSignal | undefined;
}

/** Yields the chunks. Throws FileRefusedError if there are more or fewer bytes than expected, or a web page instead. */
export async function* withContentCheck(
  source: AsyncIterable<Uint8Array>,
  { file, offset, total, maxBytes, signal }: ContentCheck,
): AsyncGenerator<Uint8Array, undefined> {
  const { id: fileId, mimetype, mode } = file;
  const mayBePage = isHtmlFile(file) || /^text\//.test(mimetype ?? '') || mode === 'snippet';
  let at = offset;
  try {
    for await (const chunk of source) {
      if (at === 0 && !mayBePage && looksLikeHtml(chunk)) throw new FileRefusedError(fileId, 'missing_scope');
      at += chunk.byteLength;
      if (total !== undefined && at > total) throw new FileRefusedError(fileId, 'changed');
      if (at > maxBytes) throw new FileRefusedError(fileId, 'too_large');
      yield chunk;
    }
  } catch (error) {
    if (error instanceof FileRefusedError || signal?.aborted) throw error;
    throw new FileRefusedError(fileId, 'broken_off', error);
  }
  if (at === 0) throw new FileRefusedError(fileId, 'empty');
  if (total !== undefined && at < total) throw new FileRefusedError(fileId, 'broken_off');
  return undefined;
}

/** The stream without its first bytes, for a server that does not support ranges. */
export async function* skipBytes(
  bytes: number,
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let left = bytes;
  for await (const chunk of source) {
    if (left >= chunk.byteLength) {
      left -= chunk.byteLength;
    } else {
      yield left === 0 ? chunk : chunk.subarray(left);
      left = 0;
    }
  }
}

/** Whether the bytes start like a web page, such as Slack's sign-in page. */
function looksLikeHtml(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 512)).toString(
    'latin1',
  );
  return /^(\u00ef\u00bb\u00bf)?\s*(<!doctype html|<html[\s>])/i.test(start);
}

/** Yields the bytes; once all have passed, `onEnd` gets their SHA-256 in hexadecimal digits. */
export async function* withDigest(
  bytes: AsyncIterable<Uint8Array>,
  onEnd: (sha256: string) => unknown,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  for await (const chunk of bytes) {
    hash.update(chunk);
    yield chunk;
  }
  await onEnd(hash.digest('hex'));
}

/** Yields the bytes. Throws if their number is not the size that Slack was told. */
export async function* withExactSize(
  bytes: AsyncIterable<Uint8Array>,
  sizeBytes: number,
  name: string,
): AsyncGenerator<Uint8Array> {
  let left = sizeBytes;
  for await (const chunk of bytes) {
    left -= chunk.length;
    if (left < 0) break;
    yield chunk;
  }
  if (left !== 0) throw new Error(`“${name}” does not have the size that the service announced.`);
}
