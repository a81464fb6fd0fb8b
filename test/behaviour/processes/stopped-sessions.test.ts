import { expect, test } from 'vitest';
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
  await expect.poll(() => crew.query('select outcome from turns')).toEqual([{ outcome: 'completed' }]);
  expect(await bot.stop()).toBe(true);
  expect(crew.slack.status(channel, root.ts)?.status).toBe('active');
});
