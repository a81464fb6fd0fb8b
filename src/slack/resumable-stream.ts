import { setTimeout as sleep } from 'node:timers/promises';
import { SlackError, SlackRateLimitError } from './errors.ts';
import { FileRefusedError } from './shared-file.ts';

/** One connection's part of a file. */
export interface StreamSegment {
  stream: AsyncIterable<Uint8Array>;
  /** The file's version, as the server names it. */
  version: string | undefined;
  /** Frees the connection of an unread stream. */
  release(): void;
}

/** How a broken download is resumed. */
export interface ResumeOptions {
  fileId: string;
  /** Where the first segment starts, in bytes. */
  offset: number;
  /** Connections in a row without a byte before it gives up. */
  maxEmptyAttempts: number;
  /** The pause before the second of them (ms); doubles. */
  pauseMs: number;
  signal: AbortSignal | undefined;
  /** Opens the file again from `offset` on. */
  reopen(offset: number): Promise<StreamSegment>;
}

/**
 * The file's bytes over as many connections as it takes. Throws FileRefusedError: `changed` if the server
 * has another version of the file, `broken_off` if Slack does not deliver the rest.
 */
export async function* resumableStream(
  first: StreamSegment,
  options: ResumeOptions,
): AsyncGenerator<Uint8Array, undefined> {
  let at = options.offset;
  let segment: StreamSegment | undefined = first;
  for (let emptyAttempts = 0; ; emptyAttempts += 1) {
    try {
      segment ??= await options.reopen(at);
      if (segment.version !== first.version) {
        segment.release();
        throw new FileRefusedError(options.fileId, 'changed');
      }
      for await (const chunk of segment.stream) {
        at += chunk.byteLength;
        emptyAttempts = 0;
        yield chunk;
      }
      return undefined;
    } catch (error) {
      if (options.signal?.aborted || !canResume(error)) throw error;
      if (emptyAttempts >= options.maxEmptyAttempts)
        throw new FileRefusedError(options.fileId, 'broken_off', error);
      const requestedMs = error instanceof SlackRateLimitError ? error.retryAfterMs : 0;
      const pauseMs = emptyAttempts === 0 ? 0 : options.pauseMs * 2 ** (emptyAttempts - 1);
      await sleep(Math.max(requestedMs, pauseMs), undefined, { signal: options.signal });
      segment = undefined;
    }
  }
}

function canResume(error: unknown): boolean {
  if (error instanceof FileRefusedError) return error.reason === 'broken_off';
  return error instanceof SlackError && (error.code === 'throttled' || error.code === 'unavailable');
}
