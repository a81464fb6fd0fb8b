import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';

const checkMs = 10_000;
const answerMs = 5_000;
const retryMs = { first: 200, longest: 5_000 };

/** What a listener tells. */
export interface Hearer {
  heard(payload: string): void;
  /** Told after each connect: what was said before may have been missed. */
  connected(): void;
}

/** Listens on one channel of LISTEN/NOTIFY over a connection of its own, which it makes anew when it breaks. */
export class Listener {
  readonly #settings: pg.ClientConfig;
  readonly #channel: string;
  readonly #hearer: Hearer;
  readonly #log: Logger;
  readonly #closing = new AbortController();
  readonly #loop: Promise<void>;

  constructor(settings: pg.ClientConfig, channel: string, hearer: Hearer, log: Logger) {
    this.#settings = settings;
    this.#channel = channel;
    this.#hearer = hearer;
    this.#log = log;
    this.#loop = this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#loop;
  }

  async #run(): Promise<void> {
    let waitMs = retryMs.first;
    while (!this.#closing.signal.aborted) {
      try {
        await this.#listen(() => {
          waitMs = retryMs.first;
        });
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        this.#log.warn(
          { reason },
          'the connection that listens for jobs broke; jobs are polled until it is back',
        );
      }
      await this.#pause(waitMs);
      waitMs = Math.min(waitMs * 2, retryMs.longest);
    }
  }

  /** Listens until the connection breaks (throws) or `close()` is called. */
  async #listen(onConnect: () => void): Promise<void> {
    const client = new pg.Client({
      ...this.#settings,
      application_name: 'taskthread listener',
      query_timeout: answerMs,
    });
    const broken = new Promise<never>((_, reject) => {
      client.on('error', reject);
      client.on('end', () => reject(new Error('the connection ended')));
    });
    broken.catch(() => undefined);
    client.on('notification', ({ payload }) => this.#hearer.heard(payload ?? ''));
    try {
      await client.connect();
      await client.query(`listen "${this.#channel}"`);
      onConnect();
      this.#hearer.connected();
      while (!this.#closing.signal.aborted) {
        await Promise.race([this.#pause(checkMs), broken]);
        // A pooler between us and the server, or a lost connection that nobody told us of, shows here.
        await client.query('select 1');
      }
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#closing.signal }).catch(() => undefined);
  }
}
