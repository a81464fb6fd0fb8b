import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Dispatcher, request } from 'undici';
import { z } from 'zod';
import { DEFAULT_RETRY_AFTER_MS } from './error-codes.ts';
import {
  FileRefusedError,
  type SlackError,
  SlackRateLimitError,
  SlackRefusedError,
  SlackUnavailableError,
} from './errors.ts';
import { looksLikeHtml, skipBytes, withSizeCheck } from './file-stream.ts';
import type { RateLimitedClient } from './rate-limited-client.ts';
import { resumableStream } from './resumable-stream.ts';
import {
  decideOnFile,
  type FileDecision,
  isHtmlFile,
  type SlackFile,
  slackFileSchema,
} from './shared-file.ts';
import { mayReceiveToken } from './token-hosts.ts';

/** With which client files are asked for, and what a download is bound by. */
export interface FileDownloadsOptions {
  api: RateLimitedClient;
  /** Files over this are refused, in bytes. */
  maxBytes: number;
  slackApiUrl?: string | undefined;
  /** The longest silence before the answer and between two chunks, in ms. */
  idleMs?: number | undefined;
  /** How long a file is waited for that Slack is still working on, in ms. */
  processingMs?: number | undefined;
  dispatcher?: Dispatcher | undefined;
}

/** A file on its way. Read it to the end, leave the loop, or `leave` it unread: each frees the connection. */
export interface OpenFile {
  /** From the offset on. Ends with a FileRefused (`broken_off`, `changed`, `too_large`) where it must not be used. */
  stream: AsyncIterable<Uint8Array>;
  /** Of the whole file, in bytes; undefined when neither Slack's file object nor its answer tells. */
  sizeBytes: number | undefined;
  mime: string | undefined;
  /** The version of the file that Slack's answer names: its ETag, or when it was changed. */
  version: string | undefined;
  release(): void;
}

/** What is known of a shared file once Slack has been asked. */
export interface ResolvedFile {
  file: SlackFile;
  decision: Exclude<FileDecision, { do: 'ask' }>;
}

const IDLE_TIMEOUT_MS = 30_000;
/** Read ahead of whoever uses the bytes, so that the connection is not stopped after each chunk. */
const READ_AHEAD_BYTES = 1024 * 1024;
const PROCESSING_TIMEOUT_MS = 60_000;
/** How often a file is asked for that Slack is still working on. */
const POLL_INTERVAL_MS = 1_000;
/** Connections in a row that bring no byte, before a download is given up. */
const MAX_EMPTY_ATTEMPTS = 5;
const fileInfoSchema = z.looseObject({ file: slackFileSchema });
const DELETED_FILE_CODES = new Set(['file_not_found', 'file_deleted']);

/** Reads the files that people share. */
export class FileDownloads {
  readonly #options: FileDownloadsOptions;

  constructor(options: FileDownloadsOptions) {
    this.#options = options;
  }

