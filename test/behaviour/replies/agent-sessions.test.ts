import { expect, test, vi } from 'vitest';
import { openAppScene, pause } from '../../support/app-scene.ts';

test.concurrent("Slack's own status is shown while the agent works, and its stop button stops the agent", async ({
  onTestFinished,
}) => {
  const scene = await openAppScene(
    { slack: { agent: true }, settings: { AGENT_SESSIONS: 'true' } },
    onTestFinished,
  );
  const stranger = scene.slack.createPerson({ name: 'sten', kind: 'stranger' });
  const channel = scene.channel();
  const root = scene.ask(channel, '/slow 9000');
  await scene.until('the reply grows', () => scene.shown(channel, root).includes('Second'));
  expect(scene.slack.status(channel.id, root.ts)?.status).toBe('processing');
  scene.slack.stopSession(stranger, channel, root.ts);
  await scene.until('the stranger is told', () => scene.slack.ephemerals(stranger, channel).length === 1);
  expect(scene.slack.status(channel.id, root.ts)?.status).toBe('processing');
  scene.slack.stopSession(scene.grace, channel, root.ts);
  await scene.finished(channel, root);
  expect(scene.shown(channel, root)).toContain('Stopped by grace.');
  await scene.until('the sign is gone', () => scene.slack.status(channel.id, root.ts)?.status === 'active');
  scene.slack.stopSession(scene.grace, channel, root.ts);
  await scene.until('it is told', () =>
    scene.slack.ephemerals(scene.grace, channel).some(({ text }) => text.includes('nothing to stop')),
  );
});

test.concurrent('the status goes with a turn that ends while its process stops', async ({
  onTestFinished,
}) => {
  const scene = await openAppScene(
    { slack: { agent: true }, settings: { AGENT_SESSIONS: 'true' } },
    onTestFinished,
  );
  const { turns } = scene.sandbox.bot.store;
  const finish = turns.finish.bind(turns);
  const [reached, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  vi.spyOn(turns, 'finish').mockImplementationOnce(async (...args) => {
    reached.resolve();
    await held.promise;
    return finish(...args);
  });
  const channel = scene.channel();
  const root = scene.ask(channel, 'the last one');
  await reached.promise;
  const restarted = scene.sandbox.restartBot();
  await pause(500);
  held.resolve();
  await restarted;
  await scene.finished(channel, root);
  await scene.until('the sign is gone', () => scene.slack.status(channel.id, root.ts)?.status === 'active');
  expect(scene.shown(channel, root)).toContain('Took');
});

test.concurrent('an answer is complete where Slack has no sessions for the app, which is asked only once', async ({
  onTestFinished,
}) => {
  const scene = await openAppScene({ settings: { AGENT_SESSIONS: 'true' } }, onTestFinished);
  const channel = scene.channel();
  for (const text of ['no agent here', 'and none here']) {
    const root = scene.ask(channel, text);
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('Took');
  }
  const calls = scene.slack.calls.filter(({ method }) => method === 'agents.sessions.setStatus');
  expect(calls.length).toBeLessThanOrEqual(2);
});

test.concurrent('the status is not shown by default', async ({ onTestFinished }) => {
  const scene = await openAppScene({ slack: { agent: true } }, onTestFinished);
  const channel = scene.channel();
  const root = scene.ask(channel, 'quietly');
  await scene.finished(channel, root);
  expect(scene.slack.status(channel.id, root.ts)).toBeUndefined();
});
