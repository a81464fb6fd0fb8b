import { setTimeout as sleep } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { z } from 'zod';
import { decodeBody, UNCOMPRESSED } from '../calls/content-coding.ts';
import { keptConnections, request } from '../calls/outbound-proxy.ts';
import { anySignal, DEAD_CONNECTION_MS, doubledMs, withSecondCall } from '../calls/retries-and-waits.ts';
import {
  decideOnFile,
  type FileDecision,
  FileRefusedError,
  FileUnavailableError,
  isUnfinished,
  PROCESSING_TIMEOUT_MS,
  type SlackFile,
  slackFileSchema,
} from './downloadable-files.ts';
import { SlackError, SlackRateLimitError, SlackRefusedError, SlackUnavailableError } from './errors.ts';
import {
  checkResponse,
  isOtherVersion,
  otherPlace,
  skipBytes,
  versionOf,
  withContentCheck,
} from './file-response.ts';
import type { RateLimitedClient } from './rate-limits.ts';
import { mayReceiveToken } from './slack-client.ts';

export interface FileDownloadsOptions {
  client: RateLimitedClient;
  /** Larger files are refused, in bytes. */
  maxBytes: number;
  slackApiUrl?: string | undefined;
  /** The longest wait for the response and between two chunks (ms). */
  idleMs?: number | undefined;
  /** How long to wait while Slack is processing a file (ms). */
  processingMs?: number | undefined;
}

/** An open file. Read it to the end, leave the loop, or `release` it unread: each frees the connection. */
export interface OpenFile {
  /** From the offset on. Throws FileRefusedError (such as `broken_off` or `changed`) if the file must not be used. */
  stream: AsyncIterable<Uint8Array>;
  /** Of the whole file, in bytes; undefined if neither Slack's file object nor its response says. */
  sizeBytes: number | undefined;
  /** The MIME type that the response names; '' if none. */
  mime: string;
  /** By `versionOf`. */
  version: readonly string[];
  release(): void;
}

export interface ResolvedFile {
  file: SlackFile;
  decision: Exclude<FileDecision, { do: 'ask' }>;
}

const IDLE_TIMEOUT_MS = 30_000;
/** Read ahead of the consumer, so that the connection does not pause after each chunk. */
const READ_AHEAD_BYTES = 1024 * 1024;
const POLL_INTERVAL_MS = 1_000;
/** Connections in a row without a byte before a download fails. */
const MAX_EMPTY_ATTEMPTS = 5;
/** The pause before the second of them (ms); doubles. */
const RESUME_PAUSE_MS = 500;
/** How often Slack may lead from one of its hosts to another. */
const MAX_REDIRECTS = 3;
const fileInfoSchema = z.looseObject({ file: slackFileSchema });

/** Downloads the files that people share. */
export class FileDownloads {
  readonly #options: FileDownloadsOptions;

  constructor(options: FileDownloadsOptions) {
    this.#options = options;
  }

