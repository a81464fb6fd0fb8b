import { describe, expect, test } from 'vitest';
import type { AgentScript } from '../../../sandbox/agent/agent-script.ts';
import { Faults } from '../../../sandbox/faults.ts';
import { CHANNEL_LEVEL, JOB_KIND } from '../../../src/store/jobs/jobs.ts';
import { openAppScene } from '../../support/app-scene.ts';
import {
  newProject,
  projectOf,
  projectUpdates,
  saveChannelSettings,
  taskOf,
} from '../../support/channel-settings-scene.ts';
import { FAST_RETRIES, stopBotFor } from '../../support/outage.ts';

/** Uses a tool slowly, so that the live reply shows it. */
const worker: AgentScript = async (turn) => {
  await turn.tool('look_up', { query: 'the gene' }, async () => {
    await turn.sleep(turn.text === 'quietly' ? 30_000 : 0);
    return 'Nothing';
  });
  turn.write('Here is the answer.');
};

const scene = await openAppScene({ agent: { script: worker } });
const { ada, grace } = scene;

describe('a channel that sends every message to the agent', () => {
  test('starts a task with each new top-level message', async () => {
    const channel = scene.channel();
    const early = scene.slack.say({ person: ada, channel, text: 'before the change' });
    await scene.slack.settled();
    await saveChannelSettings(scene, channel, { channel_listen_mode: 'everything' });
    const asked = scene.slack.say({ person: grace, channel, text: 'heard without a mention' });
    await scene.finished(channel, asked);
    expect(scene.shown(channel, asked)).toContain('Here is the answer.');
    const toOther = scene.slack.say({ person: ada, channel, text: `<@${grace.id}> lunch?` });
    scene.slack.edit(channel, early.ts, 'changed after the change');
    scene.slack.say({ person: ada, channel, thread: early.ts, text: 'a reply among people' });
    await scene.slack.settled();
    await saveChannelSettings(scene, channel, { channel_listen_mode: 'mentions' });
    const after = scene.slack.say({ person: ada, channel, text: 'not heard any more' });
    await scene.expectNoReply(channel, early, toOther, after);
    await scene.finished(channel, scene.reply(channel, asked, 'and on'));
    expect(scene.sentToAgent('heard without a mention').texts).toHaveLength(2);
  });

  test("ignores other bots and Slack's own messages", async () => {
    const channel = scene.channel();
    await saveChannelSettings(scene, channel, { channel_listen_mode: 'everything' });
    const robot = scene.slack.createPerson({ name: 'robot', kind: 'bot' });
    scene.slack.invite(channel, robot);
    scene.slack.say({ person: robot, channel, text: 'beep' });
    scene.slack.describe(channel, 'topic', 'a topic');
    const bot = scene.slack.bot.userId;
    const roots = scene.slack.messages(channel).filter(({ user }) => user !== bot);
    await scene.expectNoReply(channel, ...roots);
  });
});

test("a channel's model applies to its new tasks", async () => {
  const channel = scene.channel();
  await saveChannelSettings(scene, channel, { channel_model: 'max' });
  await scene.finished(channel, scene.ask(channel, 'with the best model'));
  expect(taskOf(scene, 'with the best model')?.model).toBe('max');
});

test('a channel that hides steps shows only the time taken', async () => {
  const channel = scene.channel();
  await saveChannelSettings(scene, channel, { channel_switches: [] });
  const root = scene.ask(channel, 'quietly');
  const seen: string[] = [];
  const stop = setInterval(() => seen.push(scene.shown(channel, root)), 50);
  await scene.finished(channel, root);
  clearInterval(stop);
  const shown = scene.shown(channel, root);
  expect(shown).toContain('Here is the answer.');
  expect(shown).toMatch(/Took /);
  expect([...seen, shown].filter((text) => /Look(?:ed)? up|step/.test(text))).toEqual([]);
  expect(JSON.stringify(scene.replies(channel, root))).not.toContain('"steps"');
});

