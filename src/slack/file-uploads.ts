import { once } from 'node:events';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { listOf } from '../calls/json.ts';
import { request } from '../calls/outbound-proxy.ts';
import type { LeaseGuard } from '../calls/retries-and-waits.ts';
import { slackFileSchema } from './downloadable-files.ts';
import {
  assertLeaseHeld,
  isPermanentRefusal,
  MessageGoneError,
  SlackError,
  SlackLeaseError,
  SlackRefusedError,
  SlackUnavailableError,
} from './errors.ts';
import { optional } from './field-schemas.ts';
import type { RateLimitedClient } from './rate-limits.ts';
import { mayReceiveToken } from './slack-client.ts';

export interface StagedFile {
  name: string;
  /** For screen readers; 1,000 characters at most. */
  altText?: string | undefined;
  /** At least 1: Slack refuses empty files. */
  sizeBytes: number;
  /** Must open nothing before the first chunk is read: if Slack refuses the upload, it is never read. */
  content: AsyncIterable<Uint8Array>;
  guard?: LeaseGuard | undefined;
}

/** Where files appear; without a channel, nowhere but in the blocks of our own messages. */
export interface SharePlace {
  channel?: string | undefined;
  threadTs?: string | undefined;
}

/** Staged files that appear together in one message. */
export interface ShareRequest extends SharePlace {
  files: readonly { id: string; title: string }[];
  /** The text of the message with the files, in mrkdwn. */
  comment?: string | undefined;
  guard?: LeaseGuard | undefined;
}

const uploadUrlSchema = z.looseObject({ upload_url: z.string(), file_id: z.string() });
const shareSchema = z.looseObject({ ts: z.string(), thread_ts: z.string().nullish() });
const placesSchema = z.record(z.string(), optional(listOf(shareSchema)));
const fileInfoSchema = z.looseObject({
  file: slackFileSchema.extend({ shares: optional(z.record(z.string(), optional(placesSchema))) }),
});

/** The silence (ms) that ends an upload, and how many of its bytes allow a millisecond more: Slack stores the file first. */
const IDLE_TIMEOUT_MS = 8_000;
const BYTES_PER_IDLE_MS = 1_000;
/** The pauses (ms) before each look for a shared file, half a minute in all: Slack scans it first. */
const SHOWN_CHECK_PAUSES_MS = [200, 500, 1_000, 2_000, 4_000, 8_000, 15_000];
const UPLOAD_METHOD = 'upload of a file';

/** Slack accepted these files and showed them to nobody. They are deleted, so that none of them appears later. */
export class FileNotShownError extends SlackRefusedError {
  readonly fileIds: readonly string[];

  constructor(fileIds: readonly string[]) {
    const call = { method: 'files.completeUploadExternal', slackCode: 'not_shown', outcome: 'none' } as const;
    super(call, 'Slack accepted the file and never showed it; show its contents in another way.');
    this.fileIds = fileIds;
  }
}

/** Shares files in threads in Slack's three steps, without holding them in memory. */
export class FileUploads {
  readonly #client: RateLimitedClient;
  readonly #slackApiUrl: string | undefined;

  constructor(client: RateLimitedClient, slackApiUrl?: string) {
    this.#client = client;
    this.#slackApiUrl = slackApiUrl;
  }