  /**
   * What can be done with a shared file: asks files.info where the event brought only a stub, and waits for a file
   * that Slack is still working on; `onWait` hears of that. Throws a SlackError where Slack failed.
   */
  async resolve(
    file: SlackFile,
    options: { signal?: AbortSignal | undefined; onWait?: () => void } = {},
  ): Promise<ResolvedFile> {
    const { signal } = options;
    const until = performance.now() + (this.#options.processingMs ?? PROCESSING_TIMEOUT_MS);
    let known = file;
    let asked = false;
    for (;;) {
      const verdict = decideOnFile(known, this.#options);
      if (verdict.do === 'ask') {
        if (asked) return { file: known, decision: { do: 'refuse', reason: 'access_denied' } };
      } else {
        if (!isUnfinished(known, verdict) || performance.now() >= until)
          return { file: known, decision: verdict };
        options.onWait?.();
        await sleep(POLL_INTERVAL_MS, undefined, { signal });
      }
      try {
        known = await this.fileInfo(file.id, signal);
      } catch (error) {
        if (!(error instanceof FileRefusedError)) throw error;
        return { file: known, decision: { do: 'refuse', reason: error.reason } };
      }
      asked = true;
    }
  }

  /**
   * Reads a file from `offset` (bytes) on, over as many connections as it takes.
   * Throws a FileRefused where the file cannot be had, another SlackError where Slack failed.
   */
  async read(file: SlackFile, options: { offset?: number; signal?: AbortSignal } = {}): Promise<OpenFile> {
    const { offset = 0, signal } = options;
    const first = await this.open(file, options);
    const stream = resumableStream(first, {
      fileId: file.id,
      offset,
      maxEmptyAttempts: MAX_EMPTY_ATTEMPTS,
      pauseMs: 500,
      signal,
      reopen: (at) => this.open(file, { ...options, offset: at }),
    });
    return { ...first, stream };
  }

  /**
   * Opens a file from `offset` (bytes) on, once. Asks files.info first where the event brought only a stub.
   * Throws a FileRefused where the file cannot be had, another SlackError where Slack failed.
   */
  async open(file: SlackFile, options: { offset?: number; signal?: AbortSignal } = {}): Promise<OpenFile> {
    const { offset = 0, signal } = options;
    let known = file;
    let verdict = decideOnFile(known, this.#options);
    if (verdict.do === 'ask') {
      known = await this.fileInfo(file.id, signal);
      verdict = decideOnFile(known, this.#options);
    }
    if (verdict.do === 'ask') throw new FileRefusedError(file.id, 'access_denied');
    if (verdict.do === 'refuse') throw new FileRefusedError(file.id, verdict.reason);
    return await this.#openAt(known, { ...verdict, offset, signal });
  }

  /** The file object as Slack has it now. */
  async fileInfo(fileId: string, signal?: AbortSignal): Promise<SlackFile> {
    try {
      const answer = await this.#options.api.call(
        'files.info',
        { file: fileId },
        { schema: fileInfoSchema, signal },
      );
      return answer.file;
    } catch (error) {
      if (!(error instanceof SlackRefusedError)) throw error;
      throw new FileRefusedError(
        fileId,
        DELETED_FILE_CODES.has(error.slackCode) ? 'deleted' : 'access_denied',
        error,
      );
    }
  }

  async #openAt(
    file: SlackFile,
    from: { url: string; sizeBytes: number | undefined; offset: number; signal: AbortSignal | undefined },
  ): Promise<OpenFile> {
    const { idleMs = IDLE_TIMEOUT_MS, slackApiUrl, maxBytes: mostBytes, api, dispatcher } = this.#options;
    const { offset } = from;
    if (!mayReceiveToken(from.url, slackApiUrl)) throw new FileRefusedError(file.id, 'other_host');
    let answer: Dispatcher.ResponseData;
    try {
      answer = await request(from.url, {
        headers: {
          authorization: `Bearer ${api.installation.token}`,
          'accept-encoding': 'identity',
          ...(offset > 0 && { range: `bytes=${offset}-` }),
        },
        headersTimeout: idleMs,
        bodyTimeout: idleMs,
        highWaterMark: READ_AHEAD_BYTES,
        signal: from.signal ?? null,
        ...(dispatcher && { dispatcher }),
      });
    } catch (error) {
      if (from.signal?.aborted) throw error;
      throw downloadFailed(file, 'network', error);
    }
    try {
      const total = checkAnswer(file, answer, from);
      if ((total ?? 0) > mostBytes) throw new FileRefusedError(file.id, 'too_large');
      const whole = answer.statusCode === 206 ? answer.body : skipBytes(offset, answer.body);
      const stream = await this.#withContentCheck(file, whole, { total, offset, signal: from.signal });
      return {
        stream,
        sizeBytes: total,
        mime: file.mimetype ?? undefined,
        version: versionOf(answer),
        release: () => discard(answer.body),
      };
    } catch (error) {
      discard(answer.body);
      throw error;
    }
  }

  /** Looks at the first bytes before anybody uses them, and counts the rest. */
  async #withContentCheck(
    file: SlackFile,
    source: AsyncIterable<Uint8Array>,
    known: { total: number | undefined; offset: number; signal: AbortSignal | undefined },
  ): Promise<AsyncIterable<Uint8Array>> {
    const stream = withSizeCheck(source, { ...known, fileId: file.id, maxBytes: this.#options.maxBytes });
    if (known.offset > 0 || isHtmlFile(file)) return stream;
    const first = await stream.next();
    const text = /^text\//.test(file.mimetype ?? '') || file.mode === 'snippet';
    if (!first.done && !text && looksLikeHtml(first.value)) {
      await stream.return(undefined);
      throw new FileRefusedError(file.id, 'missing_scope');
    }
    return prepend(first, stream);
  }
}

/** Judges status and headers; gives the whole file's size in bytes where it is known. */
function checkAnswer(
  file: SlackFile,
  answer: Dispatcher.ResponseData,
  from: { sizeBytes: number | undefined; offset: number },
): number | undefined {
  const header = (name: string) => [answer.headers[name]].flat().join(',');
  const { statusCode: status } = answer;
  if (header('x-slack-meta').includes('acl_fail')) throw new FileRefusedError(file.id, 'missing_scope');
  if (status >= 300 && status < 400) throw new FileRefusedError(file.id, 'missing_scope');
  if (status === 401 || status === 403) throw new FileRefusedError(file.id, 'access_denied');
  if (status === 404 || status === 410) throw new FileRefusedError(file.id, 'deleted');
  if (status === 416) throw new FileRefusedError(file.id, 'changed');
  if (status === 429) {
    const seconds = Number.parseInt(header('retry-after'), 10);
    const pause = seconds >= 0 ? seconds * 1000 : DEFAULT_RETRY_AFTER_MS;
    throw new SlackRateLimitError({ method: `download of ${file.id}`, slackCode: 'ratelimited' }, pause);
  }
  if (status >= 500) throw downloadFailed(file, `http_${status}`);
  if (status !== 200 && status !== 206) throw new FileRefusedError(file.id, 'access_denied');
  if (header('content-type').startsWith('text/html') && !isHtmlFile(file)) {
    throw new FileRefusedError(file.id, 'missing_scope');
  }
  const total =
    status === 206 ? totalFromRange(file, header('content-range'), from.offset) : lengthOf(header);
  const promised = from.sizeBytes;
  if (total !== undefined && promised !== undefined && total !== promised) {
    // A sign-in page has not the size of the HTML file that it stands for.
    const page = isHtmlFile(file) && header('content-type').startsWith('text/html');
    throw new FileRefusedError(file.id, page ? 'missing_scope' : 'changed');
  }
  return total ?? promised;
}

function versionOf({ headers }: Dispatcher.ResponseData): string | undefined {
  return [headers.etag ?? headers['last-modified']].flat().join(',') || undefined;
}

/** Whether Slack may still be working on a file: it has no address, size or type yet. */
function isUnfinished(file: SlackFile, verdict: ResolvedFile['decision']): boolean {
  if (verdict.do === 'refuse') return verdict.reason === 'processing';
  return verdict.sizeBytes === undefined || !file.mimetype;
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

async function* prepend(
  first: IteratorResult<Uint8Array>,
  rest: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    if (first.done) return;
    yield first.value;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}

function downloadFailed(file: SlackFile, slackCode: string, cause?: unknown): SlackError {
  return new SlackUnavailableError(
    { method: `download of ${file.id}`, slackCode, outcome: 'none', cause },
    'Slack did not hand out the file; try again soon.',
  );
}

function discard(body: Readable): void {
  body.on('error', () => undefined);
  body.destroy();
}
