import { expect, test } from 'vitest';
import { openAppScene } from './app-scene.ts';
import { leftOpen } from './left-open.ts';

const scene = await openAppScene();
const { slack, agent } = scene;

test('a task is found by its title although another attempt of the test has left one', async () => {
  for (const attempt of ['the first', 'the second']) {
    const channel = scene.channel();
    await scene.finished(channel, scene.ask(channel, `asked in attempt ${attempt}`));
  }
  expect(scene.taskOf('asked in attempt')?.title).toBe('asked in attempt the second');
  expect(scene.sentToAgent('asked in attempt').texts).toEqual(['asked in attempt the second']);
});

test('a reset undoes what a failed attempt has changed in Slack and at the service, and ends its turns', async () => {
  const before = structuredClone([slack.settings.shareDelayMs, slack.delivery.gapMs, agent.behaviour.input]);
  slack.settings.shareDelayMs = 9_000;
  slack.delivery.gapMs = 9_000;
  agent.behaviour.input = 'null';
  const call = 'chat.update';
  slack.faults.add({ call, fault: { kind: 'cut' } });
  const channel = scene.channel();
  const root = scene.ask(channel, '/slow 9000 left at work');
  await scene.until('the agent works', () => scene.taskOf('/slow 9000 left')?.status === 'running');
  await scene.reset();
  await scene.finished(channel, root);
  expect([slack.settings.shareDelayMs, slack.delivery.gapMs, agent.behaviour.input]).toEqual(before);
  expect(slack.faults.hit(call)).toBeUndefined();
});

test('a scene counts as left open until it is closed', async () => {
  const closing: (() => Promise<void>)[] = [];
  const before = leftOpen.size;
  await openAppScene({}, (close) => void closing.push(close));
  expect(leftOpen.size).toBe(before + 1);
  for (const close of closing) await close();
  expect(leftOpen.size).toBe(before);
});
