import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Channel, Message, Person } from '../../../sandbox/slack/slack-workspace.ts';
import { ALL_SCOPES } from '../../../sandbox/slack/workspace-options.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { type Settings, WHOLE_WORKSPACE } from '../../../src/store/workspaces/settings-store.ts';
import { openAppScene } from '../../support/app-scene.ts';
import { openStartFormScene } from '../../support/start-form-scene.ts';

// As in the manifest: Slack does not tell what a group message is called, or who is in it.
const scopes = ALL_SCOPES.filter((scope) => scope !== 'mpim:read');
const { closedPlaces } = strings;
// What waits behind a run is to wait, also on a busy machine.
const starting = await openStartFormScene({ slack: { scopes }, limits: { passOnMs: 3_600_000 } });
const { scene } = starting;
const { slack } = scene;
const { store } = scene.sandbox.bot;

/** Admins or people choose; '' stands for the workspace. */
const choose = (channel: string, change: Partial<Settings>) =>
  store.settings.set(slack.team.id, channel, scene.ada.id, change);
// Each test opens and closes channels of its own.
await choose(WHOLE_WORKSPACE, { answers_in: 'channels', direct_messages: 'off', group_messages: 'off' });

/** Somebody in a channel in which the bot answers. */
async function room(): Promise<{ channel: Channel; person: Person }> {
  const { channel, person } = starting.personInChannel();
  await choose(channel.id, { answers_here: 'on' });
  return { channel, person };
}

/** An answered question in a channel that is then closed. */
async function closedRoom(question: string): Promise<{ channel: Channel; person: Person; root: Message }> {
  const { channel, person } = await room();
  const root = starting.ask(person, channel, question);
  await scene.finished(channel, root);
  await choose(channel.id, { answers_here: null });
  return { channel, person, root };
}

/** A message that the bot passed over, in a channel that is then closed. */
async function closedRoomWithoutTask(): Promise<{ channel: Channel; person: Person; root: Message }> {
  const { channel, person } = await room();
  const root = slack.say({ person, channel, text: 'among people' });
  await choose(channel.id, { answers_here: null });
  return { channel, person, root };
}

/** How many messages the agent got from a channel, and what is kept of the channel's people after `since`. */
async function traces(channel: Channel, since: Message): Promise<string[]> {
  const kept = async (table: 'messages' | 'pending_edits' | 'orphan_replies') => {
    const rows = store.db.selectFrom(table).select('ts').where('channel', '=', channel.id);
    return (await rows.execute()).flatMap(({ ts }) =>
      Number(ts) > Number(since.ts) ? [`${table} ${ts}`] : [],
    );
  };
  const starts = await store.db
    .selectFrom('task_starts')
    .select('id')
    .where('channel', '=', channel.id)
    .execute();
  const all = [await kept('messages'), await kept('pending_edits'), await kept('orphan_replies')];
  return [...all.flat(), ...starts.map(({ id }) => `task_starts ${id}`)];
}

/** What people were refused in a channel, as the audit trail has it. */
async function refusals(channel: Channel): Promise<unknown[]> {
  const trail = store.db.selectFrom('audit_events').select('details').where('kind', '=', 'refusal');
  return (await trail.where('channel', '=', channel.id).execute()).map(({ details }) => details);
}

/** What only the person sees in a channel, apart from the note that Slack takes its time. */
const heard = (person: Person, channel: Channel) =>
  starting.ephemeralTexts(person, channel).filter((text) => text !== strings.waitingForIdentity);

/** Below it stands where else one may ask. */
const told = (person: Person, channel: Channel) =>
  scene.until(`${person.name} is told`, () =>
    heard(person, channel)
      .at(-1)
      ?.replace(/\s*You can ask in .*$/, ''),
  );

interface WayIn {
  channel: Channel;
  person: Person;
  /** The answered question, for those that need one. */
  root: Message;
}

const WITHOUT_TASK = ['a mention', 'an edit that adds a mention'];

