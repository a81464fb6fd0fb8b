import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { runChaos } from '../../../src/sandbox/chaos/run.ts';
import type { Weather } from '../../../src/sandbox/chaos/weather.ts';

const calm: Weather = { slack: [], agent: [] };
const lost = { kind: 'lost' } as const;
const lostPost: Weather = { slack: [{ call: 'chat.postMessage', fault: lost, times: 2 }], agent: [] };
const lostSend: Weather = {
  slack: [],
  agent: [{ call: 'POST /experimental/tasks/{task_id}/messages', fault: lost, times: 2 }],
};

/** A short run with a part of the bot replaced by a broken one. */
async function damageWith(part: string, weather: Weather) {
  const logs = await mkdtemp(join(tmpdir(), 'taskthread-broken-'));
  const program = fileURLToPath(new URL(`./broken/${part}.ts`, import.meta.url));
  const options = { kills: 1, seed: 1, replicas: 1, transport: 'http', logs, program, weather } as const;
  const { damage } = await runChaos(options, () => undefined);
  await rm(logs, { recursive: true, force: true });
  return damage;
}

// Each breaks one of the three things that keep a run whole; the weather is such that it must show.
describe.concurrent('the comparison finds the damage of', () => {
  test('an inbox that takes both copies of a mention for messages', async () => {
    expect((await damageWith('inbox', calm)).duplicated).not.toEqual([]);
  });

  test('a bot that does not take its message at the service for its own', async () => {
    expect((await damageWith('adoption', lostSend)).duplicated).not.toEqual([]);
  });

  test('a bot that does not remember that it was about to send', async () => {
    expect((await damageWith('send-intent', lostSend)).duplicated).not.toEqual([]);
  });

  test('a bot that does not remember that it was about to post', async () => {
    expect((await damageWith('post-intent', lostPost)).duplicated).not.toEqual([]);
  });
});
