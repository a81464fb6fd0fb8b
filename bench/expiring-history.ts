import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { fillHistory } from '../sandbox/filled-history.ts';

/** Days: the bot keeps rows for no longer, so that its retention deletes what is written here. */
export const KEEP_DAYS = 2;
/** As many turns of the past three months are written each minute. */
const TURNS = 600;
const INTERVAL_MS = 60_000;
const LOOK_INTERVAL_MS = 1_000;

/** Writes rows that have expired, once a minute and each time of another workspace, until it is stopped. */
export class ExpiringHistory {
  readonly #client: pg.Client;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;

  constructor(client: pg.Client) {
    this.#client = client;
    this.#running = this.#write();
  }

  async stop(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  /** How many turns are older than the bot keeps them, once it has had two minutes to delete them. */
  async expiredTurnsLeft(): Promise<number> {
    const deadline = performance.now() + 2 * INTERVAL_MS;
    for (;;) {
      const { rows } = await this.#client.query<{ left: number }>(
        `select count(*)::int as left from turns where finished_at < now() - $1 * interval '1 day'`,
        [KEEP_DAYS],
      );
      const { left = Number.NaN } = rows[0] ?? {};
      if (left === 0 || performance.now() > deadline) return left;
      await sleep(LOOK_INTERVAL_MS);
    }
  }

  async #write(): Promise<void> {
    const { signal } = this.#closing;
    for (let minute = 0; !signal.aborted; minute += 1) {
      const whose = { workspace: `TEXPIRED${minute}`, channel: 'CEXPIRED', workspaces: 1, channels: 1 };
      await fillHistory(this.#client, { turns: TURNS, ...whose });
      await sleep(INTERVAL_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
