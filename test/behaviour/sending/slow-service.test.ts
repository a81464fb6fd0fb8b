import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
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

test.concurrent('a message waits less than a minute after the start of its task failed once', async ({
  onTestFinished,
}) => {
  const scene = await openAppScene({ limits: { resendMs: 120_000 } }, onTestFinished);
  const fault = { kind: 'status', status: 500 } as const;
  scene.agent.faults.add({ call: 'POST /experimental/tasks', fault, times: 1 });
  const channel = scene.channel();
  await scene.finished(channel, scene.ask(channel, 'after a failed start'), 60_000);
  expect(scene.sentToAgent('after a failed start').texts).toHaveLength(1);
});

describe.concurrent('12 s after a gateway gave a call up,', async () => {
  const agent = { behaviour: { messageToRunning: 'accepted' as const } };
  const scene = await openAppScene({ agent, limits: { resendMs: 16_000 } });
  const fault = { kind: 'late', ms: 12_000 } as const;

  test('a message that the service accepts is not sent again', async () => {
    scene.agent.faults.add({ call: SEND, about: 'given up', fault, times: 1 });
    const channel = scene.channel();
    const handled = pause(13_000);
    await scene.finished(channel, scene.ask(channel, 'given up'), 150_000);
    await handled;
    expect(scene.sentToAgent('given up').texts).toHaveLength(1);
  });

  test('a task that the service starts is not started again', async () => {
    scene.agent.faults.add({ call: 'POST /experimental/tasks', about: 'a late task', fault, times: 1 });
    const channel = scene.channel();
    const handled = pause(13_000);
    await scene.finished(channel, scene.ask(channel, 'a late task'), 150_000);
    await handled;
    expect(scene.agent.tasks.filter(({ title }) => title === 'a late task')).toHaveLength(1);
  });
});

describe('a message whose response was lost', async () => {
  const scene = await openAppScene({ limits: { resendMs: 1_000 } });
  afterEach(() => scene.reset());

  test.for([
    ['tidies up its spaces', (text: string) => [{ type: 'text', text: text.replace(/\s+/g, ' ') }]],
    [
      'adds a part of its own',
      (text: string) => [text, '[attached: none]'].map((part) => ({ type: 'text', text: part })),
    ],
  ] as const)('is not sent again to a service that %s', async ([what, change]) => {
    scene.agent.behaviour.misbehaviour = (call, response) => {
      const shown: unknown = JSON.parse(JSON.stringify(response), (key, value: unknown) => {
        const texts = key === 'content' ? textsSchema.safeParse(value).data : undefined;
        return texts === undefined ? value : change(texts.map(({ text }) => text).join(''));
      });
      return call === LIST ? { kind: 'body', body: shown } : undefined;
    };
    scene.agent.faults.add({ call: SEND, times: 1, fault: { kind: 'lost' } });
    const channel = scene.channel();
    await scene.finished(channel, scene.ask(channel, `${what}\n\nin two paragraphs`), 60_000);
    expect(scene.sentToAgent(what).texts).toHaveLength(1);
  });
});
