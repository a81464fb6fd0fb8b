import type pg from 'pg';
import type { Logger } from 'pino';
import { sleepUnlessAborted, within } from '../../calls/retries-and-waits.ts';

const HEALTH_CHECK_INTERVAL_MS = 10_000;
const GOODBYE_TIMEOUT_MS = 1_000;
const RECONNECT_DELAY_MS = 1_000;

interface NotificationListenerOptions {
  newClient: () => pg.Client;
  channel: string;
  /** `serverProcess` is the server's process of the connection that notifies. */
  onNotification: (payload: string, serverProcess: number) => void;
  /** Called after each connect: earlier notifications may have been missed. */
  onConnected: () => void;
  log: Logger;
}

/** Listens on one LISTEN/NOTIFY channel over a dedicated connection until it is closed, and reconnects when it breaks. */
export function listenForNotifications(options: NotificationListenerOptions): { close(): Promise<void> } {
  const closing = new AbortController();
  const run = async () => {
    while (!closing.signal.aborted) {
      try {
        await listen(options, closing.signal);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        const broken = 'the connection that listens for jobs broke; polling for jobs until it is back';
        options.log.warn({ reason }, broken);
      }
      await sleepUnlessAborted(RECONNECT_DELAY_MS, closing.signal);
    }
  };
  const loop = run();
  return {
    close: async () => {
      closing.abort();
      await loop;
    },
  };
}

/** Listens until the signal is aborted. Throws if the connection breaks. */
async function listen(
  { newClient, channel, onNotification, onConnected }: NotificationListenerOptions,
  signal: AbortSignal,
): Promise<void> {
  const client = newClient();
  const broken = new Promise<never>((_, reject) => {
    client.on('error', reject);
    client.on('end', () => reject(new Error('the connection ended')));
  });
  broken.catch(() => undefined);
  client.on('notification', ({ payload, processId }) => onNotification(payload ?? '', processId));
  try {
    await client.connect();
    await client.query(`listen "${channel}"`);
    onConnected();
    while (!signal.aborted) {
      await Promise.race([sleepUnlessAborted(HEALTH_CHECK_INTERVAL_MS, signal), broken]);
      // Detects a pooler in between, and a connection that was lost without notice.
      await client.query('select 1');
    }
  } finally {
    // A server that is gone does not say goodbye.
    await within(GOODBYE_TIMEOUT_MS, client.end(), undefined).catch(() => undefined);
  }
}
