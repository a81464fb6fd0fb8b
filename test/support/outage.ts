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
