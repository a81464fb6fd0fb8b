import type { IncomingMessage } from 'node:http';

/** The largest body that Slack's requests may have (bytes); its own limits keep events far below. */
export const mostBodyBytes = 2 * 1024 * 1024;
/** What all bodies that are being read may hold together (bytes). */
const mostHeldBytes = 32 * 1024 * 1024;

/** A body that is being read. */
interface Reading {
  bytes: number;
  giveUp(why: 'too_large' | 'busy'): void;
}

/**
 * Reads bodies of requests, of which nobody knows yet who sent them: together they hold so much and no more. Where
 * there is no room, the one that has taken longest is given up, as Slack's own are there within moments.
 */
export class Bodies {
  /** The one that began first is first. */
  readonly #readings = new Set<Reading>();
  #held = 0;

  /** The whole body, or why it was given up. Throws where the request ends before. */
  read(request: IncomingMessage): Promise<Buffer | 'too_large' | 'busy'> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer | 'too_large' | 'busy'>();
    const chunks: Buffer[] = [];
    const done = () => {
      if (!this.#readings.delete(reading)) return;
      this.#held -= reading.bytes;
      request.off('data', take);
    };
    const reading: Reading = {
      bytes: 0,
      giveUp: (why) => {
        done();
        chunks.length = 0;
        request.pause();
        resolve(why);
      },
    };
    const take = (chunk: Buffer) => {
      chunks.push(chunk);
      reading.bytes += chunk.length;
      this.#held += chunk.length;
      if (reading.bytes > mostBodyBytes) reading.giveUp('too_large');
      const [longest] = this.#readings;
      if (this.#held > mostHeldBytes) longest?.giveUp('busy');
    };
    this.#readings.add(reading);
    request.on('data', take);
    request.once('end', () => {
      done();
      resolve(Buffer.concat(chunks));
    });
    request.once('close', () => {
      done();
      reject(new Error('The request ended too early.'));
    });
    request.once('error', reject);
    return promise;
  }
}
