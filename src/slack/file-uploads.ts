import { once } from 'node:events';
import { Readable } from 'node:stream';
import { type Dispatcher, request } from 'undici';
import { z } from 'zod';
import { type SlackError, SlackLeaseError, SlackRefusedError, SlackUnavailableError } from './errors.ts';
import { assertLeaseHeld, type LeaseGuard } from './lease-guard.ts';
import type { RateLimitedClient } from './rate-limited-client.ts';
import { slackFileSchema } from './shared-file.ts';
import { mayReceiveToken } from './token-hosts.ts';

/** A file on its way to Slack. */
export interface StagedFile {
  name: string;
  /** For screen readers; 1,000 characters at most. */
  altText?: string | undefined;
  /** At least 1: Slack takes no empty file. */
  sizeBytes: number;
  /** Must open nothing before the first chunk is taken: where Slack does not take them, they are never begun. */
  content: AsyncIterable<Uint8Array>;
  /** Records the file's id before its bytes are sent, so that `whereabouts` can settle an unknown outcome later. */
  onFileId(fileId: string): Promise<void>;
  guard?: LeaseGuard | undefined;
}

/** Staged files that become visible together, in one message. */
export interface ShareRequest {
  channel: string;
  threadTs?: string | undefined;
  files: readonly { id: string; title: string }[];
  guard?: LeaseGuard | undefined;
}

/** A file that goes into a thread by itself. */
export type SlackUploadRequest = StagedFile & {
  channel: string;
  threadTs?: string | undefined;
  title?: string | undefined;
};

const uploadUrlSchema = z.looseObject({ upload_url: z.string(), file_id: z.string() });
const anyAnswerSchema = z.looseObject({});
const sharesSchema = z.record(z.string(), z.record(z.string(), z.array(z.looseObject({})))).optional();
const fileInfoSchema = z.looseObject({ file: slackFileSchema.extend({ shares: sharesSchema }) });

const IDLE_TIMEOUT_MS = 30_000;
const UPLOAD_METHOD = 'upload of a file';

/** Puts files into threads in Slack's three steps, without holding them in memory. */
export class FileUploads {
  readonly #api: RateLimitedClient;
  readonly #slackApiUrl: string | undefined;
  readonly #dispatcher: Dispatcher | undefined;

  constructor(options: {
    api: RateLimitedClient;
    slackApiUrl?: string | undefined;
    dispatcher?: Dispatcher | undefined;
  }) {
    this.#api = options.api;
    this.#slackApiUrl = options.slackApiUrl;
    this.#dispatcher = options.dispatcher;
  }

  /** Gives Slack a file's bytes; nobody sees it yet. Throws a SlackError, always with outcome `none`. */
  async stage(file: StagedFile): Promise<{ fileId: string }> {
    const { guard, name, sizeBytes, altText } = file;
    const { upload_url: url, file_id: fileId } = await this.#api.call(
      'files.getUploadURLExternal',
      { filename: name, length: sizeBytes, ...(altText !== undefined && { alt_txt: altText }) },
      { schema: uploadUrlSchema, guard },
    );
    await file.onFileId(fileId);
    await this.#sendBytes(url, file);
    return { fileId };
  }

  /** All three steps for one file. Throws a SlackError; after outcome `unknown` ask `whereabouts` before repeating. */
  async upload(file: SlackUploadRequest): Promise<{ fileId: string }> {
    const { channel, threadTs, guard, name, title = name } = file;
    const { fileId } = await this.stage(file);
    await this.share({ channel, threadTs, guard, files: [{ id: fileId, title }] });
    return { fileId };
  }

  /** Shows staged files. Throws a SlackError; after outcome `unknown` ask `whereabouts` before sharing again. */
  async share({ channel, threadTs, files, guard }: ShareRequest): Promise<void> {
    const thread = threadTs === undefined ? {} : { thread_ts: threadTs };
    await this.#api.call(
      'files.completeUploadExternal',
      { files, channel_id: channel, ...thread },
      { schema: anyAnswerSchema, guard },
    );
  }

  /**
   * What came of a file whose share has an unknown outcome: `completed` is one that Slack still looks through before it
   * shows it, or that people have deleted since.
   */
  async shareStatus(
    fileId: string,
    channel: string,
    guard?: LeaseGuard,
  ): Promise<'absent' | 'completed' | 'shared'> {
    try {
      const { file } = await this.#api.call(
        'files.info',
        { file: fileId },
        { schema: fileInfoSchema, guard },
      );
      const isShown = Object.values(file.shares ?? {}).some((places) => channel in places);
      return isShown ? 'shared' : 'completed';
    } catch (error) {
      if (error instanceof SlackRefusedError && error.slackCode === 'file_not_found') return 'absent';
      if (error instanceof SlackRefusedError && error.slackCode === 'file_deleted') return 'completed';
      throw error;
    }
  }

  /** Nobody sees the bytes before the upload is completed: outcome `none` whatever happens here. */
  async #sendBytes(url: string, upload: StagedFile): Promise<void> {
    const { guard } = upload;
    if (!mayReceiveToken(url, this.#slackApiUrl)) {
      throw new SlackRefusedError(
        { method: UPLOAD_METHOD, slackCode: 'other_host', outcome: 'none' },
        'Slack named an upload address that is not its own; check SLACK_API_URL.',
      );
    }
    assertLeaseHeld(UPLOAD_METHOD, guard);
    const body = Readable.from(upload.content, { objectMode: false });
    let status: number;
    try {
      // The request goes out with its first byte: a kept connection that waited for that might end meanwhile.
      await once(body, 'readable', { signal: guard?.signal });
      const answer = await request(url, {
        method: 'POST',
        headers: { 'content-type': 'application/octet-stream', 'content-length': String(upload.sizeBytes) },
        body,
        headersTimeout: IDLE_TIMEOUT_MS,
        bodyTimeout: IDLE_TIMEOUT_MS,
        signal: guard?.signal ?? null,
        ...(this.#dispatcher && { dispatcher: this.#dispatcher }),
      });
      status = answer.statusCode;
      await answer.body.dump();
    } catch (error) {
      body.destroy();
      if (guard?.signal.aborted)
        throw new SlackLeaseError({ method: UPLOAD_METHOD, outcome: 'none', cause: error });
      throw uploadFailed('network', error);
    }
    if (status !== 200) throw uploadFailed(`http_${status}`);
  }
}

function uploadFailed(slackCode: string, cause?: unknown): SlackError {
  return new SlackUnavailableError(
    { method: UPLOAD_METHOD, slackCode, outcome: 'none', cause },
    'Slack did not take the bytes; upload the file again.',
  );
}
