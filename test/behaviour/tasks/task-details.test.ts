import { pino } from 'pino';
import { describe, expect, test, vi } from 'vitest';
import type { Channel, Message, Person } from '../../../sandbox/slack/slack-workspace.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { SETTINGS_ACCOUNT } from '../../../src/store/workspaces/accounts.ts';
import { openAppScene } from '../../support/app-scene.ts';

const logged: string[] = [];
const log = pino({ level: 'warn' }, { write: (line) => void logged.push(line) });
const scene = await openAppScene({ log, limits: { maxInlineBytes: 0, watchMs: 0 } });
const { slack } = scene;
const table = { name: 'sheep.csv', mime: 'text/csv', bytes: 'name,legs\nDolly,4\n' };

/** How often one person is sent files in an hour. */
const MOST_FILES = 30;

/** What a person's open modal shows, as text. */
function modal(person: Person = scene.ada): string {
  return JSON.stringify(slack.modal(person)?.blocks ?? []);
}

async function modalShows(text: string, person: Person = scene.ada): Promise<string> {
  await scene.until(`the modal shows "${text}"`, () => modal(person).includes(text));
  return modal(person);
}

/** Ada's question, answered. */
async function asked(text: string, more: Parameters<typeof scene.ask>[2] = {}) {
  const channel = scene.channel();
  const root = scene.ask(channel, text, more);
  await scene.finished(channel, root);
  return { channel, root };
}

/** Opens the details of a thread's task from somebody's Home tab. */
async function openDetails(channel: Channel, root: Message, person: Person = scene.ada): Promise<void> {
  const value = `${channel.id}/${root.ts}`;
  if (slack.modal(person) !== undefined) await slack.closeView(person);
  slack.openHome(person);
  const listed = () => JSON.stringify(slack.home(person)?.blocks ?? []).includes(value);
  if (person === scene.ada) await scene.until('the task is listed', listed);
  else {
    await scene.until('the tab is there', () => slack.home(person) !== undefined);
    await slack.click({ person, view: 'home', actionId: 'home_channel', value: channel.id });
    await scene.until('the task is listed', listed);
  }
  await slack.click({ person, view: 'home', actionId: 'task_details', value });
}

async function press(actionId: string, person: Person = scene.ada): Promise<void> {
  await slack.click({ person, view: 'modal', actionId });
}

/** How often a thread is told that its task was deleted. */
function notices(channel: Channel, root: Message): number {
  return scene.shown(channel, root).split('deleted this task').length - 1;
}

function taskOf(title: string) {
  return scene.taskOf(title);
}

/** Rows of the audit trail about deletions of a channel's tasks. */
async function deletions(channel: Channel) {
  const { db } = scene.sandbox.bot.store;
  return db
    .selectFrom('audit_events')
    .select(['user_id', 'task_id'])
    .where('kind', '=', 'deletion')
    .where('channel', '=', channel.id)
    .execute();
}

/** What Slack refused of our views, but for those that were closed or replaced meanwhile. */
function refusals(): string[] {
  const views = slack.calls.filter(({ method }) => method.startsWith('views.'));
  const meanwhile = ['hash_conflict', 'not_found'];
  return views.flatMap(({ ok, error }) =>
    ok || error === undefined || meanwhile.includes(error) ? [] : [error],
  );
}