  /** Uploads a file's bytes; nobody sees the file yet. Record its id before it is shared. Throws a SlackError; whatever its outcome, the file may be uploaded again. */
  async stage(file: StagedFile): Promise<{ fileId: string }> {
    const { guard, name, sizeBytes, altText } = file;
    const { upload_url: url, file_id: fileId } = await this.#client.call(
      'files.getUploadURLExternal',
      { filename: name, length: sizeBytes, alt_txt: altText },
      { schema: uploadUrlSchema, guard },
    );
    await this.#sendBytes(url, file);
    return { fileId };
  }

  /**
   * Shows staged files, and waits until they appear or, without a channel, until blocks can show them. Throws a SlackError; after outcome `unknown`, call `shareOutcome`
   * before you share again. Throws FileNotShownError for those that do not appear in half a minute, and MessageGoneError if
   * the thread was deleted: Slack then shows the files in the channel, and the stray message is deleted.
   */
  async share({ channel, threadTs, files, comment, guard }: ShareRequest): Promise<void> {
    const args = { files, channel_id: channel, thread_ts: threadTs, initial_comment: comment };
    await this.#client.send('files.completeUploadExternal', args, { guard });
    const ids = files.map(({ id }) => id);
    const hidden = await this.#withdrawUnseen(ids, { channel, threadTs }, guard);
    if (hidden.length > 0) throw new FileNotShownError(hidden);
  }

  /**
   * What became of a share with an unknown outcome, once Slack has had its time to show the file. `absent`: share it again;
   * what Slack had accepted is deleted. Throws a SlackError, and MessageGoneError like `share`.
   */
  async shareOutcome(fileId: string, place: SharePlace, guard?: LeaseGuard): Promise<'absent' | 'shared'> {
    const where = await this.#whereIs(fileId, place, guard);
    if (where !== 'completed') return where;
    const hidden = await this.#withdrawUnseen([fileId], place, guard);
    return hidden.length === 0 ? 'shared' : 'absent';
  }

  /** Deletes a file, with the message that it alone makes. Throws a SlackError. */
  async delete(file: string): Promise<void> {
    await this.#client.send('files.delete', { file });
  }

  /** Waits until accepted files appear; deletes and returns those that Slack says it does not show. */
  async #withdrawUnseen(ids: readonly string[], place: SharePlace, guard?: LeaseGuard): Promise<string[]> {
    const awaited = new Set(ids);
    const missed = new Set<string>();
    for (const pauseMs of SHOWN_CHECK_PAUSES_MS) {
      const ms = pauseMs / this.#client.rateLimiter.pace;
      await sleep(ms, undefined, { signal: guard?.signal }).catch(() => undefined);
      for (const id of awaited) {
        const where = await this.#whereIs(id, place, guard).catch(shownUnlessPassing);
        if (where === 'shared') awaited.delete(id);
        else if (where !== undefined) missed.add(id);
      }
      if (awaited.size === 0) return [];
    }
    const hidden = [...awaited].filter((id) => missed.has(id));
    for (const file of hidden)
      await this.#client.send('files.delete', { file }, { guard }).catch(shownUnlessPassing);
    return hidden;
  }

  /** Where a file is. `completed`: Slack has accepted it and shows it to nobody, perhaps not yet. Throws like `shareOutcome`. */
  async #whereIs(
    fileId: string,
    { channel, threadTs }: SharePlace,
    guard?: LeaseGuard,
  ): Promise<'absent' | 'completed' | 'shared'> {
    const info = { schema: fileInfoSchema, guard };
    try {
      const { file } = await this.#client.call('files.info', { file: fileId }, info);
      // Slack knows the type of a file once it has processed it.
      if (channel === undefined) return file.mimetype ? 'shared' : 'completed';
      const shares = Object.values(file.shares ?? {}).flatMap((places) => places?.[channel] ?? []);
      const places = [file.channels, file.groups, file.ims].flatMap((ids) => ids ?? []);
      if (threadTs === undefined)
        return shares.length > 0 || places.includes(channel) ? 'shared' : 'completed';
      if (shares.length === 0) return 'completed';
      if (shares.some((share) => share.thread_ts === threadTs)) return 'shared';
      for (const { ts } of shares) await this.#client.send('chat.delete', { channel, ts });
    } catch (error) {
      const code = error instanceof SlackRefusedError ? error.slackCode : '';
      if (code === 'file_not_found' || code === 'file_deleted') return 'absent';
      throw error;
    }
    const call = { method: 'files.info', slackCode: 'thread_not_found', outcome: 'none' } as const;
    throw new MessageGoneError(call, 'The thread was deleted, and the stray files with it.');
  }

  /** Nobody sees the bytes before the upload is completed, so the outcome of any failure is `none`. */
  async #sendBytes(url: string, upload: StagedFile): Promise<void> {
    const { guard } = upload;
    if (!mayReceiveToken(url, this.#slackApiUrl)) {
      throw new SlackRefusedError(
        { method: UPLOAD_METHOD, slackCode: 'other_host', outcome: 'none' },
        'The upload address does not belong to Slack; check SLACK_API_URL.',
      );
    }
    assertLeaseHeld(UPLOAD_METHOD, guard);
    const body = Readable.from(upload.content, { objectMode: false });
    const idleMs = IDLE_TIMEOUT_MS + Math.ceil(upload.sizeBytes / BYTES_PER_IDLE_MS);
    let status: number;
    try {
      // Wait for the first byte before the request: a connection that waits for it might be closed.
      await once(body, 'readable', { signal: guard?.signal });
      const response = await request(url, {
        method: 'POST',
        headers: { 'content-type': 'application/octet-stream', 'content-length': String(upload.sizeBytes) },
        body,
        headersTimeout: idleMs,
        bodyTimeout: idleMs,
        signal: guard?.signal ?? null,
      });
      status = response.statusCode;
      await response.body.dump();
    } catch (error) {
      body.destroy();
      if (guard?.signal.aborted)
        throw new SlackLeaseError({ method: UPLOAD_METHOD, outcome: 'none', cause: error });
      throw uploadFailed('network', error);
    }
    if (status < 200 || status > 299) throw uploadFailed(`http_${status}`);
  }
}

/** What a failed look says: undefined if another one may say more; what Slack never says counts as shown. Throws other errors. */
function shownUnlessPassing(error: unknown): 'shared' | undefined {
  if (isPermanentRefusal(error)) return 'shared';
  if (error instanceof MessageGoneError || error instanceof SlackLeaseError) throw error;
  if (error instanceof SlackError) return undefined;
  throw error;
}

function uploadFailed(slackCode: string, cause?: unknown): SlackError {
  return new SlackUnavailableError(
    { method: UPLOAD_METHOD, slackCode, outcome: 'none', cause },
    'Slack did not accept the bytes; upload the file again.',
  );
}
