import type { IncomingMessage } from 'node:http';

/** The largest body of a request (bytes); Slack's own stay far below. */
export const MAX_BODY_BYTES = 2 * 1024 * 1024;
/** The most memory for all bodies being read (bytes). */
const MAX_BUFFERED_BYTES = 32 * 1024 * 1024;

/** A body that is being read. */
interface BodyRead {
  bytes: number;
  abort(reason: 'too_large' | 'busy'): void;
}

/**
 * Reads the bodies of requests that are not verified yet, within a fixed amount of memory. When that is full, the oldest
 * read is aborted: Slack's own requests arrive within moments.
 */
export class RequestBodyReader {
  /** In the order in which they began. */
  readonly #activeReads = new Set<BodyRead>();
  #bufferedBytes = 0;

  /** The whole body, or why it was aborted. Throws if the connection closes early. */
  read(request: IncomingMessage): Promise<Buffer | 'too_large' | 'busy'> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer | 'too_large' | 'busy'>();
    const chunks: Buffer[] = [];
    const finish = () => {
      if (!this.#activeReads.delete(reading)) return;
      this.#bufferedBytes -= reading.bytes;
      request.off('data', onData);
    };
    const reading: BodyRead = {
      bytes: 0,
      abort: (reason) => {
        finish();
        chunks.length = 0;
        request.pause();
        resolve(reason);
      },
    };
    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      reading.bytes += chunk.length;
      this.#bufferedBytes += chunk.length;
      if (reading.bytes > MAX_BODY_BYTES) reading.abort('too_large');
      const [oldest] = this.#activeReads;
      if (this.#bufferedBytes > MAX_BUFFERED_BYTES) oldest?.abort('busy');
    };
    this.#activeReads.add(reading);
    request.on('data', onData);
    request.once('end', () => {
      finish();
      resolve(Buffer.concat(chunks));
    });
    request.once('close', () => {
      finish();
      reject(new Error('The request ended too early.'));
    });
    request.once('error', reject);
    return promise;
  }
}
