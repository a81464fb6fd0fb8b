import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ChaosOptions } from '../../../src/sandbox/chaos/options.ts';
import { runChaos } from '../../../src/sandbox/chaos/run.ts';

const none = { lost: [], duplicated: [], outOfOrder: [], repliesWrong: [], stuck: [] };

/** Twenty kills with the same seed in every run of the tests; the logs stay where something went wrong. */
async function twentyKills(options: Pick<ChaosOptions, 'replicas' | 'transport'>) {
  const logs = await mkdtemp(join(tmpdir(), 'taskthread-chaos-logs-'));
  const { damage, figures } = await runChaos({ kills: 20, seed: 1, logs, ...options }, () => undefined);
  expect(damage, `the logs are in ${logs}`).toEqual(none);
  await rm(logs, { recursive: true, force: true });
  return figures;
}

describe.concurrent('nothing is lost, doubled, out of order, wrong or stuck after twenty kills', () => {
  test('of one process', { timeout: 180_000 }, async () => {
    const { kills, messages, files } = await twentyKills({ replicas: 1, transport: 'http' });
    expect(kills).toBe(20);
    expect(messages).toBeGreaterThanOrEqual(60);
    expect(files).toBeGreaterThanOrEqual(messages / 4);
  });

  test('of two processes on one database', { timeout: 180_000 }, async () => {
    const { kills, messages, files } = await twentyKills({ replicas: 2, transport: 'socket' });
    expect(kills).toBe(20);
    expect(messages).toBeGreaterThanOrEqual(60);
    expect(files).toBeGreaterThanOrEqual(messages / 4);
  });
});
