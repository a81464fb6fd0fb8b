import type pg from 'pg';
import type { Logger } from 'pino';
import { sleepUnlessAborted, within } from '../../calls/waits.ts';

const HEALTH_CHECK_INTERVAL_MS = 10_000;
const GOODBYE_TIMEOUT_MS = 1_000;
const RECONNECT_DELAY_MS = 1_000;

interface NotificationListenerOptions {
  newClient: () => pg.Client;
  channel: string;
  /** `serverProcess` is the server's process of the connection that notifies. */
  onNotification(payload: string, serverProcess: number): void;
  /** Called after each connect: earlier notifications may have been missed. */
  onConnected(): void;
  log: Logger;
}

/** Listens on one LISTEN/NOTIFY channel over a dedicated connection, and reconnects when it breaks. */
export class NotificationListener {
  readonly #options: NotificationListenerOptions;
  readonly #closing = new AbortController();
  readonly #loop: Promise<void>;

  constructor(options: NotificationListenerOptions) {
    this.#options = options;
    this.#loop = this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#loop;
  }

  async #run(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      try {
        await this.#listen();
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        this.#options.log.warn(
          { reason },
          'the connection that listens for jobs broke; polling for jobs until it is back',
        );
      }
      await sleepUnlessAborted(RECONNECT_DELAY_MS, this.#closing.signal);
    }
  }

  /** Listens until the connection breaks (throws) or `close()` is called. */
  async #listen(): Promise<void> {
    const client = this.#options.newClient();
    const broken = new Promise<never>((_, reject) => {
      client.on('error', reject);
      client.on('end', () => reject(new Error('the connection ended')));
    });
    broken.catch(() => undefined);
    client.on('notification', ({ payload, processId }) =>
      this.#options.onNotification(payload ?? '', processId),
    );
    try {
      await client.connect();
      await client.query(`listen "${this.#options.channel}"`);
      this.#options.onConnected();
      while (!this.#closing.signal.aborted) {
        await Promise.race([sleepUnlessAborted(HEALTH_CHECK_INTERVAL_MS, this.#closing.signal), broken]);
        // Detects a pooler in between, and a connection that was lost without notice.
        await client.query('select 1');
      }
    } finally {
      // A server that is gone does not say goodbye.
      await within(GOODBYE_TIMEOUT_MS, client.end(), undefined).catch(() => undefined);
    }
  }
}
