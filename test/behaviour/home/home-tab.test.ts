import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Channel, Message, Person } from '../../../sandbox/slack/slack-workspace.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { StoreError } from '../../../src/store/errors.ts';
import { WHOLE_WORKSPACE } from '../../../src/store/workspaces/settings-store.ts';
import { openAppScene, pause } from '../../support/app-scene.ts';

const scene = await openAppScene();
const { slack } = scene;
const team = slack.team.id;

/** Far more openings than the rate limit lets through while they arrive. */
const MANY = 300;

/** Longer than what is read counts as read at the moment at which its reader was asked about. */
const LONG_MS = 2_200;

/** Longer than the pause before the second attempt to fill a tab. */
const REPEATED_MS = 2_500;

/** What a person's Home tab shows, as text. */
function shown(person: Person): string {
  return JSON.stringify(slack.home(person)?.blocks ?? []);
}

/** Opens the Home tab anew and waits until it shows this. */
async function openHome(person: Person, text: string): Promise<string> {
  slack.openHome(person);
  return await seen(person, text);
}

async function seen(person: Person, text: string): Promise<string> {
  await scene.until(`the Home tab shows ${text}`, () => shown(person).includes(text));
  return shown(person);
}

async function press(person: Person, actionId: string, value?: string) {
  await slack.click({ person, view: 'home', actionId, ...(value !== undefined && { value }) });
}

async function asked(channel: Channel, text: string, person: Person = scene.ada): Promise<Message> {
  const root = slack.say({ person, channel, text: `${scene.mention} ${text}` });
  await scene.finished(channel, root);
  return root;
}

/** What Slack refused of our views. */
function refusals(): (string | undefined)[] {
  const views = slack.calls.filter(({ method }) => method === 'views.publish');
  return views.flatMap(({ error }) => (error === undefined || error === 'hash_conflict' ? [] : [error]));
}

/** Puts threads with tasks into the records, as if they had been there for long. */
async function records(count: number, more: { channel: string; starter: string; title?: string }) {
  const { db } = scene.sandbox.bot.store;
  const project = 'prj_old';
  for (let from = 0; from < count; from += 500) {
    const rows = Array.from({ length: Math.min(500, count - from) }, (_, index) => ({
      workspace: team,
      channel: more.channel,
      thread_ts: `${1_500_000_000 + from + index}.000100`,
      account_id: 'settings',
      started_by: more.starter,
      adopted_ts: `${1_500_000_000 + from + index}.000100`,
      project_id: project,
      task_id: `tsk_${more.channel}_${from + index}`,
      task_title: more.title ?? `Task number ${from + index}.`,
      task_started_at: new Date(1_500_000_000_000 + (from + index) * 1_000),
      permalink: `https://sandbox.slack.com/archives/${more.channel}/p${from + index}`,
      task_state: 'completed',
      task_state_read_at: new Date(),
    }));
    await db.insertInto('threads').values(rows).execute();
  }
}

