import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type ChaosRunOptions, runChaos } from '../../../sandbox/chaos/chaos-run.ts';
import { copyTemplateDatabase, dropDatabase } from '../../support/fresh-database.ts';

const none = { lost: [], duplicated: [], outOfOrder: [], repliesWrong: [], stuck: [] };

/**
 * A short form of `npm run chaos`. With this seed, the first messages bring files and are direct ones, too. The logs stay
 * where something went wrong.
 */
async function killed(
  options: Pick<
    ChaosRunOptions,
    'kills' | 'replicas' | 'transport' | 'database' | 'databaseFaultSeconds' | 'workflows' | 'sources'
  >,
) {
  const logs = await mkdtemp(join(process.env.KEPT_LOGS_FOLDER ?? tmpdir(), 'taskthread-chaos-logs-'));
  const { damage, stats } = await runChaos({ seed: 5, delay: 2, logs, ...options }, () => undefined);
  expect(stats, `the logs are in ${logs}`).toMatchObject({ failedStarts: 0, lateStops: 0 });
  expect(damage, `the logs are in ${logs}`).toEqual(none);
  await rm(logs, { recursive: true, force: true });
  return stats;
}

// Far more than it takes, for machines that are busy.
describe.concurrent('nothing is lost, doubled, out of order, wrong or stuck', { timeout: 600_000 }, () => {
  test('after the database failed in every way, for two seconds each', async () => {
    const { faultKinds, recoverySeconds } = await killed({
      kills: 0,
      replicas: 1,
      transport: 'socket',
      databaseFaultSeconds: 2,
    });
    expect(faultKinds.databaseFaults).toHaveLength(7);
    expect([...recoverySeconds.keys()]).toEqual(faultKinds.databaseFaults);
  });

  test('after two kills of two processes behind a balancer, with workflows that ask and sources that are checked', async () => {
    const database = await copyTemplateDatabase();
    const { kills, messages, files, workflows, sources } = await killed({
      kills: 2,
      workflows: true,
      sources: true,
      replicas: 2,
      transport: 'http',
      database,
    });
    await dropDatabase(database);
    expect(workflows).toMatchObject({ completedOnce: workflows?.executions, leftOpen: 0 });
    expect(workflows?.executions).toBeGreaterThanOrEqual(4);
    expect(sources).toMatchObject({ listsMarked: sources?.lists, replacedOnce: sources?.replacementsAsked });
    expect(sources?.lists).toBeGreaterThan(0);
    expect(kills).toBe(2);
    expect(messages).toBeGreaterThanOrEqual(6);
    expect(files).toBeGreaterThan(0);
  });
});
