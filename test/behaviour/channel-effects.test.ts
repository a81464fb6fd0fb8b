import { describe, expect, test } from 'vitest';
import type { AgentScript } from '../../src/sandbox/agent/script.ts';
import { Faults } from '../../src/sandbox/faults.ts';
import type { Channel } from '../../src/sandbox/slack/workspace.ts';
import { openScene, pause, type Scene } from './scene.ts';
import { audited, openSettings, set } from './settings-scene.ts';

/** Uses a tool slowly, so that the live reply shows it. */
const worker: AgentScript = async (turn) => {
  await turn.tool('look_up', { query: 'the gene' }, async () => {
    await turn.sleep(30_000);
    return 'Nothing';
  });
  turn.write('Here is the answer.');
};

const scene = await openScene({ agent: { script: worker } });
const { ada, grace } = scene;

/** The service's projects, by what the test says of them. */
function project(stage: Scene, of: Channel) {
  return stage.agent.projects.find(({ title }) => title === of.name);
}

/** Makes a project at the service, beside the bot. */
async function newProject(stage: Scene, title: string, description = ''): Promise<string> {
  await fetch(`${stage.agent.url}/projects`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stage.agent.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ title, description }),
  });
  return stage.agent.projects.find((one) => one.title === title)?.id ?? '';
}

function taskOf(stage: Scene, title: string) {
  return stage.agent.tasks.find((task) => task.title === title);
}

/** Bodies of the calls that changed a project. */
function changes(stage: Scene, id: string): unknown[] {
  return stage.agent.calls
    .filter(({ name, path }) => name === 'PUT /projects/{project_id}' && path.includes(id))
    .map(({ body }) => body)
    .filter((body) => JSON.stringify(body) !== '{}');
}

describe('a channel whose every message is for the agent', () => {
  test('begins a thread with each message at its top, from the next one on', async () => {
    const channel = scene.channel();
    const early = scene.slack.say({ person: ada, channel, text: 'before the change' });
    await set(scene, channel, { channel_listens: 'everything' });
    const asked = scene.slack.say({ person: grace, channel, text: 'heard without a mention' });
    await scene.finished(channel, asked);
    expect(scene.shown(channel, asked)).toContain('Here is the answer.');
    const toOther = scene.slack.say({ person: ada, channel, text: `<@${grace.id}> lunch?` });
    scene.slack.edit(channel, early.ts, 'changed after the change');
    scene.slack.say({ person: ada, channel, thread: early.ts, text: 'a reply among people' });
    await set(scene, channel, { channel_listens: 'mentions' });
    const after = scene.slack.say({ person: ada, channel, text: 'not heard any more' });
    await pause(500);
    for (const root of [early, toOther, after]) expect(scene.replies(channel, root)).toEqual([]);
    await scene.finished(channel, scene.reply(channel, asked, 'and on'));
    expect(scene.told('heard without a mention').texts).toHaveLength(2);
  });

  test('does not hear other bots, nor what Slack itself writes', async () => {
    const channel = scene.channel();
    await set(scene, channel, { channel_listens: 'everything' });
    const robot = scene.slack.createPerson({ name: 'robot', kind: 'bot' });
    scene.slack.invite(channel, robot);
    scene.slack.say({ person: robot, channel, text: 'beep' });
    scene.slack.setTopic(channel, 'a topic');
    await pause(500);
    const roots = scene.slack.messages(channel);
    for (const root of roots) expect(scene.replies(channel, root)).toEqual([]);
  });
});

test("a channel's model is that of its new tasks", async () => {
  const channel = scene.channel();
  await set(scene, channel, { channel_model: 'max' });
  await scene.finished(channel, scene.ask(channel, 'with the best model'));
  expect(taskOf(scene, 'with the best model')?.model).toBe('max');
});