/** What people do; returns what they read of it, if that is no message that only they see. */
const WAYS_IN: Record<string, (at: WayIn) => Promise<string | undefined> | string | undefined> = {
  'a mention': ({ person, channel }) => void starting.ask(person, channel, 'in vain'),
  'a reply in a thread': ({ person, channel, root }) =>
    void scene.reply(channel, root, 'in vain', { person }),
  'a file dropped into a thread': ({ person, channel, root }) =>
    void scene.reply(channel, root, '', {
      person,
      files: [{ name: 'a.csv', mime: 'text/csv', bytes: 'in vain' }],
    }),
  'an edit that adds a mention': async ({ person, channel }) => {
    const said = slack.say({ person, channel, text: 'in vain' });
    await slack.settled();
    slack.edit(channel, said.ts, `${scene.mention} in vain`);
    return undefined;
  },
  'a question after /agent': async ({ person, channel }) => {
    await starting.command(person, channel, 'in vain, is it?');
    return undefined;
  },
  'the form of /agent new': async ({ person, channel }) => {
    await starting.command(person, channel, 'new in vain');
    return scene.until('the form says so', () => refusalIn(person));
  },
  '"Ask the agent about this"': async ({ person, channel, root }) => {
    await slack.shortcut({ person, callbackId: 'ask_about', channel, ts: root.ts });
    return scene.until('the form says so', () => refusalIn(person));
  },
  'asking again': async ({ person, channel, root }) => {
    await starting.choose(person, channel, root, 'ask_again');
    return scene.until('the form says so', () => refusalIn(person));
  },
  'a form for any channel': async ({ person, channel }) => {
    await slack.shortcut({ person, callbackId: 'new_task' });
    await starting.form(person);
    const { body } = await starting.send(person, { channel: channel.id, question: 'in vain' });
    return JSON.stringify(body);
  },
};

const refusalIn = (person: Person) => {
  const shown = starting.modalText(person);
  return shown.includes("I don't answer here") && shown;
};

