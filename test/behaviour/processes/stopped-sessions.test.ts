import { expect, test } from 'vitest';
import { pause } from '../../support/app-scene.ts';
import { openProcessScene } from '../../support/process-scene.ts';

test('a process that stops tells Slack of the end of its last turn', async ({ onTestFinished }) => {
  const crew = await openProcessScene(onTestFinished);
  crew.slack.settings.agent = true;
  const bot = await crew.start(undefined, { AGENT_SESSIONS: 'true' });
  const fault = { kind: 'status', status: 429, headers: { 'retry-after': '1' } } as const;
  crew.slack.faults.add({ call: 'agents.sessions.setStatus', about: 'active', fault, times: 1 });
  const root = crew.ask('the last one', 2);
  const { channel = '' } = crew.said[0] ?? {};
  await crew.until('it ends', () => JSON.stringify(crew.replies(root)).includes('Took'));
  const locked = crew.query('begin; select 1 from turns for update; select pg_sleep(1.2); commit');
  await pause(700);
  expect(await bot.stop()).toBe(true);
  await locked;
  expect(await crew.query('select outcome from turns')).toEqual([{ outcome: 'completed' }]);
  expect(crew.slack.status(channel, root.ts)?.status).toBe('active');
});
