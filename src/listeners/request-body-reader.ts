import type { IncomingMessage } from 'node:http';

/** The largest body that Slack's requests may have (bytes); its own limits keep events far below. */
export const MAX_BODY_BYTES = 2 * 1024 * 1024;
/** What all bodies that are being read may hold together (bytes). */
const MAX_BUFFERED_BYTES = 32 * 1024 * 1024;

/** A body that is being read. */
interface BodyRead {
  bytes: number;
  abort(why: 'too_large' | 'busy'): void;
}

/**
 * Reads bodies of requests, of which nobody knows yet who sent them: together they hold so much and no more. Where
 * there is no room, the one that has taken longest is given up, as Slack's own are there within moments.
 */
export class RequestBodyReader {
  /** The one that began first is first. */
  readonly #activeReads = new Set<BodyRead>();
  #bufferedBytes = 0;

  /** The whole body, or why it was given up. Throws where the request ends before. */
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
      abort: (why) => {
        finish();
        chunks.length = 0;
        request.pause();
        resolve(why);
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
