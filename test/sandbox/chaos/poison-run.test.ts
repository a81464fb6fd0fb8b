import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { missedBars, POISON_BARS, poisonReportLine, runPoison } from '../../../sandbox/chaos/poison-run.ts';
import { copyTemplateDatabase, dropDatabase } from '../../support/fresh-database.ts';

const none = { lost: [], duplicated: [], outOfOrder: [], repliesWrong: [], stuck: [] };
const good = { othersDelayedP95Seconds: 1, endedAfterSeconds: 600, told: true, counted: true };

test.each([
  [good, []],
  [{ ...good, othersDelayedP95Seconds: 1.1 }, ['oddMessage: others waited 1.1 s longer (p95)']],
  [{ ...good, endedAfterSeconds: null }, ['oddMessage: it did not end within 600 s']],
  [{ ...good, told: false }, ['oddMessage: its people were not told']],
  [{ ...good, counted: false }, ['oddMessage: no metric counted it']],
])('names each bar that is missed: %o', (outcome, missed) => {
  expect(missedBars({ oddMessage: outcome }, POISON_BARS)).toEqual(missed);
});

test('reports on one line, with how much damage there was', () => {
  const damage = { lost: ['this'], duplicated: [], outOfOrder: [], repliesWrong: [], stuck: [] };
  const poison = { oddMessage: good, oddEdit: { ...good, othersDelayedP95Seconds: 2 } };
  const report = { messages: 6, seconds: 1.5, poison, damage, missed: ['oddEdit: nobody was told'] };
  const line = poisonReportLine(report, 7);
  const worst = { missed: 1, othersDelayedP95Seconds: 2 };
  expect(JSON.parse(line)).toMatchObject({ chaos: true, seed: 7, lost: 1, ...worst, poison });
  expect(line).not.toContain('\n');
});

test('a message that Slack gives with nulls is answered, and nobody else suffers', {
  timeout: 600_000,
}, async () => {
  const logs = await mkdtemp(join(process.env.KEPT_LOGS_FOLDER ?? tmpdir(), 'taskthread-chaos-logs-'));
  const database = await copyTemplateDatabase();
  const { damage, missed, messages } = await runPoison({
    ...{ seed: 5, logs, kinds: ['oddMessage'], messages: 1, pauseMs: 500 },
    bars: { ...POISON_BARS, endedAfterSeconds: 120 },
    // What the others wait for is measured by itself: the cores are shared here.
    isCompared: false,
    newDatabase: async () => database,
  });
  await dropDatabase(database);
  expect(damage, `the logs are in ${logs}`).toEqual(none);
  expect(missed).toEqual([]);
  // Of each workspace one that the bot missed, and one more.
  expect(messages).toBe(10);
  await rm(logs, { recursive: true, force: true });
});
