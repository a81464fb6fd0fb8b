import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type ChaosRunOptions, runChaos } from '../../../sandbox/chaos/chaos-run.ts';
import { DATABASE_FAULTS } from '../../../sandbox/chaos/database-faults.ts';
import { copyTemplateDatabase, dropDatabase } from '../../support/fresh-database.ts';

const none = { lost: [], duplicated: [], outOfOrder: [], repliesWrong: [], stuck: [] };

/** A short form of `npm run chaos`. The seed is the same in every run of the tests; the logs stay where something went wrong. */
async function killed(
  options: Pick<ChaosRunOptions, 'kills' | 'replicas' | 'transport' | 'database' | 'databaseFaultSeconds'>,
) {
  const logs = await mkdtemp(join(tmpdir(), 'taskthread-chaos-logs-'));
  const { damage, stats } = await runChaos({ seed: 1, delay: 2, logs, ...options }, () => undefined);
  expect(stats, `the logs are in ${logs}`).toMatchObject({ failedStarts: 0, lateStops: 0 });
  expect(damage, `the logs are in ${logs}`).toEqual(none);
  await rm(logs, { recursive: true, force: true });
  return stats;
}

describe.concurrent('nothing is lost, doubled, out of order, wrong or stuck', () => {
  test('after five kills of one process', { timeout: 240_000 }, async () => {
    const { kills, messages, files } = await killed({ kills: 5, replicas: 1, transport: 'http' });
    expect(kills).toBe(5);
    expect(messages).toBeGreaterThanOrEqual(15);
    expect(files).toBeGreaterThan(0);
  });

  test('after the database failed in every way, for two seconds each', { timeout: 240_000 }, async () => {
    const { recoverySeconds } = await killed({
      kills: 0,
      replicas: 1,
      transport: 'socket',
      databaseFaultSeconds: 2,
    });
    expect([...recoverySeconds.keys()]).toEqual([...DATABASE_FAULTS]);
  });

  test('after five kills of two processes on one database', { timeout: 240_000 }, async () => {
    const database = await copyTemplateDatabase();
    const { kills, messages, files } = await killed({
      kills: 5,
      replicas: 2,
      transport: 'socket',
      database,
    });
    await dropDatabase(database);
    expect(kills).toBe(5);
    expect(messages).toBeGreaterThanOrEqual(15);
    expect(files).toBeGreaterThan(0);
  });
});