describe.concurrent('in a channel that was closed', () => {
  test.each(Object.entries(WAYS_IN))('%s reaches nobody, and who asked is told why', async (name, enter) => {
    const at = WITHOUT_TASK.includes(name)
      ? await closedRoomWithoutTask()
      : await closedRoom(`open for ${name}`);
    await slack.settled();
    const read = (await enter(at)) ?? (await told(at.person, at.channel));
    expect(read).toContain(closedPlaces.closed_by_channel);
    await slack.settled();
    const isMessage = /^an? (?:mention|reply|file|edit)/.test(name);
    const why = 'closed_by_channel';
    expect(await refusals(at.channel)).toEqual(isMessage ? [] : [{ control: 'start', why }]);
    expect(await traces(at.channel, at.root)).toEqual([]);
    expect(scene.agent.calls.filter(({ body }) => JSON.stringify(body ?? '').includes('in vain'))).toEqual(
      [],
    );
  });

  test('each person is told once, in every place again', async () => {
    const [one, other] = [await closedRoom('told once'), await closedRoom('told once more')];
    for (const text of ['first', 'second']) starting.ask(one.person, one.channel, text);
    starting.ask(scene.grace, one.channel, 'also');
    starting.ask(one.person, other.channel, 'elsewhere');
    for (const [person, channel] of [
      [one.person, one.channel],
      [scene.grace, one.channel],
      [one.person, other.channel],
    ] as const)
      expect(await told(person, channel)).toBe(closedPlaces.closed_by_channel);
    await slack.settled();
    await scene.expectStays(() => heard(one.person, one.channel).length, 1);
  });

  test('whoever is forgotten is told again', async () => {
    const { channel, person } = await closedRoom('to be forgotten');
    starting.ask(person, channel, 'before');
    await told(person, channel);
    const erased = () => store.personErasure.eraseUser(slack.team.id, person.id);
    expect(await erased()).toBeDefined();
    await scene.until('nothing of them is left', async () => (await erased()) === undefined);
    starting.ask(person, channel, 'after');
    await scene.until('it is told again', () => heard(person, channel).length === 2);
  });

  test('its project cannot be used elsewhere', async () => {
    const { channel, person } = await closedRoom('with a project');
    const project = scene.agent.projects.find(({ title }) => title === channel.name)?.id ?? '';
    const elsewhere = await room();
    slack.invite(elsewhere.channel, person);
    await starting.command(person, elsewhere.channel, 'settings');
    await scene.until('the settings are there', () => starting.modalText(person).includes('channel_project'));
    const use = () => slack.submitView(person, { ...starting.filled(person), channel_project: project });
    expect(JSON.stringify((await use()).body)).toContain(strings.channelSettingsFailed.unknownProject);
    await choose(channel.id, { answers_here: 'on' });
    expect(JSON.stringify((await use()).body)).toContain(strings.settingsSaved);
  });

  test('nobody is told of what was not for the bot', async () => {
    const { channel, person, root } = await closedRoom('quiet');
    await choose(channel.id, { listen_mode: 'everything' });
    const early = slack.say({ person, channel, text: 'among people' });
    scene.reply(channel, early, 'a reply among people', { person: scene.grace });
    slack.remove(channel, early.ts);
    await slack.settled();
    expect(await traces(channel, root)).toEqual([]);
    await scene.expectStays(() => starting.ephemeralTexts(person, channel), []);
  });

  /** Somebody whose question is at work; `stop` stops it, and waits until its turn has ended. */
  async function running(question: string) {
    const { channel, person } = await room();
    const root = starting.ask(person, channel, question);
    await scene.until('it is sent', () => scene.sentToAgent(question).texts.length > 0);
    const stop = async () => {
      const { ts } = await scene.messageWithButton(channel, root, 'stop');
      await slack.click({ person, channel, ts, actionId: 'stop' });
      await scene.finished(channel, root);
    };
    return { channel, person, root, stop };
  }

  test('the running turn ends as it began, and can be stopped', async () => {
    const { channel, person, root, stop } = await running('go slowly');
    await choose(channel.id, { answers_here: 'off' });
    await stop();
    expect(scene.shown(channel, root)).toContain(`Stopped by ${person.name}.`);
  });

  test('what waits behind a turn that was stopped before is refused', async () => {
    const { channel, person, root, stop } = await running('go slowly, too');
    const { ts } = scene.reply(channel, root, 'and wait', { person });
    const state = async () =>
      (await store.messages.get({ workspace: slack.team.id, channel: channel.id, ts }))?.state;
    await scene.until('it waits', async () => (await state()) === 'waiting');
    await stop();
    const notice = await scene.messageWithButton(channel, root, 'send_paused');
    await choose(channel.id, { answers_here: 'off' });
    await slack.click({ person, channel, ts: notice.ts, actionId: 'send_paused' });
    await scene.until('they are told', () =>
      starting.ephemeralTexts(person, channel).includes(closedPlaces.closed_by_channel),
    );
    await slack.click({ person, channel, ts: notice.ts, actionId: 'discard_paused' });
    await scene.until('it is taken back', async () => (await state()) === 'withdrawn');
    expect(scene.sentToAgent('go slowly, too').texts).toEqual(['go slowly, too']);
  });

  test('writers of several messages that waited are told once', {
    concurrent: false,
  }, async () => {
    const { channel, person } = await room();
    const gate = Promise.withResolvers<void>();
    // The fault would hold any other task, too.
    scene.agent.faults.add({
      call: 'POST /experimental/tasks',
      times: 1,
      fault: { kind: 'hold', until: gate.promise },
    });
    const root = starting.ask(person, channel, 'held until it is closed');
    await scene.messageWithButton(channel, root, 'stop');
    const waiting = ['one', 'two', 'three'].map((text) => scene.reply(channel, root, text, { person }));
    const key = { workspace: slack.team.id, channel: channel.id };
    const isIn = async (state: string) => {
      const rows = await Promise.all(waiting.map(({ ts }) => store.messages.get({ ...key, ts })));
      return rows.every((row) => row?.state === state);
    };
    await scene.until('they wait', () => isIn('waiting'));
    await choose(channel.id, { answers_here: 'off' });
    gate.resolve();
    await scene.until('they are refused', () => isIn('refused'));
    const told = () =>
      starting
        .ephemeralTexts(person, channel)
        .flatMap((text) => text.split(/\s*You can ask in /)[0] ?? [])
        .filter((text) => text.startsWith(closedPlaces.closed_by_channel));
    await scene.until('the writer is told', () => told().length > 0);
    await scene.expectStays(told, [closedPlaces.closed_by_channel]);
  });

  test('the stop word stops the running turn', async () => {
    const { channel, person } = await room();
    const root = starting.ask(person, channel, 'crawl slowly');
    await scene.messageWithButton(channel, root, 'stop');
    await choose(channel.id, { answers_here: 'off' });
    scene.reply(channel, root, 'stop', { person });
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('Stopped');
  });

  test.each(['for any question', 'about a message'])(
    'a form %s that was open starts nothing',
    async (kind) => {
      const { channel, person } = await room();
      const { ts } = slack.say({ person, channel, text: 'about this' });
      if (kind === 'about a message') await slack.shortcut({ person, callbackId: 'ask_about', channel, ts });
      else await starting.command(person, channel, 'new');
      await starting.form(person);
      await choose(channel.id, { answers_here: 'off' });
      const { body } = await starting.send(person, { ...starting.filled(person), question: 'in vain' });
      expect(JSON.stringify(body)).toContain(closedPlaces.closed_by_channel);
      expect(await refusals(channel)).toEqual([{ control: 'start', why: 'closed_by_channel' }]);
      expect(starting.startedTasks('in vain')).toEqual([]);
    },
  );

  test('a link from elsewhere is not read, and says so', async () => {
    const secret = await closedRoom('a place of secrets');
    const said = slack.say({ person: secret.person, channel: secret.channel, text: 'the secret itself' });
    const { channel, person } = await room();
    const root = starting.ask(person, channel, `what stands there? ${slack.permalink(said)}`);
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain("I don't answer in that conversation");
    expect(scene.sentToAgent('what stands there').texts.join()).not.toContain('the secret itself');
  });

  test('a question that waited to be posted goes back to its writer', async () => {
    const { channel, person } = await closedRoom('before the form');
    const asked = { workspace: slack.team.id, id: randomUUID(), user_id: person.id, channel: channel.id };
    await store.taskStarts.send({ ...asked, content: { text: 'a late question' } });
    const direct = slack.openDm(person);
    await scene.until('it is returned', () =>
      slack.messages(direct).some((one) => slack.visibleText(one).includes('a late question')),
    );
    expect(starting.posts(channel, 'a late question')).toEqual([]);
  });

  test('a project keeps its name, and nothing is looked for after the answers', async () => {
    const { channel } = await closedRoom('before the jobs');
    slack.rename(channel, `hidden-${channel.name}`);
    const jobs = store.db.selectFrom('jobs').select('kind').where('channel', '=', channel.id);
    const isFollowUp = store.db
      .updateTable('jobs')
      .where('channel', '=', channel.id)
      .where('kind', '=', 'follow_up');
    await isFollowUp.set({ due_at: new Date(0) }).execute();
    await slack.settled();
    await scene.until('the jobs have ended', async () => (await jobs.execute()).length === 0);
    expect(scene.agent.projects.filter(({ title }) => title.startsWith('hidden-'))).toEqual([]);
  });

  test("a task's details show no files and can still delete the task", async () => {
    const { channel, person, root } = await closedRoom('with details');
    await choose(channel.id, { answers_here: 'on' });
    slack.openHome(person);
    const value = `${channel.id}/${root.ts}`;
    await scene.until('the task is listed', () =>
      JSON.stringify(slack.home(person)?.blocks ?? []).includes(value),
    );
    await slack.click({ person, view: 'home', actionId: 'task_details', value });
    await scene.until('the details are there', () => starting.modalText(person).includes('task_record'));
    await choose(channel.id, { answers_here: null });
    await slack.click({ person, view: 'modal', actionId: 'task_record' });
    await scene.until('the details say so', () => refusalIn(person));
    expect(await refusals(channel)).toEqual([{ control: 'task_record', why: 'closed_by_channel' }]);
    await slack.closeView(person);
    await slack.click({ person, view: 'home', actionId: 'task_details', value });
    await scene.until('the details say so', () => refusalIn(person));
    expect(starting.modalText(person)).not.toContain('task_record');
    expect(starting.modalText(person)).not.toContain('task_files');
    await slack.click({ person, view: 'modal', actionId: 'task_delete' });
    await scene.until('it is deleted', () =>
      scene.agent.tasks.every(({ title }) => title !== 'with details'),
    );
  });

  test('the settings of the channel open, without its project, and open the channel', async () => {
    const { channel, person } = await closedRoom('with settings');
    await starting.command(person, channel, 'settings');
    await scene.until('the settings are there', () => refusalIn(person));
    expect(starting.modalText(person)).not.toContain('channel_title');
    expect(starting.modalText(person)).toContain("Now: I don't answer here (set for this workspace).");
    await slack.submitView(person, { ...starting.filled(person), channel_answers_here: 'on' });
    await scene.finished(channel, starting.ask(person, channel, 'open by settings'));
  });
});

