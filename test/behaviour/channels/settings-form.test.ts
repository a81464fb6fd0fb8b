import { describe, expect, test } from 'vitest';
import { Faults } from '../../../sandbox/faults.ts';
import type { Channel } from '../../../sandbox/slack/slack-workspace.ts';
import {
  channelSettingsFailed,
  noticeNotPosted,
  settingNotices,
  settingsSaved,
} from '../../../src/render/strings/index.ts';
import { DEFAULT_SETTINGS } from '../../../src/store/workspaces/settings-store.ts';
import { openAppScene } from '../../support/app-scene.ts';
import {
  auditRows,
  ChannelSettingsModal,
  openChannelSettings,
  saveChannelSettings,
} from '../../support/channel-settings-scene.ts';
import { letJobBeGivenUp } from '../../support/outage.ts';

const scene = await openAppScene();
const { ada, grace } = scene;

async function noticeJobs({ id }: Channel): Promise<number> {
  const jobs = scene.sandbox.bot.store.db.selectFrom('jobs').select('key').where('channel', '=', id);
  return (await jobs.where('kind', '=', 'channel_notice').execute()).length;
}

describe("the form of a channel's settings", () => {
  test('shows the current settings and saves what a member of the channel changes', async () => {
    const channel = scene.channel();
    const modal = await openChannelSettings(scene, ada, channel);
    expect(modal.shown).toContain('This channel has no project yet');
    expect(modal.fields).toEqual([
      'channel_listen_mode',
      'channel_allowed_users',
      'channel_model',
      'channel_task_control',
      'channel_answers_here',
      'channel_switches',
      'channel_allowed_bots',
      'channel_project',
    ]);
    expect(JSON.stringify(await modal.save({ channel_allowed_bots: 'a bot' }))).toContain(
      'channel_allowed_bots',
    );
    const values = {
      channel_model: 'max',
      channel_allowed_users: 'guests',
      channel_allowed_bots: 'B012, B034',
      channel_switches: ['show_sources', 'send_reminders', 'sync_project_name', 'allow_workflow_steps'],
    };
    expect(await modal.save(values)).toBeUndefined();
    expect(modal.shown).toContain(settingsSaved);
    expect(await scene.sandbox.bot.store.settings.get(scene.slack.team.id, channel.id)).toEqual({
      ...DEFAULT_SETTINGS,
      model: 'max',
      allowed_users: 'guests',
      allowed_bots: ['B012', 'B034'],
      show_steps: false,
      allow_workflow_steps: true,
    });
    const details = {
      model: 'max',
      allowed_users: 'guests',
      allowed_bots: 'B012, B034',
      show_steps: false,
      allow_workflow_steps: true,
    };
    expect(await auditRows(scene, channel, 'setting')).toEqual([{ user_id: ada.id, details }]);
    const again = await openChannelSettings(scene, grace, channel);
    expect(again.shown).toContain('"initial_option":{"text":{"type":"plain_text","text":"Max"');
    await again.save({ channel_model: 'usual' });
    expect((await scene.sandbox.bot.store.settings.get(scene.slack.team.id, channel.id)).model).toBeNull();
  });

  test('tells the channel once whose messages go to the agent from now on, also after a lost answer', async () => {
    const channel = scene.channel();
    const notices = () =>
      [...channel.messages.values()]
        .map((message) => scene.slack.visibleText(message))
        .filter((text) => text.includes('asked me') || text.includes('workflow steps'));
    const forms = [
      await openChannelSettings(scene, ada, channel),
      await openChannelSettings(scene, grace, channel),
    ];
    const lost = { call: 'chat.postMessage', about: channel.id, fault: { kind: 'lost' }, times: 1 } as const;
    scene.slack.faults.add(lost);
    const on = { channel_listen_mode: 'everything', channel_switches: ['allow_workflow_steps'] };
    await Promise.all(forms.map((form) => form.save(on)));
    const told = await scene.until('the channel is told', () => notices().length > 0 && notices());
    const names = [ada.name, grace.name];
    const linesOf = (who: string, isOn: boolean) =>
      [settingNotices.listen_mode(who, isOn), settingNotices.allow_workflow_steps(who, isOn)].join('\n');
    expect(names.map((who) => linesOf(who, true))).toContain(told[0]);
    await scene.until('nothing is left to say', async () => (await noticeJobs(channel)) === 0);
    await (await openChannelSettings(scene, ada, channel)).save(on);
    await (await openChannelSettings(scene, ada, channel)).save({ channel_model: 'fast', ...on });
    await (await openChannelSettings(scene, ada, channel)).save({
      channel_listen_mode: 'usual',
      channel_switches: [],
    });
    await scene.until('the channel is told again', () => notices().length > 1);
    await scene.until('nothing is left to say', async () => (await noticeJobs(channel)) === 0);
    expect(notices()).toEqual([told[0], linesOf(ada.name, false)]);
  });

  test.each([
    ['for a day', 'internal_error'],
    ['at all', 'restricted_action_non_threadable_channel'],
  ])('tells the person who changed it where the channel cannot be told %s', async (_when, error) => {
    const channel = scene.channel();
    const mend = scene.slack.faults.add({
      call: 'chat.postMessage',
      about: `"channel":"${channel.id}"`,
      fault: { kind: 'status', status: 200, body: { ok: false, error } },
    });
    await (await openChannelSettings(scene, ada, channel)).save({ channel_listen_mode: 'everything' });
    if (error === 'internal_error') await letJobBeGivenUp(scene, 'channel_notice', channel.id);
    const notice = noticeNotPosted(channel.id, settingNotices.listen_mode(ada.name, true));
    const direct = () => scene.slack.messages(scene.slack.openDm(ada)).map(({ text }) => text);
    await scene.until('nothing is left to say', async () => (await noticeJobs(channel)) === 0);
    expect(direct().filter((text) => text === notice)).toHaveLength(1);
    mend();
  });

  test('shows names as text in all its notices, whatever they hold', async () => {
    const name = '*Ada* <!channel> <https://one.example|two.example> & `co`';
    const person = scene.slack.createPerson({ name });
    const channel = scene.channel();
    const dm = scene.slack.openDm(person);
    for (const mode of ['everything', 'mentions'])
      expect(
        await (await openChannelSettings(scene, person, channel)).save({
          channel_listen_mode: mode,
          channel_switches: mode === 'everything' ? ['allow_workflow_steps'] : [],
        }),
      ).toBeUndefined();
    const posts = () => [...channel.messages.values(), ...dm.messages.values()];
    const notices = () => posts().filter(({ text }) => /asked me|workflow steps/.test(text));
    await scene.until('both are told', () => notices().length === 2);
    for (const { text, blocks } of notices()) {
      expect(text).not.toMatch(/<!|<https/);
      expect(JSON.stringify(blocks)).toContain('"plain_text"');
      expect(JSON.stringify(blocks)).not.toContain('mrkdwn');
    }
  });

  test('is saved so often by one person in an hour, and no more', async () => {
    const person = scene.slack.createPerson({ name: 'restless' });
    const channel = scene.channel();
    const models = ['fast', 'max'];
    let said: unknown;
    let saves = 0;
    for (; said === undefined && saves < 40; saves += 1) {
      const modal = await openChannelSettings(scene, person, channel);
      said = await modal.save({ channel_model: models[saves % 2] ?? '' });
    }
    expect(saves).toBe(31);
    expect(JSON.stringify(said)).toContain(channelSettingsFailed.tooOften);
  });

  test('saves and audits nothing when nothing was changed', async () => {
    const channel = scene.channel();
    const modal = await openChannelSettings(scene, ada, channel);
    expect(await modal.save({})).toBeUndefined();
    expect(await auditRows(scene, channel, 'setting')).toEqual([]);
  });

  test('keeps the changes of two people who save at once, and the last of two to the same setting', async () => {
    const channel = scene.channel();
    const [first, second] = [
      await openChannelSettings(scene, ada, channel),
      await openChannelSettings(scene, grace, channel),
    ];
    await Promise.all([
      first.save({ channel_model: 'fast', channel_allowed_users: 'everyone' }),
      second.save({ channel_listen_mode: 'everything', channel_switches: [] }),
    ]);
    const both = { model: 'fast', allowed_users: 'everyone', listen_mode: 'everything', show_steps: false };
    const { settings: channels } = scene.sandbox.bot.store;
    expect(await channels.get(scene.slack.team.id, channel.id)).toMatchObject(both);
    const [third, fourth] = [
      await openChannelSettings(scene, ada, channel),
      await openChannelSettings(scene, grace, channel),
    ];
    await third.save({ channel_model: 'max' });
    await fourth.save({ channel_model: 'standard' });
    expect(await channels.get(scene.slack.team.id, channel.id)).toMatchObject({ ...both, model: 'standard' });
  });

  test('offers only the model and the steps in direct messages', async () => {
    const dm = scene.slack.openDm(ada);
    const modal = await openChannelSettings(scene, ada, dm);
    expect(modal.fields).toEqual(['channel_model', 'channel_switches', 'channel_project']);
    expect(await modal.save({ channel_model: 'fast' })).toBeUndefined();
    const kept = await scene.sandbox.bot.store.settings.get(scene.slack.team.id, dm.id);
    expect(kept).toMatchObject({ model: 'fast', listen_mode: null, show_steps: true });
  });

  test('opens only for full members who are in the channel', async () => {
    const guest = scene.slack.createPerson({ name: `guest-${Math.random()}`, kind: 'guest' });
    const outsider = scene.slack.createPerson({ name: `outsider-${Math.random()}` });
    const channel = scene.slack.createChannel({ name: 'closed', members: [ada, guest] });
    expect((await openChannelSettings(scene, guest, channel)).shown).toContain('Only full members');
    expect((await openChannelSettings(scene, outsider, channel)).shown).toContain(
      'Only people in the channel',
    );
    expect(new ChannelSettingsModal(scene, guest).fields).toEqual([]);
    expect(await auditRows(scene, channel, 'refusal')).toEqual([
      { user_id: guest.id, details: { control: 'settings', by: 'channel', why: 'guest' } },
      { user_id: outsider.id, details: { control: 'settings', by: 'channel', why: 'outsider' } },
    ]);
  });

  test('opens neither in a channel without the bot nor for a stranger', async () => {
    const away = scene.slack.createChannel({
      name: 'without-bot',
      members: [ada],
      private: true,
      bot: false,
    });
    expect((await openChannelSettings(scene, ada, away)).shown).toContain('invite me and try again');
    const stranger = scene.slack.createPerson({ name: 'stranger', kind: 'stranger' });
    const shared = scene.slack.createChannel({ name: 'shared', members: [ada, stranger], shared: true });
    const shown = (await openChannelSettings(scene, stranger, shared)).shown;
    expect(shown).toContain('Only full members');
  });

  test('obeys admins alone where only they control the channel, even if it was opened before', async () => {
    const channel = scene.channel();
    const admin = scene.slack.createPerson({ name: 'admin', admin: true });
    scene.slack.invite(channel, admin);
    const late = await openChannelSettings(scene, grace, channel);
    await saveChannelSettings(scene, channel, { channel_task_control: 'admins' });
    const said = { channel_listen_mode: 'Only workspace admins can do that here.' };
    expect(await late.save({ channel_model: 'max' })).toEqual({ response_action: 'errors', errors: said });
    expect((await openChannelSettings(scene, ada, channel)).shown).toContain('Only workspace admins');
    expect(
      await (await openChannelSettings(scene, admin, channel)).save({ channel_model: 'max' }),
    ).toBeUndefined();
  });
});