test('a channel without steps sees only the time', async () => {
  const channel = scene.channel();
  await set(scene, channel, { channel_more: [] });
  const root = scene.ask(channel, 'quietly');
  const seen: string[] = [];
  const stop = setInterval(() => seen.push(scene.shown(channel, root)), 50);
  await scene.finished(channel, root);
  clearInterval(stop);
  const shown = scene.shown(channel, root);
  expect(shown).toContain('Here is the answer.');
  expect(shown).toMatch(/Took /);
  expect([...seen, shown].filter((text) => /Look up|step/.test(text))).toEqual([]);
  expect(JSON.stringify(scene.replies(channel, root))).not.toContain('"steps"');
});

describe('the project of a channel', () => {
  test('can be another one, for new threads', async () => {
    const channel = scene.channel();
    const old = scene.ask(channel, 'in the old project');
    await scene.finished(channel, old);
    const other = await newProject(scene, 'Shared work');
    await set(scene, channel, { channel_project: ` ${other} ` });
    expect((await audited(scene, channel, 'setting')).at(-1)?.details).toEqual({ project: other });
    await scene.finished(channel, scene.ask(channel, 'in the new project'));
    await scene.finished(channel, scene.reply(channel, old, 'goes on'));
    expect(taskOf(scene, 'in the new project')?.project.id).toBe(other);
    expect(taskOf(scene, 'in the old project')?.project.title).toBe(channel.name);
    expect(scene.told('in the old project').texts).toHaveLength(2);
    expect((await openSettings(scene, ada, channel)).shown).toContain(other);
  });

  test('is chosen before the first task, too', async () => {
    const channel = scene.channel();
    const other = await newProject(scene, 'Made elsewhere');
    await set(scene, channel, { channel_project: other });
    await scene.finished(channel, scene.ask(channel, 'straight there'));
    expect(taskOf(scene, 'straight there')?.project.id).toBe(other);
    expect(project(scene, channel)).toBeUndefined();
  });

  test('is refused with a sentence where the service has none of that id', async () => {
    const channel = scene.channel();
    const modal = await openSettings(scene, ada, channel);
    const errors = { channel_project: expect.stringContaining('no such project') };
    const sent = { channel_project: 'prj_unknown', channel_model: 'max' };
    expect(await modal.save(sent)).toEqual({ response_action: 'errors', errors });
    expect(modal.view).toBeDefined();
    expect(await audited(scene, channel, 'setting')).toEqual([]);
    expect(await modal.save({ channel_project: '', channel_model: 'max' })).toBeUndefined();
  });

  test("is no other channel's where the person is not in that one", async () => {
    const closed = scene.slack.createChannel({ name: 'secret-lab', members: [ada], private: true });
    await scene.finished(closed, scene.ask(closed, 'a secret'));
    const secret = project(scene, closed)?.id ?? '';
    const channel = scene.channel();
    const stolen = await openSettings(scene, grace, channel);
    const errors = { channel_project: expect.stringContaining('no such project') };
    expect(await stolen.save({ channel_project: secret })).toEqual({ response_action: 'errors', errors });
    await set(scene, channel, { channel_project: secret });
    await scene.finished(channel, scene.ask(channel, 'by somebody who may'));
    expect(taskOf(scene, 'by somebody who may')?.project.id).toBe(secret);
  });

  test('is renamed and described; an empty description clears it, and what was not changed is not sent', async () => {
    const channel = scene.channel();
    await scene.finished(channel, scene.ask(channel, 'hello'));
    const id = project(scene, channel)?.id ?? '';
    const modal = await openSettings(scene, ada, channel);
    expect(modal.shown).toContain(`"initial_value":"${channel.name}"`);
    expect(modal.shown).toContain('"initial_value":"Where things are tried"');
    await modal.save({ channel_title: 'A better name' });
    await set(scene, channel, { channel_description: '' });
    expect(changes(scene, id)).toEqual([{ title: 'A better name' }, { description: '' }]);
    expect(scene.agent.projects.find((one) => one.id === id)).toMatchObject({
      title: 'A better name',
      description: '',
    });
    const noted = (await audited(scene, channel, 'setting')).map(({ details }) => details);
    expect(noted).toEqual([{ renamed: true }, { described: true }]);
  });

  test('of long texts is shown as far as a form can, and keeps them', async () => {
    const channel = scene.channel();
    const id = await newProject(scene, 'T'.repeat(500), 'd'.repeat(10_000));
    await set(scene, channel, { channel_project: id });
    await set(scene, channel, { channel_model: 'fast' });
    expect(changes(scene, id)).toEqual([]);
  });

  test('says what the service says to a name that it does not take', async () => {
    const faults = new Faults();
    const strict = await openScene({ agent: { faults } });
    const channel = strict.channel();
    await strict.finished(channel, strict.ask(channel, 'hello'));
    const modal = await openSettings(strict, strict.ada, channel);
    const refused = { kind: 'status', status: 422, body: { detail: 'No such names' } } as const;
    faults.add({ call: 'PUT /projects/{project_id}', fault: refused });
    const errors = { channel_title: 'The agent service did not take this: “No such names”.' };
    expect(await modal.save({ channel_title: 'Bad' })).toEqual({ response_action: 'errors', errors });
    // A service that wants something to change tells by the project's tasks that there is one.
    const shown = await openSettings(strict, strict.grace, channel);
    expect(shown.shown).toContain('it stays as it is');
    expect(await shown.save({ channel_model: 'fast' })).toBeUndefined();
  });
});