describe('direct and group messages that are off', () => {
  test('are answered once in plain words, and again from the moment they are on', async () => {
    const person = starting.newPerson();
    const direct = slack.openDm(person);
    for (const text of ['in vain', 'and again in vain']) slack.say({ person, channel: direct, text });
    const answers = () => slack.messages(direct).filter(({ user }) => user === slack.bot.userId);
    await scene.until('there is an answer', () => answers().length > 0);
    await slack.settled();
    const reasons = () => answers().map(({ text }) => text.split('\n')[0]);
    await scene.expectStays(reasons, [closedPlaces.closed_by_admins]);
    expect(answers()[0]?.text).toContain('\nYou can ask in ');
    slack.openHome(person, 'messages');

    const group = slack.openGroupDm([person, scene.ada]);
    starting.ask(person, group, 'in vain');
    expect(await told(person, group)).toBe(closedPlaces.closed_by_admins);
    expect(scene.agent.calls.filter(({ body }) => JSON.stringify(body ?? '').includes('in vain'))).toEqual(
      [],
    );

    await choose(WHOLE_WORKSPACE, { direct_messages: 'on', group_messages: null });
    await scene.finished(direct, slack.say({ person, channel: direct, text: 'now it is on' }));
    await scene.finished(group, starting.ask(person, group, 'here, too'));

    // A form about a message in a conversation that is closed before it is sent elsewhere.
    const others = slack.openDm(scene.grace);
    const said = slack.say({ person: scene.grace, channel: others, text: 'between two' });
    await slack.shortcut({ person, callbackId: 'ask_about', channel: others, ts: said.ts });
    await starting.form(person);
    await choose(WHOLE_WORKSPACE, { direct_messages: 'off' });
    const { channel } = await room();
    const { body } = await starting.send(person, { channel: channel.id, question: 'what of this?' });
    expect(JSON.stringify(body)).toContain(closedPlaces.closed_by_admins);
  });
});

