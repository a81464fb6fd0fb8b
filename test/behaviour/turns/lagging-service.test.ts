import { describe, expect, test } from 'vitest';
import * as strings from '../../../src/render/strings/index.ts';
import { openAppScene } from '../../support/app-scene.ts';

test.concurrent('a reply that the service shows seconds after its message still arrives', async ({
  onTestFinished,
}) => {
  const scene = await openAppScene({ agent: { behaviour: { startLagMs: 8_000 } } }, onTestFinished);
  const channel = scene.channel();
  const root = scene.ask(channel, '/slow 2 late');
  await scene.finished(channel, root);
  expect(scene.shown(channel, root)).toContain('Second 2 of 2');
  expect(scene.shown(channel, root)).not.toContain(strings.emptyAnswer);
});

test.concurrent('a stop ends the wait for a reply where the service calls the task by a status of its own', async ({
  onTestFinished,
}) => {
  const scene = await openAppScene({ agent: { behaviour: { startLagMs: 1_000_000 } } }, onTestFinished);
  scene.agent.behaviour.misbehaviour = (call, body) =>
    call === 'GET /experimental/tasks/{task_id}'
      ? { kind: 'body', body: { ...body, status: 'paused' } }
      : undefined;
  const channel = scene.channel();
  const root = scene.ask(channel, '/slow 2 never');
  await scene.until('it is sent', () => scene.sentToAgent('/slow 2 never').texts.length === 1);
  scene.reply(channel, root, 'stop');
  await scene.finished(channel, root);
  expect(scene.shown(channel, root)).toContain('Stopped by ada.');
});

describe.concurrent('a reply that the service never settles', async () => {
  const scene = await openAppScene({
    agent: { behaviour: { repliesSettle: false } },
    limits: { settledTaskMs: 1_200 },
  });
  /** What the service holds of the reply to the first message of a task. */
  const replyIn = (title: string) => scene.taskOf(title)?.messages[1];

  test('ends with its task where a person stopped it', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/slow 9000 for ever');
    await scene.until('the reply grows', () => scene.shown(channel, root).includes('Second'));
    scene.reply(channel, root, 'stop');
    await scene.slack.settled();
    const next = scene.reply(channel, root, 'what comes after it');
    await scene.finished(channel, root);
    expect(replyIn('/slow 9000')?.status).toBe('cancelling');
    expect(scene.shown(channel, root)).toContain('Stopped by ada.');
    expect(scene.shown(channel, root)).toContain('Second 1');
    await scene.until('the next message is sent', () => scene.sentToAgent('/slow 9000').texts.length === 2);
    expect(next.text).toBe(scene.sentToAgent('/slow 9000').texts[1]);
  });

  test('ends with its task where the worker died, and says that it may be incomplete', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/slow 2 not to the end');
    await scene.finished(channel, root);
    expect(replyIn('/slow 2')?.status).toBe('streaming');
    expect(scene.shown(channel, root)).toContain('Second 2 of 2');
    expect(scene.shown(channel, root)).toContain(strings.answerNeverEnded);
  });
});