describe('the Home tab', () => {
  test('asks Slack once who opens it, and once for many openings of one person', async () => {
    const curious = slack.createPerson({ name: 'curious' });
    const of = (method: string, key: string) =>
      slack.calls.filter((call) => call.method === method && call.args[key] === curious.id);
    await openHome(curious, 'You have no tasks yet');
    expect(of('users.info', 'user')).toHaveLength(1);
    for (let count = 0; count < MANY; count += 1) slack.openHome(curious);
    await slack.settled();
    await scene.expectStays(() => of('views.publish', 'user_id').length < MANY / 2, true);
    expect(of('users.info', 'user').length).toBeLessThan(MANY / 2);
  });

  test('explains how to use the bot, and that it can be wrong, to a person without tasks', async () => {
    const newcomer = slack.createPerson({ name: 'newcomer' });
    const text = await openHome(newcomer, 'You have no tasks yet');
    expect(text).toContain('Mention me in a channel');
    expect(text).toContain('/invite');
    expect(text).toContain('can be wrong');
  });

  test('invites nobody who is refused, and names who can let them in', async () => {
    const guest = slack.createPerson({ name: 'gus', kind: 'guest' });
    const text = await openHome(guest, 'You have no tasks yet');
    expect(text).toContain('A workspace admin can let you in, or a full member');
    expect(text).not.toMatch(/Mention me|write to me|\/invite/);
    const { settings } = scene.sandbox.bot.store;
    await settings.set(team, WHOLE_WORKSPACE, scene.ada.id, { allowed_users: 'guests' });
    expect(await openHome(guest, 'Mention me in a channel')).not.toContain('can let you in');
    await settings.set(team, WHOLE_WORKSPACE, scene.ada.id, { allowed_users: null });
  });

  test("shows a person's own tasks, newest first, with state, age, channel and a link to the thread", async () => {
    const channel = scene.channel();
    const alan = slack.createPerson({ name: 'alan' });
    slack.invite(channel, alan);
    await asked(channel, 'Count the older sheep', alan);
    const root = await asked(channel, '--model fast Count the newer sheep', alan);
    await asked(channel, 'Somebody elses question');
    const text = await openHome(alan, '/archives/');
    expect(text.indexOf('newer sheep')).toBeLessThan(text.indexOf('older sheep'));
    expect(text).toContain(`${channel.id}/p${root.ts.replace('.', '')}|Count the newer sheep>`);
    expect(text).toMatch(/newer sheep>\\n(?:done|working) · Fast · just now · <#/);
    expect(text).not.toContain('Somebody elses question');
  });

  test('shows the states from the service, and which tasks it no longer has', async () => {
    const channel = scene.channel();
    const barbara = slack.createPerson({ name: 'barbara' });
    slack.invite(channel, barbara);
    await asked(channel, '/fail on purpose', barbara);
    await asked(channel, 'Gone with the wind', barbara);
    const gone = scene.taskOf('Gone with');
    expect(gone).toBeDefined();
    await fetch(`${scene.agent.url}/experimental/tasks/${gone?.id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${scene.agent.apiKey}` },
    });
    const text = await openHome(barbara, 'no longer at the agent service');
    expect(text).toMatch(/\\nfailed · /);
  });

  test('shows what it knows while the service is down, and says so', async () => {
    const channel = scene.channel();
    const carl = slack.createPerson({ name: 'carl' });
    slack.invite(channel, carl);
    await asked(channel, 'A question of Carl', carl);
    const fault = { kind: 'status', status: 500 } as const;
    const back = scene.agent.faults.add({ call: 'GET /experimental/tasks', fault });
    await openHome(carl, 'may be out of date');
    back();
    expect(shown(carl)).toContain('A question of Carl');
    await press(carl, 'home_refresh');
    await scene.until('the warning is gone', () => !shown(carl).includes('may be out of date'));
  });

  test("shows a channel's tasks to its members, and tells other people why it does not", async () => {
    const channel = slack.createChannel({ name: 'closed', members: [scene.ada] });
    const hidden = slack.createChannel({
      name: 'without-bot',
      members: [scene.ada],
      private: true,
      bot: false,
    });
    await asked(channel, 'What only members see');
    await openHome(scene.ada, "Choose a channel that you're in");
    await press(scene.ada, 'home_channel', channel.id);
    await seen(scene.ada, `<@${scene.ada.id}>`);
    expect(shown(scene.ada).split('"Details: What only members see"')).toHaveLength(3);

    await openHome(scene.grace, "Choose a channel that you're in");
    await press(scene.grace, 'home_channel', channel.id);
    const refused = await seen(scene.grace, 'Only people in the channel');
    expect(refused).not.toContain('What only members see');
    await press(scene.grace, 'home_channel', hidden.id);
    await seen(scene.grace, "I can't see who is in the channel");
  });

  test('shows neither title nor button of own tasks in channels that their starter has left, with a call for each channel', async () => {
    const leaver = slack.createPerson({ name: 'leaver' });
    const channels = ['kept', 'left', 'also-kept'].map((name) =>
      slack.createChannel({ name, private: true, members: [leaver] }),
    );
    for (const { id, name } of channels)
      await records(3, { channel: id, starter: leaver.id, title: `Begun in ${name}` });
    const [, left] = channels;
    if (left === undefined) throw new Error('There is no channel.');
    expect(await openHome(leaver, 'Begun in kept')).toContain(`${left.id}/`);
    slack.kick(left, leaver);
    const lists = () => slack.calls.filter(({ method }) => method === 'conversations.members').length;
    const before = lists();
    const text = await openHome(leaver, strings.command.hiddenTask);
    expect(text).toContain('Begun in kept');
    expect(text).toContain('Begun in also-kept');
    expect(text).not.toContain('Begun in left');
    expect(text).not.toContain(`${left.id}/`);
    expect(lists() - before).toBe(channels.length);
  });

  test('shows nothing for which its reader has lost the right while the service was slow', async () => {
    const leaver = slack.createPerson({ name: 'slow-leaver', admin: true });
    const channel = slack.createChannel({ name: 'slowly-left', private: true, members: [leaver] });
    await asked(channel, 'What nobody else sees', leaver);
    const read = Promise.withResolvers<void>();
    const fault = { kind: 'hold', until: read.promise } as const;
    const mend = scene.agent.faults.add({ call: /tasks$/, fault });
    const before = await openHome(leaver, strings.home.loading);
    expect(before).toContain('What nobody else sees');
    expect(before).toContain(strings.usage.heading);
    await pause(LONG_MS);
    slack.kick(channel, leaver);
    leaver.admin = false;
    mend();
    read.resolve();
    const after = await seen(leaver, strings.command.hiddenTask);
    expect(after).not.toContain('What nobody else sees');
    expect(after).not.toContain(strings.usage.heading);
  });

  test('is filled once the database is back that failed for seconds', async () => {
    const channel = scene.channel();
    const patient = slack.createPerson({ name: 'patient' });
    slack.invite(channel, patient);
    await asked(channel, 'What is listed later', patient);
    const { tasks } = scene.sandbox.bot.store;
    const real = tasks.ofPerson.bind(tasks);
    let failures = 4;
    const read = vi.spyOn(tasks, 'ofPerson').mockImplementation(async (workspace, person, range) => {
      if (person !== patient.id || failures === 0) return real(workspace, person, range);
      failures -= 1;
      throw new StoreError('unavailable', 'The database is away.');
    });
    onTestFinished(() => read.mockRestore());
    expect(await openHome(patient, 'What is listed later')).not.toContain('You have no tasks yet');
  });

  test.each([
    ['cannot be brought up to date at first', { kind: 'status', status: 503 }],
    ['is shown without an answer', { kind: 'lost' }],
  ] as const)('shows the states of the tasks in the end where it %s', async (_, fault) => {
    const title = `What ${fault.kind} hides`;
    const reader = slack.createPerson({ name: `reader-${fault.kind}` });
    const channel = scene.channel();
    slack.invite(channel, reader);
    await asked(channel, title, reader);
    const isUpToDate = () => shown(reader).includes(title) && !shown(reader).includes(strings.home.loading);
    slack.openHome(reader);
    await scene.until('the states are shown', isUpToDate);
    const { db } = scene.sandbox.bot.store;
    const old = db.updateTable('threads').set({ task_state_read_at: null });
    await old.where('started_by', '=', reader.id).execute();
    const read = Promise.withResolvers<void>();
    const mend = scene.agent.faults.add({ call: /tasks$/, fault: { kind: 'hold', until: read.promise } });
    const fail = () => slack.faults.add({ call: 'views.publish', fault, times: 1 });
    if (fault.kind === 'lost') fail();
    await openHome(reader, strings.home.loading);
    if (fault.kind !== 'lost') fail();
    mend();
    read.resolve();
    await scene.until('the states are shown again', isUpToDate, 20_000);
    expect(isUpToDate()).toBe(true);
  });

  test('keeps the channel that is chosen while it is tried again to bring the tab up to date', async () => {
    const hasty = slack.createPerson({ name: 'hasty' });
    const channel = scene.channel();
    slack.invite(channel, hasty);
    await asked(channel, 'What the hasty ask', hasty);
    const { db } = scene.sandbox.bot.store;
    const old = db.updateTable('threads').set({ task_state_read_at: null });
    await old.where('started_by', '=', hasty.id).execute();
    const read = Promise.withResolvers<void>();
    const mend = scene.agent.faults.add({ call: /tasks$/, fault: { kind: 'hold', until: read.promise } });
    onTestFinished(mend);
    await openHome(hasty, strings.home.loading);
    slack.faults.add({ call: 'views.publish', fault: { kind: 'status', status: 503 }, times: 1 });
    const before = slack.calls.length;
    const failed = () =>
      slack.calls.slice(before).some(({ method, ok }) => method === 'views.publish' && !ok);
    mend();
    read.resolve();
    await scene.until('the first attempt has failed', failed);
    await press(hasty, 'home_channel', channel.id);
    await seen(hasty, 'home_settings');
    await pause(REPEATED_MS);
    expect(shown(hasty)).toContain('home_settings');
  });

  test("opens the chosen channel's settings, and says in a direct message that the click came too late for Slack", async () => {
    const channel = scene.channel();
    const frida = slack.createPerson({ name: 'frida' });
    slack.invite(channel, frida);
    await openHome(frida, "Choose a channel that you're in");
    await press(frida, 'home_channel', channel.id);
    await seen(frida, 'home_settings');
    const listed = Promise.withResolvers<void>();
    const slowly = { kind: 'hold', until: listed.promise } as const;
    slack.faults.add({ call: 'conversations.members', about: channel.id, fault: slowly });
    await press(frida, 'home_settings');
    const open = () => JSON.stringify(slack.modal(frida)?.texts ?? {});
    // The window opens before Slack says who is in the channel.
    await scene.until('the window is open', () => open().includes('Channel settings'));
    listed.resolve();
    await scene.until('the settings are there', () => slack.modal(frida)?.callbackId === 'channel_settings');
    await slack.closeView(frida);
    const body = { ok: false, error: 'expired_trigger_id' };
    slack.faults.add({ call: 'views.open', fault: { kind: 'status', status: 200, body }, times: 1 });
    await press(frida, 'home_settings');
    const told = () => slack.messages(slack.openDm(frida)).map((one) => slack.visibleText(one));
    await scene.until('she is told', () => told().length > 0);
    expect(told()).toEqual([strings.controlFailed.late]);
  });

  test('keeps the channel that each of two people chose at the same time', async () => {
    const channel = scene.channel();
    const dora = slack.createPerson({ name: 'dora' });
    const emil = slack.createPerson({ name: 'emil' });
    slack.invite(channel, dora);
    slack.invite(channel, emil);
    await asked(channel, 'Doras very own question', dora);
    await asked(channel, 'Emils very own question', emil);
    await Promise.all([openHome(dora, 'Doras very own'), openHome(emil, 'Emils very own')]);
    expect(shown(dora)).not.toContain('Emils');
    expect(shown(emil)).not.toContain('Doras');
    await press(dora, 'home_channel', channel.id);
    await seen(dora, 'Emils very own');
    await scene.sandbox.restartBot();
    // Opened again, by another process, it shows the same channel.
    slack.openHome(dora);
    await press(dora, 'home_refresh');
    await seen(dora, 'Emils very own');
    expect(shown(emil)).not.toContain('Doras');
  });

  test.each([1, 1_000])("stays within Slack's limits with %i tasks, and turns its pages", async (count) => {
    const person = slack.createPerson({ name: `busy-${count}` });
    const channel = scene.channel();
    slack.invite(channel, person);
    await records(count, { channel: channel.id, starter: person.id });
    await openHome(person, `Task number ${count - 1}.`);
    await press(person, 'home_channel', channel.id);
    await scene.until(
      'both lists are there',
      () => shown(person).split(`Details: Task number ${count - 1}.`).length === 3,
    );
    expect(slack.home(person)?.blocks.length).toBeLessThanOrEqual(100);
    if (count === 1) return;
    expect(shown(person)).toContain(`1 to 10 of ${count}`);
    // Pressed twice, it turns one page.
    await Promise.all([press(person, 'home_older', 'own/1'), press(person, 'home_older', 'own/1')]);
    await seen(person, `11 to 20 of ${count}`);
    await press(person, 'home_older', 'channel/1');
    await scene.until('both are turned', () => shown(person).split(`11 to 20 of ${count}`).length === 3);
    await press(person, 'home_newer', 'own/0');
    await seen(person, `1 to 10 of ${count}`);
    expect(refusals()).toEqual([]);
  });

  test('shortens titles of 300 characters and shows their markup literally', async () => {
    const person = slack.createPerson({ name: 'wordy' });
    const channel = scene.channel();
    slack.invite(channel, person);
    await records(40, {
      channel: channel.id,
      starter: person.id,
      title: '<!channel>&<>'.repeat(23).padEnd(300, '&'),
    });
    const text = await openHome(person, '&lt;');
    expect(text).not.toContain('<!channel>');
    expect(text).toContain('…');
    expect(refusals()).toEqual([]);
  });
});
