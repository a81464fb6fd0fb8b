import { describe, expect, test } from 'vitest';
import { asks, startForm } from '../../../src/render/strings/index.ts';
import { openStartFormScene } from '../../support/start-form-scene.ts';

const starting = await openStartFormScene();
const { scene } = starting;
const { slack, agent } = scene;

const csv = (name: string) => ({ name, mime: 'text/csv', bytes: 'a,b\n1,2\n3,4\n' });

describe.concurrent('a choice of skill or model that the service does not know', () => {
  test('can be made again with a form, in the same thread and task', async () => {
    const { channel, person } = starting.personInChannel();
    const root = starting.ask(person, channel, '--skill sumary what does skill mean?');
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('no skill called “sumary”');
    await starting.press(person, channel, root, 'choose_again');
    const view = await starting.form(person);
    const fields = view.blocks.map((block) => block.block_id).filter((id) => id !== 'used_skill');
    expect(fields).toEqual(['question', 'skill', 'files']);
    expect(starting.modalText(person)).toContain('sumary');
    await starting.send(person, { ...starting.filled(person), skill: 'summary' });
    expect(slack.modal(person)).toBeUndefined();
    await scene.until('it goes on, although the service ignores the skill', () =>
      scene.shown(channel, root).includes('Skill: none.'),
    );
    const sent = agent.calls.filter(({ body }) =>
      JSON.stringify(body ?? '').includes('what does skill mean?'),
    );
    expect(sent.at(-1)?.body).toMatchObject({ skill: 'summary' });
    expect(scene.sentToAgent('what does skill mean?').texts).toEqual(['what does skill mean?']);
    expect(starting.startedTasks('what does skill mean?')).toHaveLength(1);
  });

  test('in the middle of a conversation is made again with a form, along with what was said before', async () => {
    const { channel, person } = starting.personInChannel();
    const root = slack.say({ person: scene.grace, channel, text: 'Freezer 3 is warm' });
    const asked = scene.reply(channel, root, `${scene.mention} --model ultra what is middle?`, { person });
    await scene.finished(channel, asked);
    // What is chosen anew may be unknown, too.
    for (const skill of ['sumary', 'summary']) {
      await starting.press(person, channel, root, 'choose_again');
      await starting.form(person);
      await starting.send(person, { ...starting.filled(person), model: 'max', skill });
      const came = skill === 'summary' ? 'All is said.' : 'no skill called';
      await scene.until('it is asked again', () => scene.shown(channel, root).includes(came));
    }
    expect(scene.sentToAgent('what is middle?').texts).toEqual([
      expect.stringMatching(/> \*\*grace\*\*.*\n> Freezer 3 is warm[\s\S]*what is middle\?$/),
    ]);
  });

  test('of a model is corrected in the same thread, with the same files', async () => {
    const { channel, person } = starting.personInChannel();
    const text = `${scene.mention} --model ultra --title "A model" what does model mean?`;
    const root = slack.say({ person, channel, text, files: [csv('one.csv')] });
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('rejected the model “ultra”');
    expect(scene.shown(channel, root)).toContain('choose again (Standard, Fast, Max)');
    expect(scene.shown(channel, root)).not.toMatch(/body\.model|Invalid|Took/);
    await starting.press(person, channel, root, 'choose_again');
    const view = await starting.form(person);
    expect(JSON.stringify(view.blocks)).toContain('one.csv');
    const more = slack.upload(person, csv('two.csv'));
    await starting.send(person, { ...starting.filled(person), model: 'max', files: [more.id] });
    await scene.until('it goes on', () => scene.shown(channel, root).includes('Begun with 2 files.'));
    expect(starting.startedTasks('A model').at(-1)).toMatchObject({ model: 'max' });
    expect(scene.sentToAgent('A model').texts).toEqual(['what does model mean?']);
  });

  test('is corrected with the tables and forwarded files of the question, whose words alone are edited', async () => {
    const { channel, person } = starting.personInChannel();
    const own = slack.createChannel({ name: 'forwarded-from', members: [person, scene.grace] });
    const said = slack.say({
      person: scene.grace,
      channel: own,
      text: 'odd plates',
      files: [csv('far.csv')],
    });
    const text = `${scene.mention} --model ultra --title "Attached" what is attached?`;
    const table = Array.from({ length: 60 }, (_, row) => ['well', `${row}`]);
    const forwards = { channel: own.id, ts: said.ts };
    const root = slack.say({ person, channel, text, table, forwards });
    await scene.finished(channel, root);
    await starting.press(person, channel, root, 'choose_again');
    await starting.form(person);
    expect(starting.filled(person).question).toBe('what is attached?');
    expect(starting.modalText(person)).toContain('table-1.csv, forwarded message from grace');
    await starting.send(person, { ...starting.filled(person), question: 'what is it?', model: 'max' });
    await scene.until('it goes on', () => scene.shown(channel, root).includes('Begun with 2 files.'));
    const [asked] = scene.sentToAgent('Attached').texts;
    expect(asked).toMatch(
      /^what is it\?\n\n[\s\S]*see the file table-1\.csv[\s\S]*odd plates\n>\n> \[files: far\.csv\]/,
    );
  });

  test('is corrected once, whoever presses and however often the form is sent', async () => {
    const { channel, person } = starting.personInChannel();
    const other = starting.newPerson();
    slack.invite(channel, other);
    const root = starting.ask(person, channel, '--model ultra what is once?');
    await scene.finished(channel, root);
    await starting.press(person, channel, root, 'choose_again');
    await starting.press(other, channel, root, 'choose_again');
    await starting.form(person);
    await starting.form(other);
    const send = () => starting.send(person, { ...starting.filled(person), model: 'fast' });
    await Promise.all([send(), send()]);
    await starting.send(other, { ...starting.filled(other), model: 'max' });
    expect(starting.modalText(other)).toContain('already been asked again');
    await scene.until('it goes on', () => scene.shown(channel, root).includes('All is said.'));
    expect(scene.sentToAgent('what is once?').texts).toEqual(['what is once?']);
    await scene.until('the reply says who asked', () =>
      scene.shown(channel, root).includes(`Asked again by ${person.name}.`),
    );
    const shown = scene.replies(channel, root).flatMap(({ blocks }) => blocks ?? []);
    expect(JSON.stringify(shown)).not.toContain('choose_again');
  });

  test('waits with the others where the thread is paused', async () => {
    const { channel, person } = starting.personInChannel();
    const root = starting.ask(person, channel, '--skill sumary what is held?');
    await scene.finished(channel, root);
    scene.reply(channel, root, 'this goes slowly', { person });
    await scene.until('it runs', () => scene.sentToAgent('what is held?').texts.length === 1);
    scene.reply(channel, root, 'what waits', { person });
    scene.reply(channel, root, 'stop', { person });
    const paused = await scene.until('the thread names the paused messages', () =>
      scene.replies(channel, root).find(({ text }) => text.startsWith('1 message is waiting')),
    );
    await starting.press(person, channel, root, 'choose_again');
    await starting.form(person);
    await starting.send(person, { ...starting.filled(person), skill: 'summary' });
    await scene.until('it is counted', () => paused.text.startsWith('2 messages are waiting'));
    await slack.click({ person, channel, ts: paused.ts, actionId: 'send_paused' });
    await scene.until('both go', () => scene.sentToAgent('what is held?').texts.length === 3);
    expect(scene.sentToAgent('what is held?').texts.slice(1)).toEqual(['what waits', 'what is held?']);
  });

  test('of a long question is corrected without showing the question', async () => {
    const { channel, person } = starting.personInChannel();
    const long = `what is long? ${'Word by word. '.repeat(400)}`.trim();
    const root = starting.ask(person, channel, `--model ultra ${long}`);
    await scene.finished(channel, root);
    await starting.press(person, channel, root, 'choose_again');
    await starting.form(person);
    expect(starting.modalText(person)).toContain('too long to show here');
    await starting.send(person, { ...starting.filled(person), model: 'max' });
    await scene.until('it goes on', () => scene.shown(channel, root).includes('All is said.'));
    expect(scene.sentToAgent('what is long?').texts).toEqual([long]);
  });

  test('with other words changes the question that a form posted, and leaves nothing of what was refused', async () => {
    const { channel, person } = starting.personInChannel();
    const other = starting.newPerson();
    slack.invite(channel, other);
    await starting.command(person, channel, 'new');
    await starting.form(person);
    const first = { question: 'what does the old word mean?', model: 'max', skill: 'sumary' };
    await starting.send(person, first);
    const root = await starting.post(channel, 'the old word');
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('sumary');
    for (const skill of ['sumery', 'summary']) {
      await starting.press(other, channel, root, 'choose_again');
      await starting.form(other);
      await starting.send(other, { ...starting.filled(other), question: `what does ${skill} mean?`, skill });
      const came = skill === 'summary' ? 'All is said.' : 'no skill called “sumery”';
      await scene.until('it is asked again', () => scene.shown(channel, root).includes(came));
    }
    const whole = () => slack.thread(channel, root.ts).map((one) => JSON.stringify([one.text, one.blocks]));
    await scene.until('nothing of the refusals is left', () => !/sum(a|e)ry|old word/.test(whole().join()));
    expect(scene.replies(channel, root)[0]).toBe(root);
    expect(slack.visibleText(root)).toContain(`<@${other.id}> ${asks}`);
    expect(slack.visibleText(root)).toContain('what does summary mean?');
    expect(slack.visibleText(root)).toMatch(/Model Max · skill summary$/);
    // The question, two refusals and the answer: nothing is asked twice in sight.
    expect(whole().join().split('what does summary mean?')).toHaveLength(3);
    const { threads, personErasure } = scene.sandbox.bot.store;
    const key = { workspace: root.teamId, channel: channel.id, thread_ts: root.ts };
    const task = { task_title: 'what does summary mean?', task_model: 'max', started_by: person.id };
    expect(await threads.getOrThrow(key)).toMatchObject(task);
    const sent = `${other.name}: what does summary mean?`;
    expect(scene.sentToAgent('what does the old word mean?').texts).toEqual([sent]);
    // Asked again from there, it is what was sent.
    await starting.choose(person, channel, root, 'ask_again');
    await starting.form(person);
    expect(starting.filled(person)).toMatchObject({ question: 'what does summary mean?', skill: 'summary' });
    await starting.send(person, { ...starting.filled(person), skill: 'sumary' });
    const posts = () => starting.posts(channel, 'what does summary mean?');
    const again = await scene.until('it is posted again', () => posts().find(({ ts }) => ts !== root.ts));
    await starting.press(person, channel, again, 'choose_again');
    await starting.form(person);
    await starting.send(person, { ...starting.filled(person), skill: 'summary' });
    await scene.until('it goes on', () => scene.shown(channel, again).includes('All is said.'));
    expect(JSON.stringify(again.blocks)).toContain(slack.permalink(root));
    // The title is forgotten with whose words it has become.
    await personErasure.eraseUser(root.teamId, other.id);
    expect(await threads.getOrThrow(key)).toMatchObject({ task_title: null, started_by: person.id });
  });

  test('with other words than a person wrote is shown in the thread, and there again', async () => {
    const { channel, person } = starting.personInChannel();
    const root = starting.ask(person, channel, '--skill sumary what is the old one?');
    await scene.finished(channel, root);
    const press = async (question: string, skill: string) => {
      await starting.press(person, channel, root, 'choose_again');
      await starting.form(person);
      await starting.send(person, { ...starting.filled(person), question, skill });
    };
    await press('what is the newer one?', 'sumery');
    await scene.until('it is refused', () => scene.shown(channel, root).includes('no skill called “sumery”'));
    await press('what is the new one?', 'summary');
    await scene.until('it is answered', () => scene.shown(channel, root).includes('All is said.'));
    await scene.until('the refusals are gone', () => !/sum(a|e)ry/.test(scene.shown(channel, root)));
    const posts = scene.replies(channel, root).filter((one) => slack.visibleText(one).includes(asks));
    expect(posts.map((one) => slack.visibleText(one))).toEqual([
      expect.stringMatching(new RegExp(`<@${person.id}> ${asks}[^]*what is the new one\\?[^]*Skill summary`)),
    ]);
    expect(scene.sentToAgent('what is the old one?').texts).toEqual(['what is the new one?']);
    expect(scene.shown(channel, root)).toContain(`Asked again by ${person.name}.`);
  });

  test('keeps the options with which the task began, and says so to flags for others', async () => {
    const { channel, person } = starting.personInChannel();
    const root = starting.ask(person, channel, '--model max --title "Kept" --skill sumary what is kept?');
    await scene.finished(channel, root);
    await starting.press(person, channel, root, 'choose_again');
    await starting.form(person);
    const refused = await starting.send(person, { question: '--model fast what is kept?', skill: 'summary' });
    expect(refused.body).toEqual({ response_action: 'errors', errors: { question: startForm.choicesFixed } });
    await starting.send(person, { question: 'what is kept now?', skill: 'summary' });
    await scene.until('it is answered', () => scene.shown(channel, root).includes('All is said.'));
    expect(scene.shown(channel, root)).toContain('“Kept” · model Max · skill summary');
    expect(starting.startedTasks('Kept')).toMatchObject([{ model: 'max' }]);
    expect(starting.ephemeralTexts(person, channel)).toEqual([]);
  });

  test('is not corrected by a person without access', async () => {
    const { channel, person } = starting.personInChannel();
    const guest = slack.createPerson({ name: 'guest', kind: 'guest' });
    slack.invite(channel, guest);
    const root = starting.ask(person, channel, '--model ultra what is a guest?');
    await scene.finished(channel, root);
    await starting.press(guest, channel, root, 'choose_again');
    const refused = await scene.until('the window says so', () => {
      const said = starting.modalText(guest);
      return said.includes('Only full members') && said;
    });
    expect(refused).not.toContain('what is a guest?');
  });

  test('cannot be corrected where the task is gone', async () => {
    const { channel, person } = starting.personInChannel();
    const root = starting.ask(person, channel, 'what is gone?');
    await scene.finished(channel, root);
    const [task] = agent.tasks.filter(({ title }) => title === 'what is gone?');
    await starting.deleteTask(task?.id ?? '');
    const reply = scene.reply(channel, root, '--skill sumary and now?', { person });
    await scene.finished(channel, reply);
    expect(scene.shown(channel, root)).toContain('no longer has this conversation');
    expect(JSON.stringify(scene.replies(channel, root))).not.toContain('choose_again');
  });
});

