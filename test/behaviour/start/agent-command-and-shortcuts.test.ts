import { describe, expect, test } from 'vitest';
import type { Channel, Person } from '../../../sandbox/slack/slack-workspace.ts';
import { ALL_SCOPES } from '../../../sandbox/slack/workspace-options.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { openStartFormScene } from '../../support/start-form-scene.ts';

const dialect = { noFallbackField: 'disable_fallback', autoModeField: 'auto_mode' };
const starting = await openStartFormScene({
  agent: { behaviour: { skillOnTask: 'runs' } },
  settings: { AGENT_DIALECT: JSON.stringify(dialect) },
});
const { scene } = starting;
const { slack, agent } = scene;

describe.concurrent('/agent', () => {
  test('answers with help, and names an unknown command', async () => {
    const { channel, person } = starting.personInChannel();
    for (const text of ['help', '', 'constructor', 'NEWS']) await starting.command(person, channel, text);
    const answers = await scene.until('they are answered', () => {
      const all = starting.ephemeralTexts(person, channel);
      return all.length === 4 && all;
    });
    for (const answer of answers) expect(answer).toContain('/agent new');
    const unknown = answers.map((answer) => /I don't know “\/agent (\w+)”/.exec(answer)?.[1]);
    expect(unknown).toEqual([undefined, undefined, 'constructor', 'news']);
  });

  test.each(['how many wells are dry?', 'status of the plates', 'help me with the plates'])(
    'with “%s” asks it in the channel',
    async (question) => {
      const { channel, person } = starting.personInChannel();
      const heard = await starting.askByCommand(person, channel, question);
      expect(heard.split('\n')[0]).toBe(strings.command.asked);
      await scene.until('it is asked', () => starting.startedTasks(question).length === 1);
    },
  );

  test('stop stops the only run of its asker there, and lists the runs where there are several', async () => {
    const { channel, person } = starting.personInChannel();
    const begin = async (title: string, by: Person = person) => {
      const root = starting.ask(by, channel, title);
      const isRunning = () => agent.tasks.some((task) => task.title === title && task.status === 'running');
      await scene.until('it runs', isRunning);
      return root;
    };
    const others = await begin('that of somebody else goes slowly', scene.ada);
    const only = await begin('the only one goes slowly');
    expect(await starting.askByCommand(person, channel, 'stop')).toContain('the only one goes slowly');
    await scene.finished(channel, only);
    expect(scene.shown(channel, only)).toContain(`Stopped by ${person.name}.`);
    const both = [await begin('one of two goes slowly'), await begin('two of two goes slowly')];
    await starting.command(person, channel, 'stop');
    const list = await scene.until('they are listed', () =>
      slack.ephemerals(person, channel).find(({ blocks }) => JSON.stringify(blocks).includes('stop_listed')),
    );
    expect(slack.visibleText(list)).toContain('one of two');
    const { turns } = scene.sandbox.bot.store;
    for (const { ts } of [others, ...both]) {
      const turn = await turns.ofMessage({ workspace: slack.team.id, channel: channel.id, ts });
      expect(turn).toMatchObject({ stop_requested_at: null, finished_at: null });
    }
    for (const root of [others, ...both]) scene.reply(channel, root, 'stop');
  });

  test.each([
    ['--model max', strings.startForm.empty],
    ['--modle max what is it?', strings.unknownFlag({ typed: 'modle', meant: 'model' })],
  ])('with “%s” asks nothing, and says why', async (text, why) => {
    const { channel, person } = starting.personInChannel();
    expect(await starting.askByCommand(person, channel, text)).toContain(why);
    expect(slack.messages(channel)).toEqual([]);
  });

  test.each(['status', 'tasks', 'Tasks?'])('%s says how to invite the bot where it is not', async (word) => {
    const { channel, person } = starting.personInChannel({ bot: false });
    await starting.command(person, channel, word);
    const heard = await scene.until('it is answered', () => starting.ephemeralTexts(person, channel)[0]);
    expect(heard).toContain('/invite @');
  });

  test('speaks of no channel in a direct message', async () => {
    const person = starting.newPerson();
    const dm = slack.openDm(person);
    for (const [at, text] of ['status', 'tasks', 'what is said here?'].entries()) {
      await starting.command(person, dm, text);
      const heard = await scene.until('it is answered', () => starting.ephemeralTexts(person, dm)[at]);
      expect(heard).not.toContain('channel');
    }
  });

  test("lists a person's running tasks for status, with a button that stops each", async () => {
    const { channel, person } = starting.personInChannel();
    const mine = starting.ask(person, channel, 'mine goes slowly');
    const other = scene.ask(channel, 'that of Ada goes slowly');
    for (const title of ['mine goes slowly', 'that of Ada goes slowly'])
      await scene.until('it runs', () =>
        agent.tasks.some((task) => task.title === title && task.status === 'running'),
      );
    await starting.command(person, channel, 'status');
    const answer = await scene.until('it is answered', () => starting.ephemeralTexts(person, channel)[0]);
    expect(answer).toContain('mine goes slowly');
    expect(answer).not.toContain('that of Ada');
    expect(answer).toContain("It's working on one task for someone else.");
    await starting.command(person, channel, 'status');
    const list = await scene.until('it is answered', () => slack.ephemerals(person, channel)[1]);
    const press = () => slack.click({ person, channel, ts: list.ts, actionId: 'stop_listed' });
    await Promise.all([press(), press()]);
    await scene.until('its row changes', () => !JSON.stringify(list.blocks).includes('stop_listed'));
    await scene.finished(channel, mine);
    expect(scene.shown(channel, mine)).toContain(`Stopped by ${person.name}.`);
    await starting.command(scene.ada, channel, 'status');
    const hers = await scene.until('it is answered', () => slack.ephemerals(scene.ada, channel)[0]);
    expect(slack.visibleText(hers)).toContain('that of Ada');
    const listed = Promise.withResolvers<void>();
    const slowly = { kind: 'hold', until: listed.promise } as const;
    slack.faults.add({ call: 'conversations.members', about: channel.id, fault: slowly });
    // Slack is answered as soon as the stop is recorded: for the list, the bot waits 5 s for Slack.
    const pressedAt = performance.now();
    await slack.click({ person: scene.ada, channel, ts: hers.ts, actionId: 'stop_listed' });
    expect(performance.now() - pressedAt).toBeLessThan(4_500);
    listed.resolve();
    await scene.finished(channel, other);
  });

  test("lists others' work in a person's threads by name, and theirs elsewhere with a link where they may see it", async () => {
    const { channel, person } = starting.personInChannel();
    const [far, left] = ['far', 'left'].map((name) => slack.createChannel({ name })) as [Channel, Channel];
    const root = starting.ask(person, channel, 'a thread of mine');
    await scene.finished(channel, root);
    scene.reply(channel, root, 'hers goes slowly');
    const away = starting.ask(person, far, 'far goes slowly');
    starting.ask(person, left, 'left goes slowly');
    starting.ask(person, channel, 'mine goes slowly');
    const titles = ['a thread of mine', ...['far', 'left', 'mine'].map((word) => `${word} goes slowly`)];
    const isRunning = (wanted: string) =>
      agent.tasks.some(({ title, status }) => title === wanted && status === 'running');
    await scene.until('all run', () => titles.every(isRunning));
    slack.kick(left, person);
    await starting.command(person, channel, 'stop');
    const list = await scene.until('it is answered', () => slack.ephemerals(person, channel)[0]);
    const blocks = JSON.stringify(list.blocks);
    const { yourTasks, inYourThreads, elsewhere, hiddenTask } = strings.command;
    const first = [yourTasks, 'mine goes slowly', inYourThreads, `a thread of mine> · <@${scene.ada.id}>`];
    const places = [...first, elsewhere].map((text) => blocks.indexOf(text));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places).not.toContain(-1);
    for (const text of [
      away.ts.replace('.', ''),
      `far goes slowly> · <#${far.id}>`,
      `${hiddenTask} · <#${left.id}>`,
    ])
      expect(blocks.indexOf(text)).toBeGreaterThan(blocks.indexOf(elsewhere));
    expect(blocks).not.toContain('left goes slowly');
    expect(blocks.match(/"stop_listed"/g)).toHaveLength(2);
  });

  test('lists the newest tasks with links to their threads', async () => {
    const { channel, person } = starting.personInChannel();
    const first = starting.ask(person, channel, `--title "${'Long title '.repeat(40)}" one of them`);
    await scene.finished(channel, first);
    const second = starting.ask(person, channel, 'the other <one> | of *them*');
    await scene.finished(channel, second);
    await starting.command(person, channel, 'tasks');
    const answer = await scene.until('it is answered', () => starting.ephemeralTexts(person, channel)[0]);
    expect(answer).toMatch(/Long title .*…/);
    expect(answer).toContain(`p${second.ts.replace('.', '')}`);
    expect(answer.indexOf('the other')).toBeLessThan(answer.indexOf('Long title'));
  });
});