test("the operator's limits hold, whatever admins and people choose", async ({ onTestFinished }) => {
  const settings = { ANSWERS_IN: 'none', DIRECT_MESSAGES: 'false' };
  const narrow = (await openStartFormScene({ settings, slack: { scopes } }, onTestFinished)).scene;
  const channel = narrow.channel();
  const { store: tables } = narrow.sandbox.bot;
  const set = { answers_in: 'channels', direct_messages: 'on', answers_here: 'on' } as const;
  for (const place of [WHOLE_WORKSPACE, channel.id])
    await tables.settings.set(narrow.slack.team.id, place, narrow.ada.id, set);
  const root = narrow.ask(channel, 'in vain');
  const direct = narrow.slack.openDm(narrow.ada);
  const said = narrow.slack.say({ person: narrow.ada, channel: direct, text: 'in vain' });
  const heard = (place: Channel) => narrow.slack.ephemerals(narrow.ada, place).map(({ text }) => text);
  await narrow.until('she is told', () => heard(channel).includes(closedPlaces.closed_by_operator));
  await narrow.until('she is told here, too', () =>
    narrow.slack.messages(direct).some(({ text }) => text === closedPlaces.closed_by_operator),
  );
  await narrow.expectNoReply(channel, root, said);
  const group = narrow.slack.openGroupDm([narrow.ada, narrow.grace]);
  await narrow.finished(group, narrow.ask(group, 'a group is no channel'));

  const back = narrow.agent.faults.add({ call: /./, fault: { kind: 'status', status: 503 } });
  const late = narrow.ask(group, 'too late');
  await narrow.until('it waits for the service', () => narrow.shown(group, late).includes("can't reach"));
  await tables.settings.set(narrow.slack.team.id, WHOLE_WORKSPACE, narrow.ada.id, { group_messages: 'off' });
  back();
  await narrow.finished(group, late);
  expect(narrow.shown(group, late)).toContain(closedPlaces.closed_by_admins);
  expect(narrow.sentToAgent('too late').texts).toEqual([]);
});

test.concurrent('people are told once, also where Slack is slow to tell what kind of conversation it is', async ({
  onTestFinished,
}) => {
  // Of a mention alone, the event does not tell.
  const limits = { lookupMs: 1_500 };
  const mentions = await openAppScene({ limits, slack: { events: ['app_mention'] } }, onTestFinished);
  const { ada, sandbox } = mentions;
  const channel = mentions.channel();
  const { settings } = sandbox.bot.store;
  await settings.set(mentions.slack.team.id, WHOLE_WORKSPACE, ada.id, { answers_in: 'channels' });
  const fault = { kind: 'latency', ms: limits.lookupMs + 200 } as const;
  mentions.slack.faults.add({ call: 'conversations.info', about: channel.id, fault, times: 1 });
  const texts = () => mentions.slack.ephemerals(ada, channel).map(({ text }) => text.split('\n')[0]);
  mentions.ask(channel, 'in vain');
  await mentions.until('they are told', () => texts().length > 0);
  mentions.ask(channel, 'in vain again');
  await mentions.slack.settled();
  await mentions.expectStays(texts, [closedPlaces.closed_by_channel]);
});
