import { describe, expect, test } from 'vitest';
import type { AgentScript } from '../../../sandbox/agent/agent-script.ts';
import type { Channel, Message, Person } from '../../../sandbox/slack/slack-workspace.ts';
import { openStartFormScene } from '../../support/start-form-scene.ts';

/** What the agent answers to the same words, the first time and later. */
const runs = new Map<string, number>();

const table = (fold: string) =>
  `| Gene | log2FC | padj |\n|---|---|---|\n| TP53 | ${fold} | 0.02 |\n| MYC | −2.1 | 2.5 × 10⁻⁸ |\n`;

const script: AgentScript = async (turn) => {
  const run = (runs.get(turn.text) ?? 0) + 1;
  runs.set(turn.text, run);
  const fold = run === 1 ? '1.8' : '2.4';
  if (turn.text.includes('in words')) return turn.write(`TP53 rose by ${fold}.`);
  if (turn.text.includes('in a file')) {
    await turn.result('genes.csv', 'text/csv', `gene,log2FC\nTP53,${fold}00\nMYC,-2.1\n`);
    await turn.result('none.csv', 'text/csv', '');
    return turn.write('The file has it.');
  }
  turn.write(`Run ${run}.\n\n${table(fold)}`);
};

const LINE = 'Compared with the earlier answer';
const starting = await openStartFormScene({ agent: { script } });
const { scene } = starting;

async function answered(person: Person, channel: Channel, text: string): Promise<Message> {
  const root = starting.ask(person, channel, text);
  await scene.finished(channel, root);
  return root;
}

/** Asks the question of a thread again, with changes; the post whose thread has the second answer. */
async function again(
  person: Person,
  channel: Channel,
  { root, text, change = {} }: { root: Message; text: string; change?: Record<string, string> },
): Promise<Message> {
  await starting.choose(person, channel, root, 'ask_again');
  await starting.form(person);
  await starting.send(person, { ...starting.filled(person), ...change });
  const post = await starting.post(channel, change.question ?? text);
  await scene.finished(channel, post);
  return post;
}

describe.concurrent('an answer to a question that was asked again', () => {
  test.each([
    ['which genes change?', '3 of 4 figures agree within 1 %; log2FC of TP53 differs: 1.8, 2.4.'],
    [
      'which genes change in a file?',
      '1 of 2 figures agree within 1 %; log2FC of TP53 differs: 1.800, 2.400.',
    ],
  ])('ends with what differs: %s', async (text, told) => {
    const { channel, person } = starting.personInChannel();
    const root = await answered(person, channel, text);
    expect(scene.shown(channel, root)).not.toContain(LINE);
    const post = await again(person, channel, { root, text, change: { model: 'max' } });
    expect(scene.shown(channel, post)).toContain(`${LINE}: ${told}`);
    // It is a part of the reply, and no post of its own.
    const [reply] = scene.replies(channel, post).filter((one) => one.ts !== post.ts);
    expect(scene.slack.visibleText(reply ?? post)).toContain(LINE);
    const further = scene.reply(channel, post, 'and then?', { person });
    await scene.finished(channel, further);
    expect(scene.shown(channel, post).split(LINE)).toHaveLength(2);
  });

  test('says nothing if nothing can be compared, or something else was asked', async () => {
    const { channel, person } = starting.personInChannel();
    const words = 'which genes change in words?';
    const root = await answered(person, channel, words);
    expect(scene.shown(channel, await again(person, channel, { root, text: words }))).not.toContain(LINE);
    const text = 'which genes change here?';
    const other = await answered(person, channel, text);
    const change = { question: 'which genes change in mice?' };
    expect(scene.shown(channel, await again(person, channel, { root: other, text, change }))).not.toContain(
      LINE,
    );
  });

  test('says nothing if another file goes along', async () => {
    const { channel, person } = starting.personInChannel();
    const text = 'which genes change in these?';
    const file = (bytes: string) => ({ name: 'counts.csv', mime: 'text/csv', bytes });
    const root = scene.slack.say({
      person,
      channel,
      text: `${scene.mention} ${text}`,
      files: [file('a\n1\n')],
    });
    await scene.finished(channel, root);
    const post = await again(person, channel, { root, text });
    expect(scene.shown(channel, post)).toContain(LINE);
    const { id } = scene.slack.upload(person, file('a\n2\n'));
    await starting.choose(person, channel, root, 'ask_again');
    await starting.form(person);
    await starting.send(person, { ...starting.filled(person), files: [id] });
    const posts = () => starting.posts(channel, text).filter(({ ts }) => ts !== post.ts);
    const other = await scene.until('it is asked once more', () => posts()[0]);
    await scene.finished(channel, other);
    expect(scene.shown(channel, other)).toContain('Run 3.');
    expect(scene.shown(channel, other)).not.toContain(LINE);
  });

  test.each<[string, (person: Person, channel: Channel, root: Message) => Promise<unknown>]>([
    [
      'whose words are no longer kept',
      async (_, channel, root) => {
        const { db } = scene.sandbox.bot.store;
        const theirs = db
          .updateTable('turns')
          .where('channel', '=', channel.id)
          .where('thread_ts', '=', root.ts);
        await theirs.set({ prompt: null }).execute();
      },
    ],
    [
      'that was deleted from its thread',
      async (_, channel, root) => {
        for (const { ts } of scene.replies(channel, root)) scene.slack.remove(channel.id, ts);
      },
    ],
    [
      'that the service no longer has',
      async (_, channel, root) => {
        const key = { workspace: root.teamId, channel: channel.id, thread_ts: root.ts };
        const thread = await scene.sandbox.bot.store.threads.get(key);
        await starting.deleteTask(thread?.task_id ?? '');
      },
    ],
  ])('says nothing of an earlier answer %s', async (what, lose) => {
    const { channel, person } = starting.personInChannel();
    const text = `which genes change, of one ${what}?`;
    const root = await answered(person, channel, text);
    await starting.choose(person, channel, root, 'ask_again');
    await starting.form(person);
    await lose(person, channel, root);
    await starting.send(person, starting.filled(person));
    const post = await starting.post(channel, text);
    await scene.finished(channel, post);
    expect(scene.shown(channel, post)).toContain('Run 2.');
    expect(scene.shown(channel, post)).not.toContain(LINE);
  });
});

test('an answer is complete without a comparison that Slack or the service refuses', async () => {
  const { channel, person } = starting.personInChannel();
  const text = 'which genes change despite faults?';
  const root = await answered(person, channel, text);
  await starting.choose(person, channel, root, 'ask_again');
  await starting.form(person);
  const fault = { kind: 'status', status: 200, body: { ok: false, error: 'missing_scope' } } as const;
  scene.slack.faults.add({ call: 'conversations.replies', fault });
  await starting.send(person, starting.filled(person));
  const post = await starting.post(channel, text);
  await scene.finished(channel, post).finally(() => scene.slack.faults.clear());
  expect(scene.shown(channel, post)).toContain('Run 2.');
  expect(scene.shown(channel, post)).not.toContain(LINE);
});