describe("a project that follows its channel's name", () => {
  test('gets each new name and purpose, of private channels too, and nothing where it does not follow', async () => {
    const open = scene.channel('first-name');
    const closed = scene.slack.createChannel({ name: 'closed-name', private: true, members: [ada] });
    const alone = scene.channel('left-alone');
    for (const channel of [open, closed, alone])
      await scene.finished(channel, scene.ask(channel, `hello ${channel.name}`));
    const [one, two, three] = [open, closed, alone].map((channel) => project(scene, channel)?.id ?? '');
    await set(scene, open, { channel_more: ['show_steps', 'follows_name'] });
    await set(scene, closed, { channel_more: ['show_steps', 'follows_name'] });
    scene.slack.rename(open, 'second-name');
    scene.slack.setPurpose(open, 'Another purpose');
    scene.slack.rename(closed, 'closed-again');
    scene.slack.rename(alone, 'still-alone');
    const has = (id: string | undefined, title: string, description: string) =>
      scene.agent.projects.some(
        (kept) => kept.id === id && kept.title === title && kept.description === description,
      );
    await scene.until('the open one follows', () => has(one, 'second-name', 'Another purpose'));
    await scene.until('the closed one follows', () => has(two, 'closed-again', ''));
    expect(has(three, 'left-alone', 'Where things are tried')).toBe(true);
  });

  test('gets the name at once when it begins to follow', async () => {
    const channel = scene.channel();
    const id = await newProject(scene, 'Any name');
    await set(scene, channel, { channel_project: id, channel_more: ['show_steps', 'follows_name'] });
    await scene.until('it has the name', () => project(scene, channel)?.id === id);
    expect(project(scene, channel)?.description).toBe('Where things are tried');
  });

  test('gets a name that came before the bot was restarted', async () => {
    const faults = new Faults();
    const slow = await openScene({ agent: { faults } });
    const channel = slow.channel('old-name');
    await slow.finished(channel, slow.ask(channel, 'hello'));
    await set(slow, channel, { channel_more: ['follows_name'] });
    await slow.until('it is in step', () => changes(slow, project(slow, channel)?.id ?? '').length > 0);
    const away = faults.add({
      call: 'PUT /projects/{project_id}',
      fault: { kind: 'latency', ms: 60_000 },
    });
    slow.slack.rename(channel, 'new-name');
    const { db } = slow.stage.bot.store;
    await slow.until('the change is noted', async () => {
      const rows = await db.selectFrom('projects').select('name_held_until').execute();
      return rows.some(({ name_held_until }) => name_held_until !== null);
    });
    away();
    await slow.stage.restartBot();
    await slow.until('the project has the name', () => project(slow, channel));
    expect(project(slow, channel)?.title).toBe('new-name');
  });
});