describe("a task's details", () => {
  test('show its state, its files in both directions and a link to its thread, even after a restart', async () => {
    const { channel, root } = await asked('Look at the sheep', { files: [table] });
    await openDetails(channel, root);
    const text = await modalShows('sheep.csv');
    expect(text).toContain('Look at the sheep');
    expect(text).toMatch(/done · just now · <#/);
    expect(text).toContain('sheep.csv\\n18 bytes · sent to the agent');
    expect(text).toMatch(/sheep-summary\.csv\\n[^"]* · made by the agent/);
    const urls = [...text.matchAll(/"url":"([^"]+)"/g)].map(([, url]) => url ?? '');
    expect(urls[0]).toContain(`/archives/${channel.id}/`);
    expect((await fetch(urls[1] ?? '')).status).toBe(200);
    await slack.closeView(scene.ada);
    // The Home tab of before the restart still works.
    await scene.sandbox.restartBot();
    const value = `${channel.id}/${root.ts}`;
    await slack.click({ person: scene.ada, view: 'home', actionId: 'task_details', value });
    await modalShows('sheep.csv');
    expect(refusals()).toEqual([]);
  });

  test('show its reviews, and why one failed', async () => {
    const { channel, root } = await asked('/review fail');
    const failed = () => taskOf('/review fail')?.reviews.some(({ status }) => status === 'failed') === true;
    await scene.until('the review fails', failed);
    await openDetails(channel, root);
    expect(await modalShows('The review could not be completed')).toContain('Review: failed (');
  });

  test('return a file once by direct message to the person who presses, even twice', async () => {
    const { channel, root } = await asked('Keep my file', { files: [table] });
    await openDetails(channel, root, scene.grace);
    await modalShows('sheep.csv', scene.grace);
    await Promise.all([press('task_file', scene.grace), press('task_file', scene.grace)]);
    await modalShows("It's in your direct messages", scene.grace);
    const dm = slack.openDm(scene.grace);
    const files = await scene.until('the file is there', () => {
      const found = slack.messages(dm).flatMap((message) => message.fileIds ?? []);
      return found.length > 0 && found;
    });
    expect(files).toHaveLength(1);
    const [file] = files;
    expect((await slack.fileBytes(file ?? '')).toString()).toBe(table.bytes);
  });

  test('return no file to a person who has left the channel while it was on its way', async () => {
    const { channel, root } = await asked('Keep my late file', { files: [table] });
    await openDetails(channel, root);
    await modalShows('sheep.csv');
    const filesOf = () => slack.messages(slack.openDm(scene.ada)).flatMap(({ fileIds }) => fileIds ?? []);
    const before = filesOf();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const held = { kind: 'hold', until: released } as const;
    scene.slack.faults.add({ call: 'files.getUploadURLExternal', fault: held, times: 1 });
    await press('task_file');
    await modalShows("I'm sending it");
    slack.kick(channel, scene.ada);
    release();
    await modalShows(strings.controlRefused.outsider);
    expect(filesOf()).toEqual(before);
  });

  test('send files, or links to them, so often to one person in an hour, and no more', async () => {
    const { channel, root } = await asked('Keep many files', { files: [table] });
    const heavy = slack.createPerson({ name: 'heavy-user' });
    slack.invite(channel, heavy);
    const row = { workspace: slack.team.id, kind: 'files', user_id: heavy.id } as const;
    const { db } = scene.sandbox.bot.store;
    await db
      .insertInto('audit_events')
      .values(Array.from({ length: MOST_FILES - 1 }, () => row))
      .execute();
    const pressed = async (person: Person, actionId: string) => {
      if (slack.modal(person) !== undefined) await slack.closeView(person);
      const { ts } = await scene.messageWithButton(channel, root, actionId);
      await slack.click({ person, channel, ts, actionId });
    };
    await openDetails(channel, root, heavy);
    await modalShows('sheep.csv', heavy);
    await press('task_file', heavy);
    await modalShows(strings.tasks.fileSent, heavy);
    const tooOften = strings.filesTooOften(MOST_FILES);
    const files = () => slack.messages(slack.openDm(heavy)).flatMap(({ fileIds }) => fileIds);
    for (const again of ['task_file', 'task_record']) {
      await openDetails(channel, root, heavy);
      await modalShows('sheep.csv', heavy);
      await press(again, heavy);
      await modalShows(tooOften, heavy);
    }
    await pressed(heavy, 'fresh_links');
    await modalShows(tooOften, heavy);
    expect(files()).toHaveLength(1);
    await pressed(scene.grace, 'fresh_links');
    await scene.until('others get theirs', () => /"url"/.test(modal(scene.grace)));
  });

  test('name no file in the log, whatever its size turns out to be', async ({ onTestFinished }) => {
    const { channel, root } = await asked('Keep my longer file', { files: [{ ...table, name: 'ewe.csv' }] });
    await openDetails(channel, root);
    await modalShows('ewe.csv');
    const { id } = scene.agent.files.find(({ name }) => name === 'ewe.csv') ?? { id: '' };
    const body = { id, filename: 'ewe.csv', size_bytes: table.bytes.length + 1, mime_type: 'text/csv' };
    const fault = { kind: 'status', status: 200, body: { ...body, type: 'file', purpose: 'input' } } as const;
    const call = 'GET /experimental/files/{file_id}';
    onTestFinished(scene.agent.faults.add({ call, about: id, fault }));
    await press('task_file');
    await modalShows(strings.fileNotSent('ewe.csv'));
    const told = await scene.until('the log tells of it', () =>
      logged.find((line) => line.includes('could not send a file back') && line.includes(id)),
    );
    expect(told).toContain('does not have the size');
    expect(told).not.toContain('ewe');
  });

  test('report a file that cannot be returned', async () => {
    const { channel, root } = await asked('Keep my other file', { files: [table] });
    await openDetails(channel, root);
    await modalShows('sheep.csv');
    const body = { ok: false, error: 'file_uploads_disabled' };
    const fault = { kind: 'status', status: 200, body } as const;
    scene.slack.faults.add({ call: 'files.getUploadURLExternal', fault, times: 1 });
    await press('task_file');
    expect(await modalShows("I couldn't send you “sheep.csv”")).toContain('task_file');
    // Whoever has closed the modal meanwhile reads it in direct messages.
    const closed = Promise.withResolvers<void>();
    const held = { kind: 'hold', until: closed.promise } as const;
    scene.slack.faults.add({ call: 'files.getUploadURLExternal', fault: held, times: 1 });
    scene.slack.faults.add({ call: 'files.completeUploadExternal', fault, times: 1 });
    await press('task_file');
    await slack.closeView(scene.ada);
    closed.resolve();
    const dm = slack.openDm(scene.ada);
    const told = () => slack.messages(dm).some(({ text }) => text.includes("I couldn't send you"));
    await scene.until('it is told', told);
  });

  test('report a file that Slack accepts and never shows', async ({ onTestFinished }) => {
    onTestFinished(() => void Object.assign(slack.settings, { unshownFiles: undefined }));
    slack.settings.unshownFiles = /^sheep/;
    const { channel, root } = await asked('Keep my unseen file', { files: [table] });
    await openDetails(channel, root);
    await modalShows('sheep.csv');
    await press('task_file');
    expect(await modalShows("I couldn't send you “sheep.csv”")).toContain('task_file');
  });

  test('return a file to who presses again as soon as a failure shows', async () => {
    const { channel, root } = await asked('Keep my fifth file', { files: [table] });
    await openDetails(channel, root);
    await modalShows('sheep.csv');
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const held = { kind: 'hold', until: released } as const;
    scene.slack.faults.add({ call: 'files.getUploadURLExternal', fault: held, times: 1 });
    await press('task_file');
    await modalShows("I'm sending it");
    const body = { ok: false, error: 'file_uploads_disabled' };
    const refused = { kind: 'status', status: 200, body } as const;
    scene.slack.faults.add({ call: 'files.completeUploadExternal', fault: refused, times: 1 });
    // The failure is shown, but the bot does not know that, and tells it once more.
    scene.slack.faults.add({ call: 'views.update', fault: { kind: 'lost' }, times: 1 });
    const { promise: pressedAgain, resolve: goOn } = Promise.withResolvers<void>();
    const late = { kind: 'hold', until: pressedAgain } as const;
    scene.slack.faults.add({ call: 'chat.postMessage', fault: late, times: 1 });
    release();
    await modalShows("I couldn't send you");
    await press('task_file');
    expect(await modalShows("It's in your direct messages")).not.toContain("I couldn't send you");
    goOn();
  });

  test('return a file once even where Slack could not show that it is on its way', async ({
    onTestFinished,
  }) => {
    const { channel, root } = await asked('Keep my fourth file', { files: [table] });
    await openDetails(channel, root);
    await modalShows('sheep.csv');
    const pressedTwice = Promise.withResolvers<void>();
    const held = { kind: 'hold', until: pressedTwice.promise } as const;
    const content = 'GET /experimental/files/{file_id}/content';
    onTestFinished(scene.agent.faults.add({ call: content, fault: held }));
    const away = { kind: 'status', status: 503 } as const;
    const mend = scene.slack.faults.add({ call: 'views.update', fault: away });
    const failed = () => slack.calls.filter(({ method, ok }) => method === 'views.update' && !ok).length;
    const dm = slack.openDm(scene.ada);
    const brought = () => {
      const ends = slack.calls.filter(({ method }) => method === 'files.completeUploadExternal');
      return ends.filter(({ args }) => JSON.stringify(args).includes(dm.id)).length;
    };
    let downloads = 0;
    const stopCounting = scene.agent.onCall(({ name }) => {
      if (name === content) downloads += 1;
    });
    const before = failed();
    const broughtBefore = brought();
    await press('task_file');
    await scene.until('Slack could not show it', () => failed() > before);
    await scene.expectStays(() => downloads <= 1, true);
    await press('task_file');
    mend();
    pressedTwice.resolve();
    await modalShows("It's in your direct messages");
    stopCounting();
    expect(brought() - broughtBefore).toBe(1);
    expect(downloads).toBe(1);
  });

  test.for([
    ['begin to return', 3_000],
    ['return', 0],
  ] as const)('report a file that a stopping bot could not %s', async ([, ms], { onTestFinished }) => {
    const { channel, root } = await asked('Keep my third file', { files: [table] });
    await openDetails(channel, root);
    await modalShows('sheep.csv');
    const slow = { kind: 'latency', ms: 600_000 } as const;
    const file = 'GET /experimental/files/{file_id}';
    onTestFinished(scene.agent.faults.add({ call: file, fault: { kind: 'latency', ms } }));
    onTestFinished(scene.agent.faults.add({ call: `${file}/content`, fault: slow }));
    await press('task_file');
    await modalShows("I'm sending it");
    await slack.closeView(scene.ada);
    const dm = slack.openDm(scene.ada);
    const told = () => slack.messages(dm).filter(({ text }) => text.includes("I couldn't send you")).length;
    const before = told();
    await scene.sandbox.restartBot();
    expect(told()).toBe(before + 1);
  });

  test('have pages where there are many files', async () => {
    const { channel, root } = await asked('/files 20');
    await openDetails(channel, root);
    await modalShows('1 to 15 of 20');
    await press('task_files_more');
    await modalShows('16 to 20 of 20');
    await press('task_files_back');
    await modalShows('1 to 15 of 20');
    // The thread no longer watches for new ones.
    await press('task_files_look');
    await modalShows(strings.tasks.filesLookedFor);
    const task = taskOf('/files 20');
    const lists = scene.agent.calls.filter(({ path }) => path.endsWith(`/${task?.id}/results`));
    expect(lists.slice(-4).map(({ query }) => query.reconcile)).toEqual(['true', 'false', 'true', 'true']);
    expect(refusals()).toEqual([]);
  });

  test('are shown without files while the service is down', async () => {
    const { channel, root } = await asked('A question for later');
    const fault = { kind: 'status', status: 500 } as const;
    const back = scene.agent.faults.add({ call: 'GET /experimental/tasks/{task_id}', fault });
    await openDetails(channel, root);
    expect(await modalShows("I can't show the files")).toContain('A question for later');
    back();
  });

  test('say so where they cannot be loaded', async () => {
    const { channel, root } = await asked('Unreadable');
    vi.spyOn(scene.sandbox.bot.store.tasks, 'get').mockRejectedValueOnce(new Error('The database is away.'));
    await openDetails(channel, root);
    expect(await modalShows(strings.command.unavailable)).not.toContain(strings.loading);
  });

  test('say in a direct message that a button did nothing, because the database was away', async () => {
    const person = slack.createPerson({ name: 'patient' });
    const told = () => slack.messages(slack.openDm(person)).map((one) => slack.visibleText(one));
    const { channel, root } = await asked('Recorded later', { person });
    await openDetails(channel, root, person);
    await modalShows('Recorded later', person);
    vi.spyOn(scene.sandbox.bot.store.tasks, 'get').mockRejectedValueOnce(new Error('The database is away.'));
    await press('task_record', person);
    await scene.until('the person is told', () => told().includes(strings.command.unavailable));
    await press('task_record', person);
    expect(await modalShows(strings.taskRecord.begun, person)).not.toContain(strings.command.unavailable);
  });

  test('are hidden from a person who has left the channel', async () => {
    const { channel, root } = await asked('Ours alone');
    await openDetails(channel, root, scene.grace);
    await modalShows('Ours alone', scene.grace);
    await slack.closeView(scene.grace);
    slack.kick(channel, scene.grace);
    const value = `${channel.id}/${root.ts}`;
    await slack.click({ person: scene.grace, view: 'home', actionId: 'task_details', value });
    const text = await modalShows('Only people in the channel', scene.grace);
    expect(text).not.toContain('Ours alone');
  });

  test('are hidden from the starter, too, in a private channel that the bot is no longer in, but not in group messages', async () => {
    const channel = slack.createChannel({ name: 'closed', private: true, members: [scene.ada, scene.grace] });
    const group = slack.openGroupDm([scene.ada, scene.grace]);
    const [root, among] = [scene.ask(channel, 'Ours and hidden'), scene.ask(group, 'Ours in a group')];
    await scene.finished(channel, root);
    await scene.finished(group, among);
    slack.kick(channel, scene.ada);
    slack.kick(channel);
    await openDetails(channel, root);
    const text = await modalShows(strings.controlRefused.hidden);
    expect(text).not.toContain('Ours and hidden');
    await openDetails(group, among);
    await modalShows('Ours in a group');
  });

  test('are asked for again in a direct message where the trigger has expired', async () => {
    const { channel, root } = await asked('Too late for this');
    const body = { ok: false, error: 'expired_trigger_id' };
    scene.slack.faults.add({ call: 'views.open', fault: { kind: 'status', status: 200, body }, times: 1 });
    await openDetails(channel, root);
    const told = () => slack.messages(slack.openDm(scene.ada)).map((one) => slack.visibleText(one));
    await scene.until('she is told', () => told().includes(strings.controlFailed.late));
    expect(modal()).toBe('[]');
  });
});

describe('deleting a task', () => {
  test('asks first, deletes once, tells its thread once, and the next message starts another task', async () => {
    const { channel, root } = await asked('To be deleted', { files: [table] });
    const task = taskOf('To be deleted');
    await openDetails(channel, root);
    const text = await modalShows('task_delete');
    expect(text).toContain('Delete this task?');
    expect(text).toContain('the files stay in the project');
    await Promise.all([press('task_delete'), press('task_delete')]);
    await modalShows(strings.tasks.deleting);
    await scene.until('the thread is told', () => notices(channel, root) > 0);
    expect(scene.agent.tasks.some(({ id }) => id === task?.id)).toBe(false);
    expect(scene.agent.files.some(({ name }) => name === 'sheep.csv')).toBe(true);
    expect(await deletions(channel)).toEqual([{ user_id: scene.ada.id, task_id: task?.id }]);
    const listed = () => JSON.stringify(slack.home(scene.ada)?.blocks ?? []);
    await scene.until('it is no longer listed', () => !listed().includes('To be deleted'));

    const next = scene.reply(channel, root, 'and now something new');
    await scene.finished(channel, next);
    expect(scene.sentToAgent('and now something new').texts).toEqual(['and now something new']);
    expect(scene.shown(channel, root)).not.toContain('no longer has this conversation');
    expect(notices(channel, root)).toBe(1);
  });

  test('is refused while the agent works on it, and to people without permission', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/slow 9000');
    await scene.until('the task is there', () => taskOf('/slow 9'));
    await openDetails(channel, root);
    await modalShows('task_delete');
    await press('task_delete');
    await modalShows('Stop it first');
    await slack.closeView(scene.ada);
    await scene.hurry('/slow 9000');
    await scene.finished(channel, root);

    const guest = slack.createPerson({ name: 'guest', kind: 'guest' });
    slack.invite(channel, guest);
    await openDetails(channel, root, guest);
    await modalShows('task_delete', guest);
    await press('task_delete', guest);
    await modalShows('Only full members', guest);
    expect(taskOf('/slow 9')).toBeDefined();
    expect(await deletions(channel)).toEqual([]);
  });

  test('by two people at once is one deletion', async () => {
    const { channel, root } = await asked('Wanted gone by two');
    await openDetails(channel, root);
    await openDetails(channel, root, scene.grace);
    await modalShows('task_delete');
    await modalShows('task_delete', scene.grace);
    await Promise.all([press('task_delete'), press('task_delete', scene.grace)]);
    await scene.until('the thread is told', () => notices(channel, root) > 0);
    await scene.expectStays(() => notices(channel, root), 1);
    expect(await deletions(channel)).toHaveLength(1);
  });

  test('is told directly where nobody can post in the thread', async () => {
    const { channel, root } = await asked('Deleted in silence');
    await openDetails(channel, root);
    await modalShows('task_delete');
    const fault = { kind: 'status', status: 200, body: { ok: false, error: 'is_archived' } } as const;
    scene.slack.faults.add({ call: 'chat.postMessage', about: `"channel":"${channel.id}"`, fault });
    await press('task_delete');
    const notice = strings.noticeNotPosted(channel.id, strings.taskDeleted(scene.ada.id));
    const direct = () => slack.messages(slack.openDm(scene.ada)).map(({ text }) => text);
    await scene.until('who asked is told', () => direct().includes(notice));
    expect(notices(channel, root)).toBe(0);
  });

  test('happens later where the service was down', async () => {
    const { channel, root } = await asked('Deleted later');
    const id = taskOf('Deleted later')?.id ?? '';
    await openDetails(channel, root);
    await modalShows('task_delete');
    const fault = { kind: 'status', status: 500 } as const;
    const back = scene.agent.faults.add({ call: 'DELETE /experimental/tasks/{task_id}', fault });
    await press('task_delete');
    await modalShows(strings.tasks.deleting);
    back();
    expect(scene.agent.tasks.some((task) => task.id === id)).toBe(true);
    const { db } = scene.sandbox.bot.store;
    await db
      .updateTable('jobs')
      .set({ due_at: new Date(0) })
      .where('key', '=', id)
      .execute();
    await scene.sandbox.restartBot();
    await scene.until('it is gone', () => !scene.agent.tasks.some((task) => task.id === id));
    await scene.until('the thread is told', () => notices(channel, root) > 0);
    expect(await deletions(channel)).toEqual([{ user_id: scene.ada.id, task_id: id }]);
  });

  test('is given up after a week of failures, and its thread is told', async () => {
    const { db } = scene.sandbox.bot.store;
    const { channel, root } = await asked('Never deleted');
    const id = taskOf('Never deleted')?.id ?? '';
    const where = { workspace: root.teamId, channel: channel.id, thread_ts: root.ts };
    const job = { ...where, kind: 'task_deletion', key: id, person: scene.ada.id };
    await scene.sandbox.bot.store.jobs.want({ ...job, payload: { account_id: SETTINGS_ACCOUNT } }, 600_000);
    const tried = { tried_since: new Date(Date.now() - 8 * 24 * 60 * 60_000), due_at: new Date(0) };
    await db.updateTable('jobs').set(tried).where('key', '=', id).execute();
    const fault = { kind: 'status', status: 500 } as const;
    const back = scene.agent.faults.add({ call: 'DELETE /experimental/tasks/{task_id}', fault });
    await scene.sandbox.restartBot();
    await scene.until('the thread is told', () =>
      scene.shown(channel, root).includes(strings.deletionAbandoned),
    );
    const left = () => scene.sandbox.bot.store.jobs.get(job);
    await scene.until('it is over', async () => (await left()) === undefined);
    expect(notices(channel, root)).toBe(0);
    back();
  });

  test('is not reported as done where the account of the task is gone', async () => {
    const { db } = scene.sandbox.bot.store;
    const { channel, root } = await asked('Left with its account');
    const id = taskOf('Left with its account')?.id ?? '';
    await db.updateTable('threads').set({ account_id: 'gone' }).where('task_id', '=', id).execute();
    await openDetails(channel, root);
    await modalShows('task_delete');
    await press('task_delete');
    await modalShows(strings.tasks.accountGone);
    const kept = await db.selectFrom('threads').select('task_id').where('task_id', '=', id).execute();
    expect(kept).toHaveLength(1);
    // As where the account went while a deletion waited for the service.
    await db.updateTable('threads').set({ task_id: null }).where('task_id', '=', id).execute();
    const where = { workspace: root.teamId, channel: channel.id, thread_ts: root.ts };
    const job = { ...where, kind: 'task_deletion', key: id, person: scene.ada.id };
    await scene.sandbox.bot.store.jobs.want({ ...job, payload: { account_id: 'gone' } });
    await scene.until('the thread is told', () =>
      scene.shown(channel, root).includes(strings.deletionImpossible),
    );
    expect(notices(channel, root)).toBe(0);
    expect(await deletions(channel)).toEqual([]);
    expect(scene.agent.tasks.some((task) => task.id === id)).toBe(true);
    const error = 'restricted_action_thread_locked';
    const fault = { kind: 'status', status: 200, body: { ok: false, error } } as const;
    const about = `"channel":"${channel.id}"`;
    scene.slack.faults.add({ call: 'chat.postMessage', about, fault });
    const again = { ...job, key: `${id}/again`, payload: { account_id: 'gone' } };
    await scene.sandbox.bot.store.jobs.want(again);
    const notice = strings.noticeNotPosted(channel.id, strings.deletionImpossible);
    const direct = () => scene.slack.messages(scene.slack.openDm(scene.ada)).map(({ text }) => text);
    await scene.until('who asked is told where nobody can post in the thread', () =>
      direct().includes(notice),
    );
  });
});
