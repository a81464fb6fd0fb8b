import { Readable } from 'node:stream';
import { type Dispatcher, request } from 'undici';
import { z } from 'zod';
import { LeaseEnded, Refused, type SlackError, Unavailable } from './errors.ts';
import { slackFile } from './files.ts';
import type { Guard } from './guard.ts';
import { mayGetToken } from './hosts.ts';
import type { PacedClient } from './paced-client.ts';

export interface UploadRequest {
  channel: string;
  threadTs?: string | undefined;
  name: string;
  title?: string | undefined;
  /** For screen readers; 1,000 characters at most. */
  altText?: string | undefined;
  /** At least 1: Slack takes no empty file. */
  sizeBytes: number;
  bytes: AsyncIterable<Uint8Array>;
  /** Records the file's id before people can see it, so that `shared` can settle an unknown outcome. */
  onId(fileId: string): Promise<void>;
  guard?: Guard | undefined;
}

const ticket = z.looseObject({ upload_url: z.string(), file_id: z.string() });
const anyAnswer = z.looseObject({});
const shares = z.record(z.string(), z.record(z.string(), z.array(z.looseObject({})))).optional();
const info = z.looseObject({ file: slackFile.extend({ shares }) });

const IDLE_MS = 30_000;
const METHOD = 'upload of a file';

/** Puts files into threads, without holding them in memory. */
export class Uploads {
  readonly #api: PacedClient;
  readonly #slackApiUrl: string | undefined;
  readonly #dispatcher: Dispatcher | undefined;

  constructor(options: {
    api: PacedClient;
    slackApiUrl?: string | undefined;
    dispatcher?: Dispatcher | undefined;
  }) {
    this.#api = options.api;
    this.#slackApiUrl = options.slackApiUrl;
    this.#dispatcher = options.dispatcher;
  }

  /** Shows a file in a thread. Throws a SlackError; after outcome `unknown` ask `shared` before you upload again. */
  async upload(request: UploadRequest): Promise<{ fileId: string }> {
    const { channel, guard, name } = request;
    const { upload_url: url, file_id: fileId } = await this.#api.call(
      'files.getUploadURLExternal',
      {
        filename: name,
        length: request.sizeBytes,
        ...(request.altText !== undefined && { alt_txt: request.altText }),
      },
      { schema: ticket, guard },
    );
    await request.onId(fileId);
    await this.#send(url, request);
    await this.#api.call(
      'files.completeUploadExternal',
      {
        files: [{ id: fileId, title: request.title ?? name }],
        channel_id: channel,
        ...(request.threadTs !== undefined && { thread_ts: request.threadTs }),
      },
      { schema: anyAnswer, guard },
    );
    return { fileId };
  }

  /** Whether a file of ours is in a channel by now: what came of an upload whose outcome is unknown. */
  async shared(fileId: string, channel: string, guard?: Guard): Promise<boolean> {
    return (await this.whereabouts(fileId, channel, guard)) === 'shared';
  }

  /** The same, but for a completed file that Slack still looks through before it shows it. */
  async whereabouts(
    fileId: string,
    channel: string,
    guard?: Guard,
  ): Promise<'absent' | 'completed' | 'shared'> {
    try {
      const { file } = await this.#api.call('files.info', { file: fileId }, { schema: info, guard });
      const isShown = Object.values(file.shares ?? {}).some((places) => channel in places);
      return isShown ? 'shared' : 'completed';
    } catch (error) {
      if (error instanceof Refused && error.slackCode === 'file_not_found') return 'absent';
      throw error;
    }
  }

  /** Nobody sees the bytes before the upload is completed: outcome `none` whatever happens here. */
  async #send(url: string, upload: UploadRequest): Promise<void> {
    const { guard } = upload;
    if (!mayGetToken(url, this.#slackApiUrl)) {
      throw new Refused(
        { method: METHOD, slackCode: 'other_host', outcome: 'none' },
        'Slack named an upload address that is not its own; check SLACK_API_URL.',
      );
    }
    if (guard !== undefined && (guard.signal.aborted || guard.remainingMs() <= 0)) throw ended(undefined);
    let status: number;
    try {
      const answer = await request(url, {
        method: 'POST',
        headers: { 'content-type': 'application/octet-stream', 'content-length': String(upload.sizeBytes) },
        body: Readable.from(upload.bytes, { objectMode: false }),
        headersTimeout: IDLE_MS,
        bodyTimeout: IDLE_MS,
        signal: guard?.signal ?? null,
        ...(this.#dispatcher && { dispatcher: this.#dispatcher }),
      });
      status = answer.statusCode;
      await answer.body.dump();
    } catch (error) {
      throw guard?.signal.aborted ? ended(error) : failed('network', error);
    }
    if (status !== 200) throw failed(`http_${status}`);
  }
}

function ended(cause: unknown): LeaseEnded {
  return new LeaseEnded({ method: METHOD, outcome: 'none', cause });
}

function failed(slackCode: string, cause?: unknown): SlackError {
  return new Unavailable(
    { method: METHOD, slackCode, outcome: 'none', cause },
    'Slack did not take the bytes; upload the file again.',
  );
}