describe.concurrent('the start form', () => {
  test('opens on /agent new, posts the question and starts a task with what was chosen', async () => {
    const { channel, person } = starting.personInChannel();
    await starting.command(person, channel, 'new');
    const view = await starting.form(person);
    for (const words of ['Balances speed', 'Answers sooner', 'The most capable model', "Don't use another"])
      expect(JSON.stringify(view.blocks)).toContain(words);
    const file = slack.upload(person, { name: 'run.csv', mime: 'text/csv', bytes: 'a,b\n1,2\n3,4\n' });
    const question = 'Summarise <this> & *that*\n- `as code`';
    const sent = await starting.send(person, {
      question,
      title: 'The first run',
      model: 'max',
      skill: 'summary',
      files: [file.id],
      fallback: ['no_fallback'],
      mode: 'auto',
    });
    expect(sent.acked).toBe(true);
    expect(slack.modal(person)).toBeUndefined();
    const root = await starting.post(channel, 'Summarise <this> & *that*');
    expect(slack.visibleText(root)).toContain('odel Max');
    expect(slack.visibleText(root)).toContain('run.csv');
    await scene.finished(channel, root);
    expect(starting.startedTasks('The first run')).toMatchObject([
      { model: 'max', disable_fallback: true, auto_mode: true },
    ]);
    const told = scene.sentToAgent('The first run');
    expect(told.texts).toEqual([question]);
    expect(told.fileIds[0]).toHaveLength(1);
    expect(scene.shown(channel, root)).toContain('Begun with 1 files. Skill: skl_summary.');
    scene.reply(channel, root, 'and now go on', { person });
    await scene.until(
      'a reply goes on with the task',
      () => scene.sentToAgent('The first run').texts.length === 2,
    );
    await starting.command(person, channel, 'new');
    await scene.until('its skill is offered', () => starting.modalText(person).includes('"used_skill"'));
    await starting.send(person, { question: 'with the skill from before', used_skill: 'summary' });
    const again = await starting.post(channel, 'with the skill from before');
    expect(slack.visibleText(again)).toContain('kill summary');
    // Who may not use the agent may open the form for a channel that lets them in, but does not see what others use.
    const guest = slack.createPerson({ name: 'gil', kind: 'guest' });
    await slack.shortcut({ person: guest, callbackId: 'new_task' });
    await starting.form(guest);
    expect(starting.modalText(guest)).not.toContain('used_skill');
  });

  test('opens for a guest with who can let them in, and speaks of no message', async () => {
    const { channel } = starting.personInChannel();
    const guest = slack.createPerson({ name: 'gus', kind: 'guest' });
    slack.invite(channel, guest);
    await starting.command(guest, channel, 'new');
    const shown = await scene.until('it is refused', () => {
      const text = starting.modalText(guest);
      return text.includes('access') && text;
    });
    expect(shown).toContain('can let you in.');
    expect(shown).not.toContain('your message');
  });

  test('sends only what was chosen, and reads flags in the question', async () => {
    const { channel, person } = starting.personInChannel();
    await starting.command(person, channel, 'new');
    await starting.form(person);
    await starting.send(person, { question: '—model fast what is usual here?' });
    const root = await starting.post(channel, 'what is usual here?');
    await scene.finished(channel, root);
    const [start] = starting.startedTasks('what is usual here?');
    const project_id = expect.any(String);
    expect(start).toEqual({ project_id, title: 'what is usual here?', model: 'fast' });
  });

  test('says what is wrong with the question beside it, though it asks for the channel first', async () => {
    const { channel, person } = starting.personInChannel();
    await starting.command(person, channel, 'new');
    await starting.form(person);
    const refused = await starting.send(person, { question: '--modle fast what is beside it?' });
    const question = strings.unknownFlag({ typed: 'modle', meant: 'model' });
    expect(refused.body).toEqual({ response_action: 'errors', errors: { question } });
    const empty = await starting.send(person, { question: '--model fast' });
    expect(empty.body).toEqual({
      response_action: 'errors',
      errors: { question: strings.startForm.empty },
    });
    expect(starting.posts(channel, 'what is beside it?')).toEqual([]);
  });

  test('opens with the words after /agent new in it', async () => {
    const { channel, person } = starting.personInChannel();
    await starting.command(person, channel, ' New  compare the plates ');
    await starting.form(person);
    expect(starting.filled(person).question).toBe('compare the plates');
    expect(starting.modalText(person)).not.toContain(strings.startForm.endMissing);
    await starting.send(person);
    await scene.until('it is asked', () => starting.startedTasks('compare the plates').length === 1);
  });

  test('says so where the words after /agent new are more than it holds', async () => {
    const { channel, person } = starting.personInChannel();
    await starting.command(person, channel, `new ${'plate '.repeat(501)}`);
    await starting.form(person);
    expect(starting.modalText(person)).toContain(strings.startForm.endMissing);
  });

  test('opened by the global shortcut asks for the channel', async () => {
    const { channel, person } = starting.personInChannel();
    await slack.shortcut({ person, callbackId: 'new_task' });
    await starting.form(person);
    await expect(starting.send(person, { question: 'no channel' })).rejects.toThrow('Where');
    await starting.send(person, { question: 'from anywhere', channel: channel.id });
    await scene.finished(channel, await starting.post(channel, 'from anywhere'));
    expect(scene.sentToAgent('from anywhere').texts).toEqual(['from anywhere']);
  });

  test('opened in direct messages with the bot starts the task there', async () => {
    const person = starting.newPerson();
    const dm = slack.openDm(person);
    await starting.command(person, dm, 'new');
    await starting.form(person);
    await starting.send(person, { question: 'just between us' });
    await scene.finished(dm, await starting.post(dm, 'just between us'));
    expect(scene.sentToAgent('just between us').texts).toEqual(['just between us']);
  });

  test('starts one task when it is sent twice', async () => {
    const { channel, person } = starting.personInChannel();
    await starting.command(person, channel, 'new');
    await starting.form(person);
    const send = () => starting.send(person, { question: 'asked by two clicks' });
    // On a busy machine, an answer may come for a window that the other one has closed.
    await Promise.allSettled([send(), send()]);
    await scene.finished(channel, await starting.post(channel, 'asked by two clicks'));
    expect(starting.posts(channel, 'asked by two clicks')).toHaveLength(1);
    expect(starting.startedTasks('asked by two clicks')).toHaveLength(1);
  });

  test('says how to invite the bot where it is not a member, and keeps what was typed', async () => {
    const { channel, person } = starting.personInChannel({ bot: false });
    await starting.command(person, channel, 'new');
    const view = await starting.form(person);
    const values = { question: 'invited after all', model: 'fast' };
    const [wrong, right] = ['wrong.csv', 'right.csv'].map(
      (name) => slack.upload(person, { name, mime: 'text/csv', bytes: 'a,b\n1,2\n' }).id,
    );
    const refused = await starting.send(person, { ...values, files: [wrong ?? ''] });
    expect(JSON.stringify(refused.body)).toMatch(/"channel":".*\/invite @/);
    expect(slack.modal(person)?.id).toBe(view.id);
    expect(slack.modal(person)?.values.question?.question?.value).toBe('invited after all');
    slack.invite(channel);
    await starting.send(person, { ...values, files: [right ?? ''] });
    expect(slack.modal(person)).toBeUndefined();
    const root = await starting.post(channel, 'invited after all');
    expect(slack.visibleText(root)).toContain('right.csv');
    expect(slack.visibleText(root)).not.toContain('wrong.csv');
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('Begun with 1 files.');
    expect(starting.startedTasks('invited after all')).toMatchObject([{ model: 'fast' }]);
  });

  test('refuses a channel that the person is not in, and keeps what was typed', async () => {
    const { channel, person } = starting.personInChannel();
    const hidden = slack.createChannel({ name: 'their-secret', private: true, members: [scene.ada] });
    const open = slack.createChannel({ name: 'not-joined', members: [scene.ada] });
    const alone = slack.createChannel({ name: 'bot-free', private: true, members: [scene.ada], bot: false });
    const hers = slack.openDm(scene.ada);
    await slack.shortcut({ person, callbackId: 'new_task' });
    await starting.form(person);
    const question = 'smuggled into a channel';
    for (const [place, sentence] of [
      [hidden, strings.controlRefused.outsider],
      [open, strings.controlRefused.outsider],
      [hers, strings.startForm.foreign],
      [alone, strings.controlRefused.hidden],
    ] as const) {
      const refused = await starting.send(person, { question, channel: place.id });
      expect(refused.body).toEqual({ response_action: 'errors', errors: { channel: sentence } });
      expect(slack.modal(person)?.values.question?.question?.value).toBe(question);
      expect(starting.posts(place, question)).toEqual([]);
    }
    await starting.send(person, { question, channel: channel.id });
    await scene.finished(channel, await starting.post(channel, question));
    const refusals: unknown[] = [];
    for await (const row of scene.sandbox.bot.store.audit.read({
      since: new Date(0),
      workspace: slack.team.id,
    }))
      if (row.kind === 'refusal' && row.user_id === person.id && row.details.why !== 'unknown')
        refusals.push([row.channel, row.details.control, row.details.why]);
    expect(refusals).toEqual([
      [hidden.id, 'start', 'outsider'],
      [open.id, 'start', 'outsider'],
      [hers.id, 'start', 'foreign'],
      [alone.id, 'start', 'hidden'],
    ]);
  });

  test('asks once what was typed, however often Slack delivers the same command, and however escaped', async () => {
    const { channel, person } = starting.personInChannel();
    const { triggerId } = await slack.command({ person, channel, command: '/agent', text: 'help' });
    const question = 'is p < 0.05 & q > 1 here?';
    const escaped = question.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    const payload = {
      command: '/agent',
      trigger_id: triggerId,
      team_id: slack.team.id,
      channel_id: channel.id,
      user_id: person.id,
    };
    for (const text of [escaped, question, escaped])
      await slack.deliverRaw('slash_commands', { ...payload, text });
    await scene.finished(channel, await starting.post(channel, question));
    await scene.expectStays(() => starting.posts(channel, question).length, 1);
    expect(scene.sentToAgent(question).texts).toEqual([question]);
  });

  test('is refused for a person who has left the channel since', async () => {
    const { channel, person } = starting.personInChannel();
    await starting.command(person, channel, 'new');
    await starting.form(person);
    slack.kick(channel, person);
    const refused = await starting.send(person, { question: 'after I left' });
    expect(refused.body).toEqual({
      response_action: 'errors',
      errors: { channel: strings.controlRefused.outsider },
    });
    expect(starting.posts(channel, 'after I left')).toEqual([]);
  });

  test("asks for a channel in another person's direct messages", async () => {
    const { channel, person } = starting.personInChannel();
    const hers = slack.openDm(starting.newPerson());
    await starting.command(person, hers, 'new');
    await starting.form(person);
    await starting.send(person, { question: 'among strangers', channel: channel.id });
    await scene.finished(channel, await starting.post(channel, 'among strangers'));
    expect(starting.posts(hers, 'among strangers')).toEqual([]);
  });

  test('says so where the channel is archived', async () => {
    const { channel, person } = starting.personInChannel();
    await starting.command(person, channel, 'new');
    await starting.form(person);
    slack.archive(channel);
    const refused = await starting.send(person, { question: 'too late' });
    expect(JSON.stringify(refused.body)).toContain(strings.startForm.archived);
  });
});

describe.concurrent('a mention', () => {
  test('chooses with flags at its start, and sends unknown flags as text', async () => {
    const { channel, person } = starting.personInChannel();
    const typed = '—model max --skill “summary” --title “A flagged run” --verbose what is it?';
    const root = starting.ask(person, channel, typed);
    await scene.finished(channel, root);
    expect(starting.startedTasks('A flagged run')).toMatchObject([{ model: 'max' }]);
    expect(scene.sentToAgent('A flagged run').texts).toEqual(['--verbose what is it?']);
    expect(scene.shown(channel, root)).toContain('Skill: skl_summary.');
  });

  test('with a misspelt flag asks nothing, and says which is meant', async () => {
    const { channel, person } = starting.personInChannel();
    const root = starting.ask(person, channel, '--skill summary --modl max what is misspelt?');
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('If you mean “--model”');
    expect(starting.startedTasks('what is misspelt?')).toEqual([]);
    await scene.finished(channel, scene.reply(channel, root, '--model max what is spelt well?', { person }));
    expect(starting.startedTasks('what is spelt well?')).toMatchObject([{ model: 'max' }]);
  });

  test('with nothing but flags asks nothing', async () => {
    const { channel, person } = starting.personInChannel();
    const root = starting.ask(person, channel, '--model max');
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('Mention me with a question');
  });

  test("with another model in a task's thread offers a new thread with the question in it", async () => {
    const { channel, person } = starting.personInChannel();
    const root = starting.ask(person, channel, '--model fast the first of two');
    await scene.finished(channel, root);
    const reply = scene.reply(channel, root, '--model max the second of two', { person });
    await scene.finished(channel, reply);
    expect(scene.sentToAgent('the first of two').texts).toEqual(['the first of two', 'the second of two']);
    const [note] = slack.ephemerals(person, channel);
    expect(note && slack.visibleText(note)).toContain('keeps the model');
    await slack.click({ person, channel, ts: note?.ts ?? '', actionId: 'new_thread' });
    const view = await starting.form(person);
    expect(JSON.stringify(view.blocks)).toContain('the second of two');
    await starting.send(person, { question: 'the second of two, apart', model: 'max' });
    await scene.finished(channel, await starting.post(channel, 'the second of two, apart'));
    expect(starting.startedTasks('the second of two, apart')).toMatchObject([{ model: 'max' }]);
  });
});

test('about a message in a direct conversation of others asks for a channel', async () => {
  const { channel, person } = starting.personInChannel();
  const others = slack.openDm(scene.grace);
  const said = slack.say({ person: scene.grace, channel: others, text: 'Said among two' });
  await slack.shortcut({ person, callbackId: 'ask_about', channel: others, ts: said.ts });
  await starting.form(person);
  await starting.send(person, { question: 'what of this?', channel: channel.id });
  await scene.finished(channel, await starting.post(channel, 'what of this?'));
  expect(scene.sentToAgent('what of this?').texts[0]).toContain('Said among two');
});

test('in a group of direct messages begins only where it was opened: Slack does not say who is in it', async ({
  onTestFinished,
}) => {
  const scopes = ALL_SCOPES.filter((scope) => scope !== 'mpim:read');
  const own = await openStartFormScene({ slack: { scopes } }, onTestFinished);
  const person = own.newPerson();
  const group = own.scene.slack.openGroupDm([person, own.scene.ada]);
  await own.scene.slack.shortcut({ person, callbackId: 'new_task' });
  await own.form(person);
  const refused = await own.send(person, { question: 'from elsewhere', channel: group.id });
  expect(refused.body).toEqual({
    response_action: 'errors',
    errors: { channel: strings.controlRefused.hidden },
  });
  await own.scene.slack.closeView(person);
  await own.command(person, group, 'new');
  await own.form(person);
  await own.send(person, { question: 'from right here' });
  await own.scene.finished(group, await own.post(group, 'from right here'));
});
