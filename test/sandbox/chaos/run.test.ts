import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type RunOptions, runChaos } from '../../../src/sandbox/chaos/run.ts';
import { copyOfTemplate, dropDatabase } from '../../store/postgres.ts';

const none = { lost: [], duplicated: [], outOfOrder: [], repliesWrong: [], stuck: [] };

/**
 * As many kills as there are calls that a kill waits for, with the same seed in every run of the tests; the logs stay
 * where something went wrong.
 */
async function tenKills(options: Pick<RunOptions, 'replicas' | 'transport' | 'database'>) {
  const logs = await mkdtemp(join(tmpdir(), 'taskthread-chaos-logs-'));
  const { damage, figures } = await runChaos({ kills: 10, seed: 1, logs, ...options }, () => undefined);
  expect(damage, `the logs are in ${logs}`).toEqual(none);
  await rm(logs, { recursive: true, force: true });
  return figures;
}

describe.concurrent('nothing is lost, doubled, out of order, wrong or stuck after ten kills', () => {
  test('of one process', { timeout: 240_000 }, async () => {
    const { kills, messages, files } = await tenKills({ replicas: 1, transport: 'http' });
    expect(kills).toBe(10);
    expect(messages).toBeGreaterThanOrEqual(30);
    expect(files).toBeGreaterThanOrEqual(messages / 4);
  });

  test('of two processes on one database', { timeout: 240_000 }, async () => {
    const database = await copyOfTemplate();
    const { kills, messages, files } = await tenKills({ replicas: 2, transport: 'socket', database });
    await dropDatabase(database);
    expect(kills).toBe(10);
    expect(messages).toBeGreaterThanOrEqual(30);
    expect(files).toBeGreaterThanOrEqual(messages / 4);
  });
});
