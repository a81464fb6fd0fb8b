import type { Dispatcher } from 'undici';
import { parseRetryAfter } from '../calls/retry-after.ts';
import { SlackRateLimitError } from './errors.ts';
import { FileRefusedError, FileUnavailableError, isHtmlFile, type SlackFile } from './shared-file.ts';

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
    throw new SlackRateLimitError(
      { method: `download of ${file.id}`, slackCode: 'ratelimited' },
      retryAfterMs,
    );
  }
  if (status >= 500) throw new FileUnavailableError(file.id, `http_${status}`);
  if (status !== 200 && status !== 206) throw new FileRefusedError(file.id, 'access_denied');
  if (header('content-type').startsWith('text/html') && !isHtmlFile(file)) {
    throw new FileRefusedError(file.id, 'missing_scope');
  }
  const total =
    status === 206 ? totalFromRange(file, header('content-range'), from.offset) : lengthOf(header);
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

function lengthOf(header: (name: string) => string): number | undefined {
  const length = header('content-length');
  return /^\d+$/.test(length) ? Number(length) : undefined;
}

function totalFromRange(file: SlackFile, range: string, offset: number): number | undefined {
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(range) ?? [];
  if (start === undefined || Number(start) !== offset) throw new FileRefusedError(file.id, 'changed');
  return total === undefined || total === '*' ? undefined : Number(total);
}
