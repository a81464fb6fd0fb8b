import { describe, expect, test } from 'vitest';
import { openScene } from './scene.ts';

describe.concurrent('a stop that comes late', () => {
  test('ends the work that goes on in the background after the reply', async ({ onTestFinished }) => {
    const scene = await openScene({ settings: { BACKGROUND_WAIT_SECONDS: '30' } }, onTestFinished);
    const channel = scene.channel();
    const root = scene.ask(channel, '/background 5000');
    const reply = await scene.until('the background is named', () =>
      scene.replies(channel, root).find((message) => scene.slack.shown(message).includes('background for')),
    );
    const task = scene.agent.tasks[0];
    await scene.until('the reply has settled', () => task?.messages.at(-1)?.status === 'completed');
    expect(task?.status).toBe('running');
    await scene.slack.click({ person: scene.ada, channel, ts: reply.ts, actionId: 'stop' });
    await scene.finished(channel, root, 8_000);
    expect(task?.status).toBe('cancelled');
    expect(scene.shown(channel, root)).not.toContain('still works on something');
  });
});
