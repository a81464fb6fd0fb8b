import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { openAppScene } from '../../support/app-scene.ts';

const SEND = 'POST /experimental/tasks/{task_id}/messages';
const LIST = 'GET /experimental/tasks/{task_id}/messages';
const textsSchema = z.array(z.object({ type: z.literal('text'), text: z.string() }));

test.concurrent('a message reaches a service once that takes 12 s to accept and 10 s to list', async ({
  onTestFinished,
}) => {
  const scene = await openAppScene({}, onTestFinished);
  scene.agent.faults.add({ call: SEND, fault: { kind: 'latency', ms: 12_000 } });
  scene.agent.faults.add({ call: LIST, fault: { kind: 'latency', ms: 10_000 }, times: 4 });
  const channel = scene.channel();
  await scene.finished(channel, scene.ask(channel, 'slowly now'), 150_000);
  expect(scene.sentToAgent('slowly now').texts).toHaveLength(1);
});

test.concurrent('a message that a gateway gave up, and the service accepts 12 s later, is not sent again', async ({
  onTestFinished,
}) => {
  const agent = { behaviour: { messageToRunning: 'accepted' as const } };
  const scene = await openAppScene({ agent, settings: { RESEND_SECONDS: '16' } }, onTestFinished);
  scene.agent.faults.add({ call: SEND, fault: { kind: 'late', ms: 12_000 }, times: 1 });
  const channel = scene.channel();
  const handled = pause(13_000);
  await scene.finished(channel, scene.ask(channel, 'given up'), 150_000);
  await handled;
  expect(scene.sentToAgent('given up').texts).toHaveLength(1);
});

test.concurrent.for([
  ['tidies up its spaces', (text: string) => [{ type: 'text', text: text.replace(/\s+/g, ' ') }]],
  [
    'adds a part of its own',
    (text: string) => [text, '[attached: none]'].map((part) => ({ type: 'text', text: part })),
  ],
] as const)(
  'a message whose response was lost is not sent again to a service that %s',
  async ([, change], { onTestFinished }) => {
    const scene = await openAppScene({ settings: { RESEND_SECONDS: '1' } }, onTestFinished);
    scene.agent.behaviour.misbehaviour = (call, response) => {
      const shown: unknown = JSON.parse(JSON.stringify(response), (key, value: unknown) => {
        const texts = key === 'content' ? textsSchema.safeParse(value).data : undefined;
        return texts === undefined ? value : change(texts.map(({ text }) => text).join(''));
      });
      return call === LIST ? { kind: 'body', body: shown } : undefined;
    };
    scene.agent.faults.add({ call: SEND, times: 1, fault: { kind: 'lost' } });
    const channel = scene.channel();
    await scene.finished(channel, scene.ask(channel, 'said once\n\nin two paragraphs'), 60_000);
    expect(scene.sentToAgent('said once').texts).toHaveLength(1);
  },
);

test.concurrent('a task that the service starts 12 s after a gateway gave up is not started again', async ({
  onTestFinished,
}) => {
  const scene = await openAppScene({ settings: { RESEND_SECONDS: '16' } }, onTestFinished);
  scene.agent.faults.add({
    call: 'POST /experimental/tasks',
    fault: { kind: 'late', ms: 12_000 },
    times: 1,
  });
  const channel = scene.channel();
  const handled = pause(13_000);
  await scene.finished(channel, scene.ask(channel, 'a late task'), 150_000);
  await handled;
  expect(scene.agent.tasks).toHaveLength(1);
});
