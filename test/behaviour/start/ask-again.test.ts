import { describe, expect, test } from 'vitest';
import type { Channel, Message } from '../../../sandbox/slack/slack-workspace.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { openStartFormScene } from '../../support/start-form-scene.ts';

const starting = await openStartFormScene({ settings: { TASK_CONTROL: 'starter' } });
const { scene } = starting;
const { slack, agent } = scene;

const csv = (name: string) => ({ name, mime: 'text/csv', bytes: 'a,b\n1,2\n3,4\n' });

/** The bot's messages in a thread that lead to another one. */
function linksBack(channel: Channel, root: Message, to: Message): Message[] {
  return scene.replies(channel, root).filter(({ text }) => text.includes(slack.permalink(to)));
}

describe.concurrent('Ask again', () => {
  test('asks with the same words and files and another model in a new thread, and links both once', async () => {
    const { channel, person } = starting.personInChannel();
    const other = starting.newPerson();
    slack.invite(channel, other);
    const text = `${scene.mention} --title "Again" what is again?`;
    const root = slack.say({ person, channel, text, files: [csv('again.csv')] });
    await scene.finished(channel, root);
    // Whoever may ask there may ask again, also where only a thread's starter may stop its work.
    await starting.choose(other, channel, root, 'ask_again');
    await starting.form(other);
    expect(starting.modalText(other)).toContain('again.csv');
    expect(starting.modalText(other)).toContain(strings.startForm.asksAgain);
    expect(starting.filled(other)).toMatchObject({ question: 'what is again?', title: 'Again' });
    const send = () => starting.send(other, { ...starting.filled(other), model: 'max', skill: 'summary' });
    // On a slow machine, the second one's notice has no window any more.
    await Promise.allSettled([send(), send()]);
    const post = await starting.post(channel, 'is again?');
    await scene.finished(channel, post);
    expect(JSON.stringify(post.blocks)).toContain(slack.permalink(root));
    expect(JSON.stringify(post.blocks)).toContain(other.id);
    expect(scene.shown(channel, post)).toContain('Begun with 1 files.');
    expect(starting.startedTasks('Again')).toHaveLength(2);
    expect(starting.startedTasks('Again').at(-1)).toMatchObject({ model: 'max' });
    await scene.until('the first thread has the link', () => linksBack(channel, root, post).length > 0);
    const asked = agent.calls.filter(({ body }) => JSON.stringify(body ?? '').includes('what is again?'));
    expect(asked.at(-1)?.body).toMatchObject({ skill: 'summary' });
    const [told] = linksBack(channel, root, post);
    expect(told?.text).toContain(`${other.name} asked this question again`);
    // Whatever a name holds is no markup.
    const sentence = { type: 'plain_text', text: strings.askedAgain(other.name) };
    expect(told?.blocks).toMatchObject([{ text: sentence, accessory: { url: slack.permalink(post) } }]);
    await scene.expectStays(
      () => [starting.posts(channel, 'is again?').length, linksBack(channel, root, post).length],
      [1, 1],
    );
    const { store } = scene.sandbox.bot;
    const key = { ts: post.ts, workspace: post.teamId, channel: channel.id };
    expect((await store.turns.ofMessage(key))?.asked_by).toBe(other.id);
    // Whoever is forgotten later takes their words along, also out of what others asked again.
    expect((await store.messages.get(key))?.content).toMatchObject({ text: 'what is again?' });
    const days = { words: 30, rows: 90, audit: 90, uninstalled: 30 };
    await store.db
      .updateTable('task_starts')
      .set({ created_at: new Date(Date.now() - 3 * 86_400_000) })
      .where('thread_ts', '=', post.ts)
      .execute();
    await store.retention.deleteExpired(days);
    await store.personErasure.eraseUser(post.teamId, person.id);
    expect((await store.messages.get(key))?.content).toBeNull();
    expect((await store.turns.ofMessage(key))?.prompt).toBeNull();
    // The post that repeats them is still in Slack.
    await starting.choose(other, channel, post, 'ask_again');
    await scene.until('the window says so', () =>
      starting.modalText(other).includes('find this question in Slack'),
    );
  });

  test('has the words as they are in Slack at that moment, and none that were deleted or forgotten', async () => {
    const { channel, person } = starting.personInChannel();
    const other = starting.newPerson();
    slack.invite(channel, other);
    const root = starting.ask(person, channel, 'what was at first?');
    await scene.finished(channel, root);
    const reply = scene.reply(channel, root, `${scene.mention} and a secret?`, { person });
    await scene.finished(channel, reply);
    await starting.choose(person, channel, reply, 'ask_again');
    await starting.form(person);
    expect(starting.filled(person).question).toBe('and a secret?');
    slack.edit(channel.id, reply.ts, `${scene.mention} and what is known?`);
    await starting.choose(other, channel, reply, 'ask_again');
    await starting.form(other);
    expect(starting.filled(other).question).toBe('and what is known?');
    slack.remove(channel.id, reply.ts);
    const last = starting.newPerson();
    slack.invite(channel, last);
    await starting.choose(last, channel, reply, 'ask_again');
    const isGone = () => starting.modalText(last).includes('find this question in Slack');
    await scene.until('the window says so', isGone);
    await scene.sandbox.bot.store.personErasure.eraseUser(slack.team.id, person.id);
    const next = starting.newPerson();
    slack.invite(channel, next);
    await starting.choose(next, channel, root, 'ask_again', 'first');
    await scene.until('the window says so', () =>
      starting.modalText(next).includes('find this question in Slack'),
    );
    // What others were about to ask again is forgotten, too.
    const late = await starting.send(other, { ...starting.filled(other) });
    expect(JSON.stringify(late.body)).toContain('open too long');
    expect(starting.posts(channel, 'what')).toEqual([]);
  });

  test('repeats a question from the form with its files, and one that was sent with the files before it', async () => {
    const { channel, person } = starting.personInChannel();
    await starting.command(person, channel, 'new');
    await starting.form(person);
    const file = slack.upload(person, csv('form.csv'));
    await starting.send(person, { question: 'what <is> in *the* form?', skill: 'summary', files: [file.id] });
    const first = await starting.post(channel, 'in *the* form?');
    await scene.finished(channel, first);
    await starting.choose(person, channel, first, 'ask_again');
    await starting.form(person);
    expect(starting.modalText(person)).toContain('form.csv');
    expect(starting.filled(person)).toMatchObject({ question: 'what <is> in *the* form?', skill: 'summary' });
    await starting.send(person, { ...starting.filled(person), model: 'fast' });
    const posts = () => starting.posts(channel, 'in *the* form?');
    await scene.until('it is posted again', () => posts().length === 2);
    const again = posts().find(({ ts }) => ts !== first.ts) ?? first;
    await scene.finished(channel, again);
    expect(scene.shown(channel, again)).toContain('Begun with 1 files.');
    expect(starting.startedTasks('what <is> in *the* form?').at(-1)).toMatchObject({ model: 'fast' });
    await scene.until('it is linked', () => linksBack(channel, first, again).length === 1);

    const root = slack.say({ person, channel, text: scene.mention, files: [csv('before.csv')] });
    await scene.finished(channel, root);
    const reply = scene.reply(channel, root, 'what came before?', { person });
    await scene.finished(channel, reply);
    await starting.choose(person, channel, root, 'ask_again');
    await starting.form(person);
    expect(starting.modalText(person)).toContain('before.csv');
  });

  test('shows a pasted table as one, and asks again from there with its file', async () => {
    const { channel, person } = starting.personInChannel();
    const table = [['gene', 'p'], ...Array.from({ length: 60 }, (_, row) => [`G${row}`, ''])];
    const root = slack.say({ person, channel, text: `${scene.mention} what stands out?`, table });
    await scene.finished(channel, root);
    const blockTypes = ({ blocks }: Message) => blocks?.map(({ type }) => type);
    const askAgain = async (from: Message) => {
      await starting.choose(person, channel, from, 'ask_again');
      await starting.form(person);
      const posted = new Set(starting.posts(channel, 'what stands out?'));
      await starting.send(person, starting.filled(person));
      const post = await scene.until('it is posted again', () =>
        starting.posts(channel, 'what stands out?').find((one) => !posted.has(one)),
      );
      await scene.finished(channel, post);
      expect(scene.shown(channel, post)).toContain('Begun with 1 files.');
      expect(JSON.stringify(post.blocks)).toContain('With table-1.csv');
      expect(JSON.stringify(post.blocks)).not.toContain('| gene |');
      return post;
    };
    const again = await askAgain(root);
    expect(blockTypes(again)).toEqual(['rich_text', 'table', 'context', 'context']);
    expect(JSON.stringify(again.blocks)).toContain('G59');
    // Where Slack refuses the table, the question is posted without it.
    const body = { ok: false, error: 'invalid_blocks' };
    slack.faults.add({
      call: 'chat.postMessage',
      about: 'G59',
      times: 1,
      fault: { kind: 'status', status: 200, body },
    });
    expect(blockTypes(await askAgain(again))).toEqual(['rich_text', 'context', 'context']);
  });

  test('repeats what was asked, also below an answer that a button continued', async () => {
    const { channel, person } = starting.personInChannel();
    const root = starting.ask(person, channel, 'what is cut off?');
    await scene.finished(channel, root);
    await starting.press(person, channel, root, 'continue');
    const menus = () =>
      scene
        .replies(channel, root)
        .filter(({ blocks }) => JSON.stringify(blocks ?? '').includes('ask_again/'));
    await scene.until('it has gone on', () => menus().length === 2);
    await starting.choose(person, channel, root, 'ask_again');
    await starting.form(person);
    expect(starting.filled(person).question).toBe('what is cut off?');
  });

  test.each(['guest', 'stranger'] as const)('is not for a %s who may not ask there', async (kind) => {
    const { channel, person } = starting.personInChannel();
    const other = slack.createPerson({ name: `a-${kind}`, kind });
    slack.invite(channel, other);
    const root = starting.ask(person, channel, `what may a ${kind}?`);
    await scene.finished(channel, root);
    await starting.choose(other, channel, root, 'ask_again');
    await scene.until('the window says so', () =>
      starting.modalText(other).includes(strings.noAccess.channel),
    );
    expect(starting.modalText(other)).not.toContain(`what may a ${kind}?`);
  });

  test('posts nothing in a channel that was archived meanwhile, or that the person has left', async () => {
    const { channel, person } = starting.personInChannel();
    const other = starting.newPerson();
    slack.invite(channel, other);
    const root = starting.ask(person, channel, 'what is closed?');
    await scene.finished(channel, root);
    for (const who of [person, other]) {
      await starting.choose(who, channel, root, 'ask_again');
      await starting.form(who);
    }
    slack.kick(channel, other);
    const left = await starting.send(other, starting.filled(other));
    expect(JSON.stringify(left.body)).toContain(strings.controlRefused.outsider);
    slack.archive(channel);
    const closed = await starting.send(person, starting.filled(person));
    expect(JSON.stringify(closed.body)).toContain(strings.startForm.archived);
    expect(starting.posts(channel, 'what is closed?')).toEqual([]);
  });

  test('works in a direct message', async () => {
    const person = starting.newPerson();
    const dm = slack.openDm(person);
    const root = slack.say({ person, channel: dm, text: 'what is direct?' });
    await scene.finished(dm, root);
    await starting.choose(person, dm, root, 'ask_again');
    await starting.form(person);
    await starting.send(person, { ...starting.filled(person), model: 'max' });
    const post = await starting.post(dm, 'what is direct?');
    await scene.finished(dm, post);
    expect(JSON.stringify(post.blocks)).toContain(slack.permalink(root));
    await scene.until('it is linked', () => linksBack(dm, root, post).length === 1);
  });
});

test('asking again counts against the quota of the person who does', async ({ onTestFinished }) => {
  const few = await openStartFormScene({ settings: { TURNS_PER_HOUR_PERSON: '1' } }, onTestFinished);
  const { channel, person } = few.personInChannel();
  const other = few.newPerson();
  few.scene.slack.invite(channel, other);
  const root = few.ask(person, channel, 'what is counted?');
  await few.scene.finished(channel, root);
  const again = async (who: typeof person) => {
    await few.choose(who, channel, root, 'ask_again');
    await few.form(who);
    return JSON.stringify((await few.send(who, few.filled(who))).body ?? '');
  };
  expect(await again(person)).toContain('one message in the past hour');
  expect(await again(other)).not.toContain('past hour');
  await few.scene.finished(channel, await few.post(channel, 'what is counted?'));
  expect(await again(other)).toContain('one message in the past hour');
});
