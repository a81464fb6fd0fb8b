import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Dispatcher, request } from 'undici';
import { z } from 'zod';
import { FileRefused, Refused, type SlackError, Throttled, Unavailable } from './errors.ts';
import { measured, startsLikeHtml, withoutFirst } from './file-stream.ts';
import { type FileVerdict, isHtml, judgeFile, type SlackFile, slackFile } from './files.ts';
import { mayGetToken } from './hosts.ts';
import type { PacedClient } from './paced-client.ts';
import { resumedStream } from './resumed-stream.ts';
import { DEFAULT_PAUSE_MS } from './verdict.ts';

/** With which client files are asked for, and what a download is bound by. */
export interface DownloadsOptions {
  api: PacedClient;
  /** Files over this are refused, in bytes. */
  mostBytes: number;
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
  leave(): void;
}

/** What is known of a shared file once Slack has been asked. */
export interface KnownFile {
  file: SlackFile;
  verdict: Exclude<FileVerdict, { do: 'ask' }>;
}

const IDLE_MS = 30_000;
/** Read ahead of whoever uses the bytes, so that the connection is not stopped after each chunk. */
const AHEAD_BYTES = 1024 * 1024;
const PROCESSING_MS = 60_000;
/** How often a file is asked for that Slack is still working on. */
const ASK_AGAIN_MS = 1_000;
/** Connections in a row that bring no byte, before a download is given up. */
const MOST_IN_VAIN = 5;
const infoAnswer = z.looseObject({ file: slackFile });
const GONE = new Set(['file_not_found', 'file_deleted']);

/** Reads the files that people share. */
export class Downloads {
  readonly #options: DownloadsOptions;

  constructor(options: DownloadsOptions) {
    this.#options = options;
  }

