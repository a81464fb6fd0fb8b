import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runChaos } from '../../../sandbox/chaos/chaos-run.ts';
import type { Damage } from '../../../sandbox/chaos/damage.ts';
import type { FaultProfile } from '../../../sandbox/chaos/fault-profile.ts';
import { type BrokenBot, brokenBotProgram } from '../../support/compiled-programs.ts';
import { copyTemplateDatabase, dropDatabase } from '../../support/fresh-database.ts';

const lost = { kind: 'lost' } as const;
const lostPost: FaultProfile = { slack: [{ call: 'chat.postMessage', fault: lost, times: 6 }], agent: [] };
const lostSend: FaultProfile = {
  slack: [],
  agent: [{ call: 'POST /experimental/tasks/{task_id}/messages', fault: lost, times: 2 }],
};

/** What a short run doubled, or left unfinished, with a part of the bot replaced by a broken one. */
async function damagedWith(bot: BrokenBot, faultProfile: FaultProfile): Promise<string[]> {
  const logs = await mkdtemp(join(tmpdir(), 'taskthread-broken-'));
  const program = brokenBotProgram(bot);
  const database = await copyTemplateDatabase();
  const isEnough = ({ duplicated }: Damage) => duplicated.length > 0;
  const options = {
    kills: 1,
    seed: 1,
    delay: 0,
    replicas: 1,
    transport: 'http',
    logs,
    program,
    faultProfile,
  } as const;
  const { damage } = await runChaos({ ...options, database, isEnough }, () => undefined);
  await dropDatabase(database);
  await rm(logs, { recursive: true, force: true });
  return [...damage.duplicated, ...damage.stuck];
}

// Each breaks a thing that keeps a run whole, at the service or in Slack; the faultProfile is such that it must show.
describe.concurrent('the comparison finds the damage of', { timeout: 600_000 }, () => {
  test('a bot that does not remember that it was about to send', async () => {
    expect(await damagedWith('send-intent', lostSend)).not.toEqual([]);
  });

  test('a bot that does not remember that it was about to post', async () => {
    expect(await damagedWith('post-intent', lostPost)).not.toEqual([]);
  });
});
