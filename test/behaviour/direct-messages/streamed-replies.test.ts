import { describe, expect, test } from 'vitest';
import { LONG_LINES, openStreamScene } from '../../support/stream-scene.ts';

const scene = await openStreamScene();
const { slack } = scene;

test('a reply in a direct message is a stream that grows beside its Stop button, and ends like an edited one', async () => {
  const { channel, root } = scene.askInDm('a question with a tool');
  const stream = await scene.showing(channel, root, 'First');
  expect(stream.stream).toBeDefined();
  await scene.goOn('a question with a tool');
  const status = await scene.showing(channel, root, 'BRCA1');
  expect(JSON.stringify(status.blocks)).toContain('"stop"');
  expect(scene.replies(channel, root)).toEqual([status, stream]);
  await scene.goOn('a question with a tool');
  await scene.showing(channel, root, 'Second');
  expect(scene.calls('chat.appendStream', channel)).toHaveLength(1);
  await scene.goOn('a question with a tool');
  await scene.finished(channel, root);

  const edited = scene.channel();
  const question = scene.ask(edited, 'a question with a tool');
  for (let step = 0; step < 3; step += 1) await scene.goOn('a question with a tool');
  await scene.finished(edited, question);
  expect(scene.endOf(channel, root)).toEqual(scene.endOf(edited, question));
  expect(scene.replies(channel, root)).toMatchObject([{ ts: stream.ts }]);
  expect(scene.calls('chat.startStream', channel)).toHaveLength(1);
  expect(scene.calls('chat.startStream', edited)).toEqual([]);
});

describe.concurrent('a streamed reply', () => {
  test.each([
    ['rewritten', 'is edited once the service changes what it shows'],
    ['long', 'goes on in a second message'],
  ])('of a %s answer %s', async (kind) => {
    const text = `a ${kind} answer`;
    const { channel, root } = scene.askInDm(text);
    const { ts } = await scene.showing(channel, root, 'First');
    await scene.goOn(text);
    const next = await scene.showing(channel, root, 'Second');
    expect(next.ts).toBe(ts);
    expect(next.stream === undefined).toBe(kind === 'rewritten');
    const lines = kind === 'long' ? LONG_LINES : [];
    await scene.showing(channel, root, lines.at(-1) ?? 'Second');
    expect(scene.shown(channel, root).match(/Line \d+ of.*soon\./g) ?? []).toEqual(lines);
    await scene.goOn(text);
    await scene.finished(channel, root);
    const edited = scene.channel();
    const question = scene.ask(edited, text);
    for (let step = 0; step < 2; step += 1) await scene.goOn(text);
    await scene.finished(edited, question);
    expect(scene.endOf(channel, root)).toEqual(scene.endOf(edited, question));
  });

  test('without text stays one message, which shows its end', async () => {
    const { channel, root } = scene.askInDm('it fails');
    const { ts } = await scene.until('a reply is there', () => scene.replies(channel, root)[0]);
    await scene.goOn('it fails');
    await scene.finished(channel, root);
    expect(scene.replies(channel, root)).toMatchObject([{ ts }]);
    expect(scene.shown(channel, root)).toContain('No reason.');
  });

  test('can be stopped by the button above it', async () => {
    const { person, channel, root } = scene.askInDm('one to stop');
    await scene.showing(channel, root, 'First');
    const { ts } = await scene.messageWithButton(channel, root, 'stop');
    await slack.click({ person, channel, ts, actionId: 'stop' });
    await scene.finished(channel, root);
    expect(scene.replies(channel, root)).toHaveLength(1);
    expect(scene.shown(channel, root)).toMatch(/First.*Stopped by/s);
  });
});
