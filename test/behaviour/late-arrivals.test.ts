import { expect, test } from 'vitest';
import { openScene } from './scene.ts';

const scene = await openScene();
const { slack, agent } = scene;

/** A ts so many seconds before another. */
function before(ts: string, seconds: number): string {
  const [whole = '', fraction = ''] = ts.split('.');
  return `${Number(whole) - seconds}.${fraction}`;
}

test('a message that arrives before a later one is sent goes first, and takes its place in the thread', async () => {
  const channel = scene.channel();
  const root = slack.say({ person: scene.ada, channel, text: `${scene.mention} the first of four` });
  await scene.finished(channel, root);
  agent.faults.add({ call: 'POST /experimental/files', fault: { kind: 'latency', ms: 2_500 }, times: 1 });
  const files = [{ name: 'late.csv', mime: 'text/csv', bytes: 'a,b\n1,2\n' }];
  const later = scene.reply(channel, root, 'the third', { files });
  const turnOf = (ts: string) =>
    scene.stage.bot.store.turns.ofMessage({ workspace: slack.team.id, channel: channel.id, ts });
  const turn = await scene.until('its turn has begun', () => turnOf(later.ts));
  // The copy of the earlier message was held up by Slack and is written down only now.
  const earlier = before(later.ts, 1);
  await scene.stage.bot.store.messages.add(
    { workspace: slack.team.id, channel: channel.id, ts: earlier },
    {
      root: root.ts,
      person: scene.grace.id,
      state: 'waiting',
      words: { text: 'the second' },
      editedTs: null,
    },
  );
  scene.reply(channel, root, 'the fourth');
  await scene.until('three are sent', () => scene.told('the first of four').texts.length >= 3);
  expect(scene.told('the first of four').texts.slice(0, 3)).toEqual([
    'the first of four',
    'grace: the second',
    'ada: the third',
  ]);
  expect((await turnOf(earlier))?.id).toBe(turn.id);
  await scene.finished(channel, later);
  const fileIds = scene.told('the first of four').fileIds;
  expect(fileIds.slice(0, 3).map((ids) => ids.length)).toEqual([0, 0, 1]);
  expect(agent.calls.filter(({ name }) => name === 'POST /experimental/files')).toHaveLength(1);
});