test.concurrent('a form that opened too late says so', async ({ onTestFinished }) => {
  const late = await openAppScene({ slack: { triggerMs: -1 } }, onTestFinished);
  const channel = late.channel();
  await late.slack.command({ person: late.ada, channel, command: '/agent', text: 'settings' });
  const told = () => late.slack.ephemerals(late.ada, channel).map(({ text }) => text);
  await late.until('it is said', () => told().length > 0);
  expect(told()).toEqual([expect.stringContaining('too long')]);
  expect(late.slack.modal(late.ada)).toBeUndefined();
});

test.concurrent('a service that is down does not block the settings that this app keeps', async ({
  onTestFinished,
}) => {
  const faults = new Faults();
  const away = await openAppScene({ agent: { faults } }, onTestFinished);
  const channel = away.channel();
  await away.finished(channel, away.ask(channel, 'hello'));
  faults.add({ call: 'PUT /projects/{project_id}', fault: { kind: 'latency', ms: 4_000 } });
  const modal = await openChannelSettings(away, away.ada, channel);
  expect(modal.fields.slice(-3)).toEqual(['channel_title', 'channel_description', 'channel_project']);
  expect(modal.shown).toContain('to keep it unchanged');
  const errors = { channel_listen_mode: expect.stringContaining("didn't respond in time") };
  const both = { channel_title: 'New', channel_model: 'max' };
  expect(await modal.save(both)).toEqual({ response_action: 'errors', errors });
  const { settings: channels } = away.sandbox.bot.store;
  expect((await channels.get(away.slack.team.id, channel.id)).model).toBeNull();
  expect(await modal.save({ channel_model: 'max' })).toBeUndefined();
  expect((await channels.get(away.slack.team.id, channel.id)).model).toBe('max');
});