describe("a project that follows its channel's name", () => {
  test('takes each new name and purpose, also of private channels, and no other project does', async () => {
    const open = scene.channel('first-name');
    const elsewhere = scene.channel('renamed-elsewhere');
    const closed = scene.slack.createChannel({ name: 'closed-name', private: true, members: [ada] });
    const alone = scene.channel('left-alone');
    const channels = [open, closed, alone, elsewhere];
    for (const channel of channels)
      await scene.finished(channel, scene.ask(channel, `hello ${channel.name}`));
    const [one, two, three, four] = channels.map((channel) => projectOf(scene, channel)?.id);
    const ownName = { title: 'Grant 1234', description: 'Named at the service' };
    Object.assign(scene.agent.projects.find(({ id }) => id === four) ?? {}, ownName);
    scene.slack.rename(elsewhere, 'renamed-here');
    await saveChannelSettings(scene, alone, { channel_switches: ['show_steps'] });
    scene.slack.rename(open, 'second-name');
    scene.slack.describe(open, 'purpose', 'Another purpose');
    scene.slack.rename(closed, 'closed-again');
    scene.slack.rename(alone, 'still-alone');
    const has = (id: string | undefined, title: string, description: string) =>
      scene.agent.projects.some(
        (kept) => kept.id === id && kept.title === title && kept.description === description,
      );
    await scene.until('the open one follows', () => has(one, 'second-name', 'Another purpose'));
    await scene.until('the closed one follows', () => has(two, 'closed-again', ''));
    const { db } = scene.sandbox.bot.store;
    const jobs = db.selectFrom('jobs').select('key').where('kind', '=', 'project_name');
    await scene.until('no name is left to look at', async () => (await jobs.execute()).length === 0);
    expect(has(four, ownName.title, ownName.description)).toBe(true);
    expect(has(three, 'left-alone', 'Where things are tried')).toBe(true);
  });

  test('gives no name that still waits once people have named or chosen the project', async () => {
    const [named, chosen] = [scene.channel('named-before'), scene.channel('chosen-before')];
    for (const channel of [named, chosen])
      await scene.finished(channel, scene.ask(channel, `hello ${channel.name}`));
    const own = projectOf(scene, named)?.id;
    const other = await newProject(scene, 'chosen-after', 'Its own description');
    await saveChannelSettings(scene, named, { channel_title: 'Grant 5678' });
    await saveChannelSettings(scene, chosen, { channel_project: other });
    scene.slack.rename(named, 'named-after');
    scene.slack.rename(chosen, 'chosen-after');
    await scene.slack.settled();
    const { store } = scene.sandbox.bot;
    for (const { id: channel } of [named, chosen]) {
      const projects = store.db.selectFrom('projects').select(['workspace', 'account_id']);
      const { workspace, account_id } = await projects
        .where('channel', '=', channel)
        .executeTakeFirstOrThrow();
      const waiting = { workspace, kind: JOB_KIND.projectName, channel, thread_ts: CHANNEL_LEVEL };
      // As if the channel had been renamed before, and the service had been down since.
      await store.jobs.add({ ...waiting, key: account_id });
    }
    const jobs = store.db.selectFrom('jobs').select('key').where('kind', '=', 'project_name');
    await scene.until('no name is left to look at', async () => (await jobs.execute()).length === 0);
    const shown = (id: string | undefined) => scene.agent.projects.find((kept) => kept.id === id);
    expect(shown(own)?.title).toBe('Grant 5678');
    expect(shown(other)).toMatchObject({ title: 'chosen-after', description: 'Its own description' });
  });

  test('takes the current name as soon as it starts to follow', async () => {
    const channel = scene.channel();
    const id = await newProject(scene, 'Any name');
    await saveChannelSettings(scene, channel, { channel_project: id });
    scene.slack.rename(channel, 'a-name-of-its-own');
    await scene.slack.settled();
    await saveChannelSettings(scene, channel, { channel_model: 'max' });
    expect(projectUpdates(scene, id)).toEqual([]);
    await saveChannelSettings(scene, channel, { channel_switches: ['show_steps', 'sync_project_name'] });
    await scene.until('it has the name', () => projectOf(scene, channel)?.id === id);
    expect(projectOf(scene, channel)?.description).toBe('Where things are tried');
  });

  test.concurrent('takes a name that was changed while the bot was down', async ({ onTestFinished }) => {
    const deaf = await openAppScene({ slack: FAST_RETRIES }, onTestFinished);
    const channel = deaf.channel('before-the-gap');
    await deaf.finished(channel, deaf.ask(channel, 'hello'));
    await stopBotFor(deaf, 6, () => deaf.slack.rename(channel, 'after-the-gap'));
    await deaf.sandbox.restartBot();
    await deaf.until('the project has the name', () => projectOf(deaf, channel));
    expect(projectOf(deaf, channel)?.title).toBe('after-the-gap');
  });

  test.concurrent('takes the name where the service answers nothing', async ({ onTestFinished }) => {
    const terse = await openAppScene({}, onTestFinished);
    const channel = terse.channel('old-name');
    await terse.finished(channel, terse.ask(channel, 'hello'));
    terse.agent.behaviour.misbehaviour = (call) =>
      call === 'PUT /projects/{project_id}' ? { kind: 'body', body: '' } : undefined;
    terse.slack.rename(channel, 'new-name');
    await terse.until('the project has the name', () => projectOf(terse, channel));
    expect(projectOf(terse, channel)?.title).toBe('new-name');
  });

  test.concurrent('takes a name whose update a restart interrupted', async ({ onTestFinished }) => {
    const faults = new Faults();
    const slow = await openAppScene({ agent: { faults } }, onTestFinished);
    const channel = slow.channel('old-name');
    await slow.finished(channel, slow.ask(channel, 'hello'));
    const takeBack = faults.add({
      call: 'PUT /projects/{project_id}',
      fault: { kind: 'latency', ms: 60_000 },
    });
    slow.slack.rename(channel, 'new-name');
    const { db } = slow.sandbox.bot.store;
    await slow.until('the change is noted', async () => {
      const jobs = db.selectFrom('jobs').select('claim_id').where('kind', '=', 'project_name');
      return (await jobs.execute()).some(({ claim_id }) => claim_id !== null);
    });
    takeBack();
    await slow.sandbox.restartBot();
    await slow.until('the project has the name', () => projectOf(slow, channel));
    expect(projectOf(slow, channel)?.title).toBe('new-name');
  });
});
