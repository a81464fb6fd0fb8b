import { setTimeout as sleep } from 'node:timers/promises';
import { FileRefusedError, SlackError, SlackRateLimitError } from './errors.ts';

/** One connection's part of a file. */
export interface StreamSegment {
  stream: AsyncIterable<Uint8Array>;
  /** The version of the file that the server names. */
  version: string | undefined;
  /** Frees the connection of a stream that is not read. */
  release(): void;
}

/** How a download that broke off is taken up again. */
export interface ResumeOptions {
  fileId: string;
  /** Where the first stretch begins, in bytes. */
  offset: number;
  /** Connections in a row that bring no byte, before it is given up. */
  maxEmptyAttempts: number;
  /** The pause before the second of them, in ms; doubles. */
  pauseMs: number;
  signal: AbortSignal | undefined;
  /** Opens the file again from `offset` on. */
  reopen(offset: number): Promise<StreamSegment>;
}

/**
 * The file's bytes over as many connections as it takes. Throws a FileRefused: `changed` where another version of the
 * file answers, `broken_off` where Slack does not hand out the rest.
 */
export async function* resumableStream(
  first: StreamSegment,
  resuming: ResumeOptions,
): AsyncGenerator<Uint8Array, undefined> {
  let at = resuming.offset;
  let stretch: StreamSegment | undefined = first;
  for (let inVain = 0; ; inVain += 1) {
    try {
      stretch ??= await resuming.reopen(at);
      if (stretch.version !== first.version) {
        stretch.release();
        throw new FileRefusedError(resuming.fileId, 'changed');
      }
      for await (const chunk of stretch.stream) {
        at += chunk.byteLength;
        inVain = 0;
        yield chunk;
      }
      return undefined;
    } catch (error) {
      if (resuming.signal?.aborted || !canResume(error)) throw error;
      if (inVain >= resuming.maxEmptyAttempts)
        throw new FileRefusedError(resuming.fileId, 'broken_off', error);
      const asked = error instanceof SlackRateLimitError ? error.retryAfterMs : 0;
      const pause = inVain === 0 ? 0 : resuming.pauseMs * 2 ** (inVain - 1);
      await sleep(Math.max(asked, pause), undefined, { signal: resuming.signal });
      stretch = undefined;
    }
  }
}

function canResume(error: unknown): boolean {
  if (error instanceof FileRefusedError) return error.reason === 'broken_off';
  return error instanceof SlackError && (error.code === 'throttled' || error.code === 'unavailable');
}
