import pg from 'pg';
import { expect } from 'vitest';
import type { AppScene } from './app-scene.ts';

/** Slack gives an event up after half a second. */
export const FAST_RETRIES = { retryScale: 0.001 };

/** The bot is stopped for so many minutes by the database's clock; what Slack tries to deliver meanwhile is given up. */
export async function stopBotFor(scene: AppScene, minutes: number, meanwhile: () => void): Promise<void> {
  await scene.sandbox.bot.stop();
  const database = new pg.Client({ connectionString: scene.sandbox.config.DATABASE_URL });
  await database.connect();
  await database.query(
    `update workspaces set last_receiving_at = last_receiving_at - $1::float * interval '1 minute'`,
    [minutes],
  );
  await database.end();
  const { lost } = scene.slack.deliveryStats;
  meanwhile();
  await scene.slack.settled();
  expect(scene.slack.deliveryStats.lost).toBeGreaterThan(lost);
}

/** Waits until a run of a channel's job of this kind has failed, and lets its limit of time pass: the next run gives it up. */
export async function letJobBeGivenUp(scene: AppScene, kind: string, channel: string): Promise<void> {
  const { db } = scene.sandbox.bot.store;
  const given = { tried_since: new Date(Date.now() - 8 * 24 * 60 * 60_000), due_at: new Date(0) };
  const failed = db.updateTable('jobs').set(given).where('kind', '=', kind).where('channel', '=', channel);
  await scene.until('a run of the job has failed', async () => {
    const { numUpdatedRows } = await failed
      .where('tried_since', 'is not', null)
      .where('claim_id', 'is', null)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  });
}

/** The pause between two attempts is longer than this, and what an attempt does is over by then (ms). */
const STILL_MS = 700;

/**
 * Waits until a service was not called for a moment. An outage that ends between a call that fails and the look whether
 * the service is there makes the time since the attempt before count, which is much where limits are scaled.
 */
export async function untilNothingIsTried(scene: AppScene, calls: readonly { at: number }[]): Promise<void> {
  await scene.until('nothing is tried', () => Date.now() - (calls.at(-1)?.at ?? 0) > STILL_MS);
}
