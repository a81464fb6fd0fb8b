import { expect, test } from 'vitest';
import type { Channel } from '../../../sandbox/slack/slack-workspace.ts';
import { openAppScene } from '../../support/app-scene.ts';

const scene = await openAppScene();
const { slack, ada, grace } = scene;

/** How many permits may pass before somebody's first lookup: those that were granted already, and a turn of the other's. */
const MAX_AHEAD = 5;
/** Far more lookups of channels than the rate limit lets through while a question is taken up. */
const MANY = 80;

const lookups = () => slack.calls.filter(({ method }) => method === 'conversations.info');

/** Grace asks in a channel that the bot does not know yet; how many lookups came between its reply and that of her channel. */
async function lookupsBefore(channel: Channel): Promise<number> {
  const root = scene.ask(channel, 'Which genes are these?', { person: grace });
  await scene.finished(channel, root);
  const inChannel = (method: string) =>
    slack.calls.findIndex((call) => call.method === method && call.args.channel === channel.id);
  const between = slack.calls.slice(inChannel('chat.postMessage'), inChannel('conversations.info'));
  return between.filter(({ method }) => method === 'conversations.info').length;
}

test('a question does not wait for the names in the long message of somebody else', async () => {
  const known = scene.channel();
  await scene.finished(known, scene.ask(known, 'hello', { person: grace }));
  const named = Array.from({ length: MANY }, () => `<#${scene.channel().id}>`);
  scene.ask(known, `compare ${named.join(' ')}`, { person: ada });
  await scene.until('their names are looked up', () => lookups().length > 10);
  expect(await lookupsBefore(scene.channel())).toBeLessThan(MAX_AHEAD);
});

test('of the names in one message thirty are looked up, and the others stay ids', async () => {
  const known = scene.channel();
  const named = Array.from({ length: MANY }, () => scene.channel());
  const root = scene.ask(known, `count ${named.map(({ id }) => `<#${id}>`).join(' ')}`);
  await scene.finished(known, root);
  const asked = lookups().filter(({ args }) => named.some(({ id }) => id === args.channel));
  // The bot's own name is the first.
  expect(asked).toHaveLength(29);
  const [text = ''] = scene.sentToAgent('count').texts;
  expect(text).toContain(`#${named[28]?.name} #${named[29]?.id}`);
  expect(text).toContain(`#${named.at(-1)?.id}`);
});

test('a question does not wait for the commands of somebody else', async () => {
  const elsewhere = Array.from({ length: MANY }, (_, number) =>
    slack.createChannel({ name: `elsewhere-${number}`, bot: false }),
  );
  const began = lookups().length;
  const command = (channel: Channel) =>
    slack.command({ person: ada, channel, command: '/agent', text: 'status' });
  const commands = Promise.all(elsewhere.map(command));
  await scene.until('they are looked up', () => lookups().length > began + 3);
  expect(await lookupsBefore(scene.channel())).toBeLessThan(MAX_AHEAD);
  await commands;
});
