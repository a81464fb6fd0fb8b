import { afterEach, describe, expect, test } from 'vitest';
import type { AgentScript } from '../../../sandbox/agent/agent-script.ts';
import type { Channel, Message } from '../../../sandbox/slack/slack-workspace.ts';
import { channelSettingsFailed, projectUsed } from '../../../src/render/strings/settings.ts';
import { projectForbidden, projectNotAllowed } from '../../../src/render/strings/turn-errors.ts';
import { openAppScene } from '../../support/app-scene.ts';
import {
  auditRows,
  newProject,
  openChannelSettings,
  projectOf,
  projectUpdates,
  saveChannelSettings,
  taskOf,
} from '../../support/channel-settings-scene.ts';

const script: AgentScript = async (turn) => turn.write('Here is the answer.');
const scene = await openAppScene({ agent: { script } });
const { ada, grace } = scene;

describe('the project of a channel', () => {
  afterEach(() => scene.reset());

  test('can be replaced for new threads', async () => {
    const channel = scene.channel();
    const old = scene.ask(channel, 'in the old project');
    await scene.finished(channel, old);
    const other = await newProject(scene, 'Shared work');
    await saveChannelSettings(scene, channel, { channel_project: ` ${other} ` });
    const details = { project: other, sync_project_name: null };
    expect((await auditRows(scene, channel, 'setting')).at(-1)?.details).toEqual(details);
    await scene.finished(channel, scene.ask(channel, 'in the new project'));
    await scene.finished(channel, scene.reply(channel, old, 'goes on'));
    expect(taskOf(scene, 'in the new project')?.project.id).toBe(other);
    expect(taskOf(scene, 'in the old project')?.project.title).toBe(channel.name);
    expect(scene.sentToAgent('in the old project').texts).toHaveLength(2);
    const modal = await openChannelSettings(scene, ada, channel);
    expect(modal.shown).toContain(other);
    // Otherwise nobody would know how to undo it.
    expect(modal.shown).toContain('or “new” for a new one');
    await modal.save({ channel_project: 'new' });
    await scene.finished(channel, scene.ask(channel, 'in one of its own again'));
    expect(taskOf(scene, 'in one of its own again')?.project).toMatchObject({ title: channel.name });
  });

  test('can be chosen before the first task', async () => {
    const channel = scene.channel();
    const other = await newProject(scene, 'Made elsewhere');
    await saveChannelSettings(scene, channel, { channel_project: other });
    await scene.finished(channel, scene.ask(channel, 'straight there'));
    expect(taskOf(scene, 'straight there')?.project.id).toBe(other);
    expect(projectOf(scene, channel)).toBeUndefined();
  });

  test('cannot be one that the service does not have', async () => {
    const channel = scene.channel();
    const modal = await openChannelSettings(scene, ada, channel);
    const errors = { channel_project: expect.stringContaining('no such project') };
    const sent = { channel_project: 'prj_unknown', channel_model: 'max' };
    expect(await modal.save(sent)).toEqual({ response_action: 'errors', errors });
    expect(modal.view).toBeDefined();
    expect(await auditRows(scene, channel, 'setting')).toEqual([]);
    expect(await modal.save({ channel_project: '', channel_model: 'max' })).toBeUndefined();
  });

  test('cannot be that of a channel the person is not in', async () => {
    const closed = scene.slack.createChannel({ name: 'secret-lab', members: [ada], private: true });
    await scene.finished(closed, scene.ask(closed, 'a secret'));
    const secret = projectOf(scene, closed)?.id ?? '';
    const channel = scene.channel();
    const stolen = await openChannelSettings(scene, grace, channel);
    const errors = { channel_project: expect.stringContaining('no such project') };
    expect(await stolen.save({ channel_project: secret })).toEqual({ response_action: 'errors', errors });
    await saveChannelSettings(scene, channel, { channel_project: secret });
    await scene.finished(channel, scene.ask(channel, 'by somebody who may'));
    expect(taskOf(scene, 'by somebody who may')?.project.id).toBe(secret);
  });

  test('is used elsewhere only while whoever took it may read the channel that it was made for', async () => {
    const leaver = scene.slack.createPerson({ name: 'leaver' });
    const make = (name: string) => scene.slack.createChannel({ name, members: [leaver], private: true });
    const [home, own, third] = [make('home-lab'), make('own-lab'), make('third-lab')];
    scene.slack.invite(home, ada);
    await scene.finished(home, scene.ask(home, 'what the lab found'));
    const project = projectOf(scene, home)?.id ?? '';
    const direct = scene.slack.openDm(leaver);
    const take = async (channel: Channel) =>
      (await openChannelSettings(scene, leaver, channel)).save({ channel_project: project });
    const askIn = async (channel: Channel, text: string, root?: Message) => {
      const message = root
        ? scene.reply(channel, root, text, { person: leaver })
        : scene.ask(channel, text, { person: leaver });
      await scene.finished(channel, message);
      return message;
    };
    for (const channel of [own, direct]) expect(await take(channel)).toBeUndefined();
    const began: { channel: Channel; root: Message }[] = [];
    for (const channel of [own, direct]) {
      began.push({ channel, root: await askIn(channel, `asked inside ${channel.id}`) });
      expect(taskOf(scene, `asked inside ${channel.id}`)?.project.id).toBe(project);
    }
    const old = await openChannelSettings(scene, leaver, own);
    expect(old.shown).toContain('home-lab');
    scene.slack.kick(home, leaver);
    expect(JSON.stringify(await old.save({ channel_title: 'Renamed from outside' }))).toContain(
      channelSettingsFailed.lostProject,
    );
    const sent = () => scene.agent.tasks.flatMap(({ messages }) => messages).length;
    const before = sent();
    const errors = { channel_project: channelSettingsFailed.unknownProject };
    expect(await take(third)).toEqual({ response_action: 'errors', errors });
    const updates = () => projectUpdates(scene, project).length;
    const read = updates();
    const modal = await openChannelSettings(scene, leaver, own);
    expect(modal.shown).toContain(channelSettingsFailed.lostProject);
    expect(modal.shown).not.toContain('home-lab');
    expect(updates()).toBe(read);
    for (const { channel, root } of began) {
      const late = await askIn(channel, `asked from outside in ${channel.id}`);
      expect(scene.shown(channel, late)).toContain(projectNotAllowed.outsider);
      await askIn(channel, `goes on outside in ${channel.id}`, root);
      expect(scene.shown(channel, root)).toContain(projectNotAllowed.outsider);
    }
    expect(sent()).toBe(before);
    const lost = await openChannelSettings(scene, leaver, direct);
    expect(await lost.save({ channel_project: ' New ' })).toBeUndefined();
    await askIn(direct, 'asked in one of its own');
    const made = taskOf(scene, 'asked in one of its own')?.project.id;
    expect(made).toMatch(/^prj_/);
    expect(made).not.toBe(project);
    scene.slack.invite(home, leaver);
    await askIn(own, 'asked as somebody who is back');
    expect(taskOf(scene, 'asked as somebody who is back')?.project.id).toBe(project);
    own.shared = true;
    const shown = scene.shown(own, await askIn(own, 'where others read'));
    expect(shown).toContain(projectNotAllowed.shared);
  });

  test('is told to both channels if another one uses it, with who did that', async () => {
    const [home, other] = [scene.channel(), scene.slack.createChannel({ name: 'other', private: true })];
    await scene.finished(home, scene.ask(home, 'whose project is told'));
    const project = projectOf(scene, home)?.id ?? '';
    await saveChannelSettings(scene, other, { channel_project: project });
    const told = ({ id }: typeof home, sentence: string) =>
      scene.until('it is told', () =>
        [...(scene.slack.channel(id).messages.values() ?? [])].some(({ text }) => text === sentence),
      );
    await told(other, projectUsed('ada', true));
    await told(home, `${projectUsed('ada', false)}\n<#${other.id}>`);
    const posts = [...scene.slack.channel(home.id).messages.values()];
    expect(JSON.stringify(posts.map(({ blocks }) => blocks))).toContain(`<#${other.id}>`);
  });

  test('is not used where another organisation reads, however public it is', async () => {
    for (const isPrivate of [true, false]) {
      const home = scene.slack.createChannel({ name: `home-${isPrivate}`, private: isPrivate });
      await scene.finished(home, scene.ask(home, `kept at home ${isPrivate}`));
      const project = projectOf(scene, home)?.id ?? '';
      const shared = scene.slack.createChannel({ name: `with-others-${isPrivate}` });
      const modal = await openChannelSettings(scene, ada, shared);
      shared.shared = true;
      const errors = { channel_project: channelSettingsFailed.sharedChannel };
      expect(await modal.save({ channel_project: project })).toEqual({ response_action: 'errors', errors });
      expect(await auditRows(scene, shared, 'setting')).toEqual([]);
    }
  });

  test('is renamed and described, and only what changed is sent', async () => {
    const channel = scene.channel();
    await scene.finished(channel, scene.ask(channel, 'hello'));
    const id = projectOf(scene, channel)?.id ?? '';
    const modal = await openChannelSettings(scene, ada, channel);
    expect(modal.shown).toContain(`"initial_value":"${channel.name}"`);
    expect(modal.shown).toContain('"initial_value":"Where things are tried"');
    await modal.save({ channel_title: 'A better name' });
    await saveChannelSettings(scene, channel, { channel_description: '' });
    expect(projectUpdates(scene, id)).toEqual([{ title: 'A better name' }, { description: '' }]);
    expect(scene.agent.projects.find((one) => one.id === id)).toMatchObject({
      title: 'A better name',
      description: '',
    });
    const noted = (await auditRows(scene, channel, 'setting')).map(({ details }) => details);
    expect(noted).toEqual([{ renamed: true, sync_project_name: false }, { described: true }]);
  });

  test('keeps texts that are longer than the form can show', async () => {
    const channel = scene.channel();
    const id = await newProject(scene, 'T'.repeat(500), 'd'.repeat(10_000));
    await saveChannelSettings(scene, channel, { channel_project: id });
    await saveChannelSettings(scene, channel, { channel_model: 'fast' });
    expect(projectUpdates(scene, id)).toEqual([]);
  });

  test('keeps its name where the service refuses the new one, and the form quotes the service', async () => {
    const channel = scene.channel();
    await scene.finished(channel, scene.ask(channel, 'hello'));
    const modal = await openChannelSettings(scene, ada, channel);
    const refused = { kind: 'status', status: 422, body: { detail: 'No such names' } } as const;
    scene.agent.faults.add({ call: 'PUT /projects/{project_id}', fault: refused });
    const errors = { channel_title: 'The agent service rejected this: “No such names”.' };
    expect(await modal.save({ channel_title: 'Bad' })).toEqual({ response_action: 'errors', errors });
    // A service that wants something to change tells by the project's tasks that there is one.
    const shown = await openChannelSettings(scene, grace, channel);
    expect(shown.shown).toContain('to keep it unchanged');
    expect(await shown.save({ channel_model: 'fast' })).toBeUndefined();
  });

  test('may be forbidden by the service, which is not taken for a refused key', async () => {
    const [channel, elsewhere] = [scene.channel(), scene.channel()];
    const [foreign, closed] = [await newProject(scene, 'Foreign'), await newProject(scene, 'Closed later')];
    const fault = { kind: 'status', status: 403 } as const;
    scene.agent.faults.add({ call: /projects|tasks/, about: foreign, fault });
    const modal = await openChannelSettings(scene, ada, channel);
    const errors = { channel_project: expect.stringContaining("or you can't use it here") };
    expect(await modal.save({ channel_project: foreign })).toEqual({ response_action: 'errors', errors });
    await scene.finished(elsewhere, scene.ask(elsewhere, 'beside it'));

    await saveChannelSettings(scene, channel, { channel_project: closed });
    scene.agent.faults.add({ call: 'POST /experimental/tasks', fault, times: 1 });
    const root = scene.ask(channel, 'in a closed project');
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain(projectForbidden(closed));
    await scene.finished(elsewhere, scene.ask(elsewhere, 'and after it'));
    expect(taskOf(scene, 'and after it')?.project.title).toBe(elsewhere.name);
  });
});