describe.concurrent('"Ask the agent about this"', () => {
  test('starts a task in the thread of any message, with its text and files', async () => {
    const { channel, person } = starting.personInChannel();
    const said = slack.say({
      person: scene.grace,
      channel,
      text: 'Run 7 looks *odd* to <@me>, see https://example.com/run',
      files: [csv('run.csv')],
    });
    await slack.shortcut({ person, callbackId: 'ask_about', channel, ts: said.ts });
    await starting.form(person);
    expect(starting.modalText(person)).toContain('Run 7 looks');
    expect(starting.modalText(person)).toContain('run.csv');
    await starting.send(person, { question: 'why is it odd?', model: 'max' });
    await scene.until('it is answered', () => scene.shown(channel, said).includes('Begun with 1 files.'));
    expect(starting.startedTasks('why is it odd?')).toMatchObject([{ model: 'max' }]);
    const [told] = scene.sentToAgent('why is it odd?').texts;
    expect(told).toMatch(/> \*\*grace\*\*.*\n> Run 7 looks \*\*odd\*\*/);
    expect(told).toMatch(/why is it odd\?$/);
    scene.reply(channel, said, 'thank you', { person });
    await scene.until('a reply goes on', () => scene.sentToAgent('why is it odd?').texts.length === 2);
  });

  test('asks about the message alone, with the name of its writer, where nothing is added', async () => {
    const { channel, person } = starting.personInChannel();
    const root = slack.say({ person: scene.grace, channel, text: 'Let us talk' });
    const said = scene.reply(channel, root, 'What is the mean of all runs?', { person: scene.grace });
    await slack.shortcut({ person, callbackId: 'ask_about', channel, ts: said.ts });
    await starting.form(person);
    const send = () => starting.send(person);
    await Promise.all([send(), send()]);
    await scene.until('it is answered', () => scene.shown(channel, root).includes('All is said.'));
    expect(scene.sentToAgent('What is the mean of all runs?').texts).toEqual([
      'grace: What is the mean of all runs?',
    ]);
  });

  test('accepts a message from another app', async () => {
    const { channel, person } = starting.personInChannel();
    const alarms = slack.createPerson({ name: 'alarms', kind: 'bot' });
    slack.invite(channel, alarms);
    const blocks = [{ type: 'section', text: { type: 'mrkdwn', text: 'Freezer 3 is *warm*' } }];
    const said = slack.say({ person: alarms, channel, text: '', blocks });
    await slack.shortcut({ person, callbackId: 'ask_about', channel, ts: said.ts });
    await starting.form(person);
    await starting.send(person);
    await scene.until('it is answered', () => scene.shown(channel, said).includes('All is said.'));
    expect(scene.sentToAgent('Freezer 3').texts).toEqual([expect.stringContaining('Freezer 3 is **warm**')]);
  });

  test('starts a new task in the channel, quoting the message, where the thread already has one', async () => {
    const { channel, person } = starting.personInChannel();
    const root = starting.ask(person, channel, 'what is there?');
    await scene.finished(channel, root);
    const answer = scene
      .replies(channel, root)
      .find((one) => slack.visibleText(one).includes('All is said.'));
    await slack.shortcut({ person, callbackId: 'ask_about', channel, ts: answer?.ts ?? '' });
    await starting.form(person);
    expect(starting.modalText(person)).toContain('already has a task');
    await starting.send(person, { question: 'is all said there?' });
    const post = await starting.post(channel, 'is all said there?');
    expect(slack.visibleText(post)).toContain('All is said.');
    await scene.finished(channel, post);
    expect(scene.sentToAgent('is all said there?').texts[0]).toMatch(
      /All is said[\s\S]*is all said there\?$/,
    );
    expect(scene.sentToAgent('what is there?').texts).toHaveLength(1);
  });
});