  /**
   * Decides what to do with a shared file. Calls files.info if the event brought only a stub, and waits while Slack is
   * processing the file; `onWait` is called before each wait. Throws a SlackError if Slack fails.
   */
  async resolve(
    file: SlackFile,
    options: { signal?: AbortSignal | undefined; onWait?: () => void } = {},
  ): Promise<ResolvedFile> {
    const { signal } = options;
    const deadline = performance.now() + (this.#options.processingMs ?? PROCESSING_TIMEOUT_MS);
    let known = file;
    let isLookedUp = false;
    for (;;) {
      const decision = decideOnFile(known, this.#options);
      if (decision.do === 'ask') {
        if (isLookedUp) return { file: known, decision: { do: 'refuse', reason: 'access_denied' } };
      } else {
        if (!isUnfinished(known, decision, isLookedUp) || performance.now() >= deadline)
          return { file: known, decision };
        options.onWait?.();
        await sleep(POLL_INTERVAL_MS, undefined, { signal });
      }
      const found = await this.lookUp(file.id, signal);
      // What was shared where the bot is can only be unseen because it was deleted.
      if (typeof found === 'string')
        return { file: known, decision: { do: 'refuse', reason: found === 'unseen' ? 'deleted' : found } };
      known = found;
      isLookedUp = true;
    }
  }

  /**
   * A file's bytes from `offset` on, over as many connections as it takes. Throws FileRefusedError if the file cannot be
   * read (`changed` if the server has another version of it, `broken_off` if Slack does not deliver the rest), another
   * SlackError if Slack fails.
   */
  async *read(
    file: SlackFile,
    options: { offset?: number; signal?: AbortSignal } = {},
  ): AsyncGenerator<Uint8Array, undefined> {
    const { signal } = options;
    let at = options.offset ?? 0;
    let open: OpenFile | undefined = await this.open(file, options);
    const { version } = open;
    for (let emptyAttempts = 0; ; emptyAttempts += 1) {
      try {
        open ??= await this.open(file, { offset: at, ...(signal && { signal }) });
        if (isOtherVersion(open.version, version)) {
          open.release();
          throw new FileRefusedError(file.id, 'changed');
        }
        for await (const chunk of open.stream) {
          at += chunk.byteLength;
          emptyAttempts = 0;
          yield chunk;
        }
        return undefined;
      } catch (error) {
        if (signal?.aborted || !canResume(error)) throw error;
        if (emptyAttempts >= MAX_EMPTY_ATTEMPTS) throw new FileRefusedError(file.id, 'broken_off', error);
        const requestedMs = error instanceof SlackRateLimitError ? error.retryAfterMs : 0;
        const pauseMs = emptyAttempts === 0 ? 0 : doubledMs(RESUME_PAUSE_MS, emptyAttempts, IDLE_TIMEOUT_MS);
        await sleep(Math.max(requestedMs, pauseMs), undefined, { signal });
        open = undefined;
      }
    }
  }

  /**
   * Opens a file that was resolved from `offset` (bytes) on, once.
   * Throws FileRefusedError if the file cannot be read, another SlackError if Slack fails.
   */
  async open(file: SlackFile, options: { offset?: number; signal?: AbortSignal } = {}): Promise<OpenFile> {
    const { offset = 0, signal } = options;
    const { slackApiUrl, maxBytes, client } = this.#options;
    const isInScope = client.installation.missingScopes?.includes('files:read') === false;
    const withheld = isInScope ? 'access_denied' : 'missing_scope';
    const decision = decideOnFile(file, this.#options);
    if (decision.do !== 'download')
      throw new FileRefusedError(file.id, decision.do === 'ask' ? 'access_denied' : decision.reason);
    const { url, sizeBytes } = decision;
    if (!mayReceiveToken(url, slackApiUrl)) throw new FileRefusedError(file.id, 'other_host');
    const response = await this.#request(url, offset, signal).catch((error: unknown) => {
      throw signal?.aborted ? error : new FileUnavailableError(file.id, 'network', error);
    });
    try {
      const { body, wasCompressed } = decodeBody(response.body, response.headers, { sizeBytes });
      const isPart = response.statusCode === 206;
      if (wasCompressed) delete response.headers['content-length'];
      // What is left of compressed bytes cannot be read.
      if (wasCompressed && isPart) throw new FileRefusedError(file.id, 'broken_off');
      const total = checkResponse(file, response, { sizeBytes, offset, withheld });
      if ((total ?? 0) > maxBytes) throw new FileRefusedError(file.id, 'too_large');
      const whole = isPart ? body : skipBytes(offset, body);
      const check = { total, isAnnounced: sizeBytes !== undefined, offset, maxBytes, signal };
      const stream = withContentCheck(whole, { ...check, file, withheld });
      const release = () => response.body.destroy();
      const mime = [response.headers['content-type']].flat()[0] ?? '';
      return { stream, sizeBytes: total, mime, version: versionOf(response), release };
    } catch (error) {
      response.body.destroy();
      throw error;
    }
  }

  /** Asks for a file from `offset` on, also at the other hosts of Slack that its address leads to. */
  async #request(
    url: string,
    offset: number,
    signal: AbortSignal | undefined,
    redirectsLeft = MAX_REDIRECTS,
  ): Promise<Dispatcher.ResponseData> {
    const { idleMs = IDLE_TIMEOUT_MS, slackApiUrl, client } = this.#options;
    const hasToken = mayReceiveToken(url, slackApiUrl);
    const get = (ends: AbortController) =>
      request(url, {
        headers: {
          ...(hasToken && { authorization: `Bearer ${client.installation.token}` }),
          ...UNCOMPRESSED,
          ...(offset > 0 && { range: `bytes=${offset}-` }),
        },
        headersTimeout: idleMs,
        // What is missing then is asked for over another connection.
        bodyTimeout: Math.min(idleMs, DEAD_CONNECTION_MS),
        highWaterMark: READ_AHEAD_BYTES,
        signal: anySignal([signal, ends.signal]),
        dispatcher: keptConnections,
      });
    const response = await withSecondCall(get);
    response.body.on('error', () => undefined);
    const other = redirectsLeft > 0 ? otherPlace(response, url, slackApiUrl) : undefined;
    if (other === undefined) return response;
    response.body.destroy();
    return this.#request(other, offset, signal, redirectsLeft - 1);
  }

  /** What Slack knows of a file now, or why the bot has no access to it. Throws a SlackError if Slack fails. */
  async lookUp(
    id: string,
    signal?: AbortSignal,
  ): Promise<SlackFile | 'deleted' | 'unseen' | 'access_denied'> {
    try {
      const options = { schema: fileInfoSchema, signal };
      return (await this.#options.client.call('files.info', { file: id }, options)).file;
    } catch (error) {
      if (error instanceof SlackUnavailableError) throw new FileUnavailableError(id, error.slackCode, error);
      if (!(error instanceof SlackRefusedError)) throw error;
      if (error.slackCode === 'file_not_found') return 'unseen';
      return error.slackCode === 'file_deleted' ? 'deleted' : 'access_denied';
    }
  }
}

function canResume(error: unknown): boolean {
  if (error instanceof FileRefusedError) return error.reason === 'broken_off';
  return error instanceof SlackError && (error.code === 'throttled' || error.code === 'unavailable');
}
