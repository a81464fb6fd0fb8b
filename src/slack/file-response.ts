import { createHash } from 'node:crypto';
import type { Dispatcher } from 'undici';
import { isTransientStatus, parseRetryAfter } from '../calls/retries-and-waits.ts';
import {
  type FileRefusalReason,
  FileRefusedError,
  FileUnavailableError,
  isHtmlFile,
  type SlackFile,
  unstoredKind,
} from './downloadable-files.ts';
import { SlackRateLimitError } from './errors.ts';
import { mayReceiveToken } from './slack-client.ts';

/** Slack's hosts for addresses that are signed, and need no token. */
const SIGNED_HOST = /^https:\/\/(?:[\w-]+\.)*slack-edge\.com\//;

/**
 * Where else a file is, as a response to `from` says: an organisation's files are at another host of Slack. Undefined for
 * its sign-in page, which names where the person came from, and for all other hosts.
 */
export function otherPlace(
  { statusCode, headers }: Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'>,
  from: string,
  slackApiUrl?: string,
): string | undefined {
  const location = statusCode >= 300 && statusCode < 400 ? [headers.location].flat()[0] : undefined;
  const url = location === undefined ? null : URL.parse(location, from);
  if (url === null || url.searchParams.has('redir')) return undefined;
  return mayReceiveToken(url.href, slackApiUrl) || SIGNED_HOST.test(url.href) ? url.href : undefined;
}

/** Checks status and headers; returns the whole file's size in bytes, if known. */
export function checkResponse(
  file: SlackFile,
  response: Dispatcher.ResponseData,
  from: Pick<ContentCheck, 'offset' | 'withheld'> & { sizeBytes: number | undefined },
): number | undefined {
  const { sizeBytes: announced, offset, withheld } = from;
  const header = (name: string) => [response.headers[name]].flat().join(',');
  const { statusCode: status } = response;
  if (header('x-slack-meta').includes('acl_fail')) throw notDelivered(file, withheld);
  if (status >= 300 && status < 400) throw notDelivered(file, withheld);
  if (status === 404 || status === 410) throw notDelivered(file, 'deleted');
  if (status === 416) throw new FileRefusedError(file.id, 'changed');
  if (status === 429) {
    const retryAfterMs = parseRetryAfter(header('retry-after'), header('date'));
    const call = { method: `download of ${file.id}`, slackCode: 'ratelimited' };
    throw new SlackRateLimitError(call, retryAfterMs);
  }
  if (isTransientStatus(status)) throw new FileUnavailableError(file.id, `http_${status}`);
  if (![200, 203, 206].includes(status)) throw notDelivered(file, 'access_denied');
  const length = /^\d+$/.test(header('content-length')) ? Number(header('content-length')) : undefined;
  const total = status === 206 ? totalFromRange(file, header('content-range'), offset) : length;
  const isPage = /^text\/html/i.test(header('content-type'));
  // A sign-in page in place of the file has another size.
  if (total !== undefined && announced !== undefined && total !== announced)
    throw new FileRefusedError(file.id, isPage ? withheld : 'changed');
  const isKnown = announced !== undefined || isHtmlFile(file) || unstoredKind(file) !== undefined;
  if (isPage && !isKnown) throw new FileRefusedError(file.id, withheld);
  return total ?? announced;
}

/** Slack does not deliver the item: of what it does not store, only that is known. */
function notDelivered(file: SlackFile, reason: FileRefusalReason): FileRefusedError {
  return new FileRefusedError(file.id, unstoredKind(file) ?? reason);
}

/** A file's ETag, without the marks that gateways change, and when it was last modified; '' where the response lacks one. */
export function versionOf({ headers }: Dispatcher.ResponseData): readonly string[] {
  return [headers.etag, headers['last-modified']].map((one) => String(one ?? '').replace(/^W\/|"/g, ''));
}

/** Whether two responses differ in the first of these that both have. */
export function isOtherVersion(one: readonly string[], other: readonly string[]): boolean {
  const index = one.findIndex((said, at) => said !== '' && other[at] !== '');
  return one[index] !== other[index];
}

function totalFromRange(file: SlackFile, range: string, offset: number): number | undefined {
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/i.exec(range) ?? [];
  if (start === undefined || Number(start) !== offset) throw new FileRefusedError(file.id, 'changed');
  return total === undefined || total === '*' ? undefined : Number(total);
}

export interface ContentCheck {
  file: SlackFile;
  /** Where the stream starts in the file, in bytes. */
  offset: number;
  /** The whole file's size in bytes, if known. */
  total: number | undefined;
  /** Whether that is the size that Slack's file object announces. */
  isAnnounced: boolean;
  maxBytes: number;
  signal: AbortSignal | undefined;
  /** Why Slack's sign-in page may come in place of the file. */
  withheld: FileRefusalReason;
}

/** Yields the chunks. Throws FileRefusedError if there are more or fewer bytes than expected, or another web page instead. */
export async function* withContentCheck(
  source: AsyncIterable<Uint8Array>,
  { file, offset, total, isAnnounced, maxBytes, signal, withheld }: ContentCheck,
): AsyncGenerator<Uint8Array, undefined> {
  const { id: fileId } = file;
  let at = offset;
  let isPage = false;
  try {
    for await (const chunk of source) {
      if (at === 0) isPage = isForeignPage(file, chunk);
      // What has the announced size is the file, such as a table in HTML that an instrument calls .xls.
      if (isPage && !isAnnounced) throw notDelivered(file, withheld);
      at += chunk.byteLength;
      if (total !== undefined && at > total)
        throw isPage ? notDelivered(file, withheld) : new FileRefusedError(fileId, 'changed');
      if (at > maxBytes) throw new FileRefusedError(fileId, 'too_large');
      yield chunk;
    }
  } catch (error) {
    if (error instanceof FileRefusedError || signal?.aborted) throw error;
    // Where the connection breaks after the last byte, nothing is missing.
    const isDecoders = error instanceof Error && 'errno' in error && !('syscall' in error);
    if (at !== total || isDecoders) throw new FileRefusedError(fileId, 'broken_off', error);
  }
  if (at === 0) throw new FileRefusedError(fileId, 'empty');
  if (total !== undefined && at < total)
    throw isPage ? notDelivered(file, withheld) : new FileRefusedError(fileId, 'broken_off');
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

/** Whether the first bytes are those of a web page that the file is not, such as Slack's sign-in page. */
function isForeignPage(file: SlackFile, bytes: Uint8Array): boolean {
  const { mimetype, mode } = file;
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 16_384)).toString(
    'latin1',
  );
  if (!/^(\u00ef\u00bb\u00bf)?\s*(<!doctype html|<html[\s>])/i.test(start)) return false;
  if (unstoredKind(file) !== undefined) return /<title>[^<]*\bslack\b/i.test(start);
  return !(isHtmlFile(file) || /^text\//.test(mimetype ?? '') || mode === 'snippet');
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

/** Yields the bytes. Throws if their number is not the size that Slack was told: what the log gets has no file's name. */
export async function* withExactSize(
  bytes: AsyncIterable<Uint8Array>,
  sizeBytes: number,
): AsyncGenerator<Uint8Array> {
  let left = sizeBytes;
  for await (const chunk of bytes) {
    left -= chunk.length;
    if (left < 0) break;
    yield chunk;
  }
  if (left !== 0) throw new Error('A file does not have the size that the service announced.');
}