  /**
   * What can be done with a shared file: asks files.info where the event brought only a stub, and waits for a file
   * that Slack is still working on; `onWait` hears of that. Throws a SlackError where Slack failed.
   */
  async look(
    file: SlackFile,
    options: { signal?: AbortSignal | undefined; onWait?: () => void } = {},
  ): Promise<KnownFile> {
    const { signal } = options;
    const until = performance.now() + (this.#options.processingMs ?? PROCESSING_MS);
    let known = file;
    let asked = false;
    for (;;) {
      const verdict = judgeFile(known, this.#options);
      if (verdict.do === 'ask') {
        if (asked) return { file: known, verdict: { do: 'refuse', reason: 'access_denied' } };
      } else {
        if (!isUnfinished(known, verdict) || performance.now() >= until) return { file: known, verdict };
        options.onWait?.();
        await sleep(ASK_AGAIN_MS, undefined, { signal });
      }
      try {
        known = await this.info(file.id, signal);
      } catch (error) {
        if (!(error instanceof FileRefused)) throw error;
        return { file: known, verdict: { do: 'refuse', reason: error.reason } };
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
    const stream = resumedStream(first, {
      fileId: file.id,
      offset,
      mostInVain: MOST_IN_VAIN,
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
    let verdict = judgeFile(known, this.#options);
    if (verdict.do === 'ask') {
      known = await this.info(file.id, signal);
      verdict = judgeFile(known, this.#options);
    }
    if (verdict.do === 'ask') throw new FileRefused(file.id, 'access_denied');
    if (verdict.do === 'refuse') throw new FileRefused(file.id, verdict.reason);
    return await this.#open(known, { ...verdict, offset, signal });
  }

  /** The file object as Slack has it now. */
  async info(fileId: string, signal?: AbortSignal): Promise<SlackFile> {
    try {
      const answer = await this.#options.api.call(
        'files.info',
        { file: fileId },
        { schema: infoAnswer, signal },
      );
      return answer.file;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      throw new FileRefused(fileId, GONE.has(error.slackCode) ? 'deleted' : 'access_denied', error);
    }
  }

  async #open(
    file: SlackFile,
    from: { url: string; sizeBytes: number | undefined; offset: number; signal: AbortSignal | undefined },
  ): Promise<OpenFile> {
    const { idleMs = IDLE_MS, slackApiUrl, mostBytes, api, dispatcher } = this.#options;
    const { offset } = from;
    if (!mayGetToken(from.url, slackApiUrl)) throw new FileRefused(file.id, 'other_host');
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
        highWaterMark: AHEAD_BYTES,
        signal: from.signal ?? null,
        ...(dispatcher && { dispatcher }),
      });
    } catch (error) {
      if (from.signal?.aborted) throw error;
      throw unavailable(file, 'network', error);
    }
    try {
      const total = judgeAnswer(file, answer, from);
      if ((total ?? 0) > mostBytes) throw new FileRefused(file.id, 'too_large');
      const whole = answer.statusCode === 206 ? answer.body : withoutFirst(offset, answer.body);
      const stream = await this.#checked(file, whole, { total, offset, signal: from.signal });
      return {
        stream,
        sizeBytes: total,
        mime: file.mimetype ?? undefined,
        version: versionOf(answer),
        leave: () => discard(answer.body),
      };
    } catch (error) {
      discard(answer.body);
      throw error;
    }
  }

  /** Looks at the first bytes before anybody uses them, and counts the rest. */
  async #checked(
    file: SlackFile,
    source: AsyncIterable<Uint8Array>,
    known: { total: number | undefined; offset: number; signal: AbortSignal | undefined },
  ): Promise<AsyncIterable<Uint8Array>> {
    const stream = measured(source, { ...known, fileId: file.id, mostBytes: this.#options.mostBytes });
    if (known.offset > 0 || isHtml(file)) return stream;
    const first = await stream.next();
    const text = /^text\//.test(file.mimetype ?? '') || file.mode === 'snippet';
    if (!first.done && !text && startsLikeHtml(first.value)) {
      await stream.return(undefined);
      throw new FileRefused(file.id, 'missing_scope');
    }
    return withFirst(first, stream);
  }
}

/** Judges status and headers; gives the whole file's size in bytes where it is known. */
function judgeAnswer(
  file: SlackFile,
  answer: Dispatcher.ResponseData,
  from: { sizeBytes: number | undefined; offset: number },
): number | undefined {
  const header = (name: string) => [answer.headers[name]].flat().join(',');
  const { statusCode: status } = answer;
  if (header('x-slack-meta').includes('acl_fail')) throw new FileRefused(file.id, 'missing_scope');
  if (status >= 300 && status < 400) throw new FileRefused(file.id, 'missing_scope');
  if (status === 401 || status === 403) throw new FileRefused(file.id, 'access_denied');
  if (status === 404 || status === 410) throw new FileRefused(file.id, 'deleted');
  if (status === 416) throw new FileRefused(file.id, 'changed');
  if (status === 429) {
    const seconds = Number.parseInt(header('retry-after'), 10);
    const pause = seconds >= 0 ? seconds * 1000 : DEFAULT_PAUSE_MS;
    throw new Throttled({ method: `download of ${file.id}`, slackCode: 'ratelimited' }, pause);
  }
  if (status >= 500) throw unavailable(file, `http_${status}`);
  if (status !== 200 && status !== 206) throw new FileRefused(file.id, 'access_denied');
  if (header('content-type').startsWith('text/html') && !isHtml(file)) {
    throw new FileRefused(file.id, 'missing_scope');
  }
  const total = status === 206 ? totalOfRange(file, header('content-range'), from.offset) : lengthOf(header);
  const promised = from.sizeBytes;
  if (total !== undefined && promised !== undefined && total !== promised) {
    // A sign-in page has not the size of the HTML file that it stands for.
    const page = isHtml(file) && header('content-type').startsWith('text/html');
    throw new FileRefused(file.id, page ? 'missing_scope' : 'changed');
  }
  return total ?? promised;
}

function versionOf({ headers }: Dispatcher.ResponseData): string | undefined {
  return [headers.etag ?? headers['last-modified']].flat().join(',') || undefined;
}

/** Whether Slack may still be working on a file: it has no address, size or type yet. */
function isUnfinished(file: SlackFile, verdict: KnownFile['verdict']): boolean {
  if (verdict.do === 'refuse') return verdict.reason === 'processing';
  return verdict.sizeBytes === undefined || !file.mimetype;
}

function lengthOf(header: (name: string) => string): number | undefined {
  const length = header('content-length');
  return /^\d+$/.test(length) ? Number(length) : undefined;
}

function totalOfRange(file: SlackFile, range: string, offset: number): number | undefined {
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(range) ?? [];
  if (start === undefined || Number(start) !== offset) throw new FileRefused(file.id, 'changed');
  return total === undefined || total === '*' ? undefined : Number(total);
}

async function* withFirst(
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

function unavailable(file: SlackFile, slackCode: string, cause?: unknown): SlackError {
  return new Unavailable(
    { method: `download of ${file.id}`, slackCode, outcome: 'none', cause },
    'Slack did not hand out the file; try again soon.',
  );
}

function discard(body: Readable): void {
  body.on('error', () => undefined);
  body.destroy();
}
