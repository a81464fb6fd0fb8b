import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Channel, Message, Person } from '../../../sandbox/slack/slack-workspace.ts';
import {
  controlRefused,
  editedAfterEnd,
  recordNotes,
  taskRecord,
  tasks,
} from '../../../src/render/strings/index.ts';
import { openAppScene } from '../../support/app-scene.ts';
import { unpackedRecord } from '../../support/unpacked-record.ts';

const scene = await openAppScene({ limits: { watchMs: 0 } });
const { slack } = scene;
const table = { name: 'sheep.csv', mime: 'text/csv', bytes: 'name,legs\nDolly,4\n' };

function modal(person: Person): string {
  return JSON.stringify(slack.modal(person)?.blocks ?? []);
}

/** Opens the details of a thread's task, from the channel's list in the Home tab. */
async function openDetails(channel: Channel, root: Message, person: Person = scene.ada): Promise<void> {
  const value = `${channel.id}/${root.ts}`;
  if (slack.modal(person) !== undefined) await slack.closeView(person);
  slack.openHome(person);
  await scene.until('the tab is there', () => slack.home(person) !== undefined);
  await slack.click({ person, view: 'home', actionId: 'home_channel', value: channel.id });
  await scene.until('the task is listed', () =>
    JSON.stringify(slack.home(person)?.blocks ?? []).includes(value),
  );
  await slack.click({ person, view: 'home', actionId: 'task_details', value });
  await scene.until('the details are there', () => modal(person).includes('task_record'));
}

function records(person: Person): string[] {
  return slack.messages(slack.openDm(person)).flatMap(({ fileIds }) => fileIds ?? []);
}

const press = (person: Person = scene.ada) => slack.click({ person, view: 'modal', actionId: 'task_record' });

/** The next record that a person gets: its archive, page and metadata. */
async function nextRecord(person: Person, before: number) {
  await scene.until('the record is there', () => records(person).length > before);
  return unpackedRecord(await slack.fileBytes(records(person).at(-1) ?? ''));
}

/** Saves a task's record from its details. */
async function saved(channel: Channel, root: Message, person: Person = scene.ada) {
  const before = records(person).length;
  await openDetails(channel, root, person);
  await press(person);
  return nextRecord(person, before);
}

async function asked(text: string, more: Parameters<typeof scene.ask>[2] = {}) {
  const channel = scene.channel();
  const root = scene.ask(channel, text, more);
  await scene.finished(channel, root);
  return { channel, root };
}

/** Presses the newest button of this kind in a thread, and waits until what it sends is answered. */
async function pressed(channel: Channel, root: Message, actionId: string): Promise<void> {
  const { ts } = await scene.messageWithButton(channel, root, actionId);
  const finished = () =>
    scene.sandbox.bot.store.db
      .selectFrom('turns')
      .select('id')
      .where('channel', '=', channel.id)
      .where('finished_at', 'is not', null)
      .execute();
  const before = (await finished()).length;
  await slack.click({ person: scene.ada, channel, ts, actionId });
  await scene.until('it is answered', async () => (await finished()).length > before);
}

/** Waits until so many questions of a channel are answered. */
async function answered(channel: Channel, count = 1): Promise<void> {
  const turns = scene.sandbox.bot.store.db.selectFrom('turns').select('id').where('channel', '=', channel.id);
  const completed = turns.where('finished_at', 'is not', null).where('outcome', '=', 'completed');
  await scene.until('it is answered', async () => (await completed.execute()).length >= count);
}

/** Sends a person's form, once it is open; more than once, if Slack did not say in time who sends it. */
async function submitted(person: Person, values: Record<string, string>): Promise<void> {
  await scene.until('the form is open', () => slack.modal(person)?.callbackId === 'start');
  await scene.until('it is taken', async () => {
    await slack.submitView(person, values);
    return slack.modal(person) === undefined;
  });
}

/** Ada asks about a message with a form, and is answered. */
async function askAbout(channel: Channel, said: Message, question: string): Promise<void> {
  await slack.shortcut({ person: scene.ada, callbackId: 'ask_about', channel, ts: said.ts });
  await submitted(scene.ada, { question });
  await answered(channel);
}

/** A week and more passes: the words of a channel are erased. */
async function forgetWords(channel: Channel): Promise<void> {
  const { db, retention } = scene.sandbox.bot.store;
  const then = new Date(Date.now() - 8 * 86_400_000);
  await db.updateTable('messages').set({ received_at: then }).where('channel', '=', channel.id).execute();
  await db.updateTable('turns').set({ finished_at: then }).where('channel', '=', channel.id).execute();
  await db.updateTable('task_starts').set({ created_at: then }).where('channel', '=', channel.id).execute();
  await retention.deleteExpired({ words: 7, rows: 90, audit: 365, uninstalled: 30 });
}

describe('the record of a task', () => {
  test('holds its questions, answers, steps and files', async () => {
    const { channel, root } = await asked('Look at the <sheep> & *count* them', { files: [table] });
    const second = scene.reply(channel, root, 'With tools:\n/tools 2', { person: scene.grace });
    await scene.finished(channel, second);
    await scene.finished(channel, scene.reply(channel, root, 'Review it:\n/review All is well'));
    await scene.finished(channel, scene.reply(channel, root, 'Fail:\n/fail The cluster is full'));
    const reviewed = () =>
      scene.agent.tasks.some(({ reviews }) => reviews.some((one) => one.status === 'completed'));
    await scene.until('the review is done', reviewed);
    const { page, metadata } = await saved(channel, root, scene.grace);
    await scene.until('it is told', () => modal(scene.grace).includes(taskRecord.done));
    expect(modal(scene.grace)).toContain('unzip it and open record.html');
    const { name } = slack.file(records(scene.grace).at(-1) ?? '');
    expect(name).toMatch(/^task-record-\d{4}-\d\d-\d\d-Look-at-the-sheep-count-them\.eln$/);
    expect(page).toContain('Look at the &lt;sheep&gt; &amp; ');
    expect(page).toContain('ada');
    expect(page).toContain('Steps (2)');
    expect(page).toMatch(/rows: \d+\ncolumns:\n- /);
    expect(page).not.toContain('{&quot;rows');
    expect(page).toContain('sheep-summary.csv');
    expect(page).toContain('<h2>Reviews of the work</h2>');
    expect(page).toContain('All is well');
    expect(page).toContain(recordNotes.failed('The cluster is full'));
    expect(page).toContain(createHash('sha256').update(table.bytes).digest('hex'));
    expect(page).not.toContain('<script');
    expect(page).not.toContain('<sheep>');
    expect(metadata).toContain('sheep-summary.csv');
  });

  test('names sources, and leaves out what was deleted, people who were erased, and signed links', async () => {
    const link = 'https://files.example.org/a.csv?X-Amz-Signature=abcdef';
    const { channel, root } = await asked(`Read ${link} please`);
    const ivan = slack.createPerson({ name: 'ivan' });
    slack.invite(channel, ivan);
    const say = async (person: Person, text: string) => {
      const message = scene.reply(channel, root, text, { person });
      await scene.finished(channel, message);
      return message;
    };
    await say(scene.ada, 'Kept words of 10.1038/nature12373');
    const gone = await say(scene.ada, 'Wanted nowhere');
    await say(ivan, 'Erased words');
    slack.remove(channel, gone.ts);
    const unanswered = await say(scene.ada, 'Lonely words');
    for (const { ts } of slack
      .thread(channel, root.ts)
      .filter((one) => Number(one.ts) > Number(unanswered.ts)))
      slack.remove(channel, ts);
    await scene.sandbox.bot.store.personErasure.eraseUser(slack.team.id, ivan.id);
    const { page, metadata } = await saved(channel, root);
    for (const text of [page, metadata]) {
      expect(text).toContain('Kept words');
      expect(text).toContain('"https://doi.org/10.1038/nature12373"');
      expect(text).not.toContain('Wanted nowhere');
      expect(text).not.toContain('Erased words');
      expect(text).not.toContain('abcdef');
    }
    expect(page).toContain('<p style="white-space: pre-wrap">Lonely words</p>');
    expect(page).toContain(recordNotes.deleted);
    expect(page).not.toContain('&quot;Lonely words&quot;');
    expect(page).toContain(recordNotes.leftOut(2));
    expect(page).toContain('signed link to files.example.org, left out');
  });

  test('says of somebody who began the task and was forgotten since that this is so', async () => {
    const ivan = slack.createPerson({ name: 'ivan-who-began' });
    const { channel, root } = await asked('Words of ivan', { person: ivan });
    // The first of another person names who wrote before, and goes with them.
    for (const text of ['First words of ada', 'More words of ada'])
      await scene.finished(channel, scene.reply(channel, root, text));
    await scene.sandbox.bot.store.personErasure.eraseUser(slack.team.id, ivan.id);
    const { page, metadata } = await saved(channel, root);
    expect(page).toContain('More words of ada');
    for (const text of [page, metadata]) {
      expect(text).toContain(recordNotes.forgotten);
      expect(text).not.toContain(tasks.automatic);
    }
  });

  test('comes once where Slack does not say whether it took the file, even from another process', async () => {
    const { channel, root } = await asked('Keep me once');
    await openDetails(channel, root);
    const shares = () =>
      slack.calls.filter(({ method, ok }) => ok && method === 'files.completeUploadExternal');
    const [before, sharesBefore] = [records(scene.ada).length, shares().length];
    scene.slack.faults.add({ call: 'files.completeUploadExternal', fault: { kind: 'lost' }, times: 1 });
    await press();
    await scene.until('the file is there', () => records(scene.ada).length > before);
    await scene.sandbox.restartBot();
    const isOver = async () => {
      const jobs = await scene.sandbox.bot.store.db
        .selectFrom('jobs')
        .select('key')
        .where('kind', '=', 'task_record')
        .execute();
      return jobs.length === 0;
    };
    await scene.until('the job is done', isOver);
    // A shared file shows a moment later.
    expect(shares().length).toBe(sharesBefore + 1);
  });

  test('comes of each task of a thread, also of two at the same time', async () => {
    const { channel, root } = await asked('The former task');
    const before = records(scene.ada).length;
    await openDetails(channel, root);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const held = { kind: 'hold', until: released } as const;
    const mend = scene.slack.faults.add({ call: 'files.getUploadURLExternal', fault: held });
    await press();
    await scene.until('it is collected', () => modal(scene.ada).includes(taskRecord.uploading));
    const { db, threads } = scene.sandbox.bot.store;
    const id = scene.agent.tasks.findLast(({ title }) => title === 'The former task')?.id ?? '';
    await threads.leaveTask({ workspace: slack.team.id, channel: channel.id, thread_ts: root.ts }, id);
    await scene.finished(channel, scene.reply(channel, root, 'The later task'));
    await openDetails(channel, root);
    await press();
    const wanted = db.selectFrom('jobs').select('key').where('kind', '=', 'task_record');
    const jobs = wanted.where('channel', '=', channel.id);
    await scene.until('both are asked for', async () => (await jobs.execute()).length === 2);
    mend();
    release();
    await scene.until('both are there', () => records(scene.ada).length === before + 2);
    const [former, later] = await Promise.all(
      records(scene.ada)
        .slice(-2)
        .map(async (id) => unpackedRecord(await slack.fileBytes(id))),
    );
    expect(former?.page).toContain('<p style="white-space: pre-wrap">The former task</p>');
    expect(later?.page).toContain('<p style="white-space: pre-wrap">The later task</p>');
  });

  test.each([
    ['takes no such file', 'files.getUploadURLExternal', 'file_type_not_allowed'],
    ['opens no direct conversation', 'conversations.open', 'user_not_visible'],
  ])('is told as failed at once where Slack %s', async (_why, call, error) => {
    const { channel, root } = await asked(`Keep me where ${error}`);
    await openDetails(channel, root);
    const fault = { kind: 'status', status: 200, body: { ok: false, error } } as const;
    const mend = scene.slack.faults.add({ call, fault });
    await press();
    await scene.until('it is told', () => modal(scene.ada).includes(taskRecord.failed)).finally(mend);
    expect(modal(scene.ada)).not.toContain(taskRecord.begun);
  });

  test('is told as failed where Slack accepts it and never shows it', async ({ onTestFinished }) => {
    onTestFinished(() => void Object.assign(slack.settings, { unshownFiles: undefined }));
    slack.settings.unshownFiles = /^task-record/;
    const { channel, root } = await asked('Keep me unseen');
    await openDetails(channel, root);
    const before = records(scene.ada).length;
    await press();
    await scene.until('it is told', () => modal(scene.ada).includes(taskRecord.failed));
    expect(records(scene.ada)).toHaveLength(before);
  });

  test('is not sent to who has left the channel while it was collected', async () => {
    const { channel, root } = await asked('Only for members');
    await openDetails(channel, root, scene.grace);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const held = { kind: 'hold', until: released } as const;
    scene.slack.faults.add({ call: 'files.getUploadURLExternal', fault: held, times: 1 });
    const before = records(scene.grace).length;
    await press(scene.grace);
    await scene.until('it is collected', () => modal(scene.grace).includes(taskRecord.uploading));
    slack.kick(channel, scene.grace);
    release();
    await scene.until('it is refused', () => modal(scene.grace).includes(controlRefused.outsider));
    expect(records(scene.grace)).toHaveLength(before);
  });

  test('holds what buttons have sent, and once that is forgotten, that one was pressed', async () => {
    const { channel, root } = await asked('Failing words:\n/fail', { files: [table] });
    await pressed(channel, root, 'retry');
    const cut = scene.reply(channel, root, 'Long words:\n/lengthcut');
    await scene.finished(channel, cut);
    await pressed(channel, root, 'continue');
    const { page, names } = await saved(channel, root);
    // A file that two questions carried is there once.
    expect(names.filter((name) => name.endsWith('/sheep.csv'))).toHaveLength(1);
    expect(page.split('<code>sheep.csv</code>').length - 1).toBe(2);
    expect(page.split('<p style="white-space: pre-wrap">Failing words:').length - 1).toBe(2);
    expect(page).toContain('<p style="white-space: pre-wrap">Continue.</p>');
    expect(page).not.toContain('A button was pressed.');
    await forgetWords(channel);
    const later = await saved(channel, root);
    expect(later.page.split('A button was pressed.').length - 1).toBe(1);
  });

  test('holds what a form asked in the thread of a message, and its answer once those words are forgotten', async () => {
    const channel = scene.channel();
    const said = slack.say({ person: scene.grace, channel, text: 'Said before' });
    await askAbout(channel, said, 'Typed in a form?');
    const { page } = await saved(channel, said);
    expect(page).toContain('<p style="white-space: pre-wrap">Typed in a form?</p>');
    expect(page).toContain(
      `${recordNotes.about('grace')}</p>\n<blockquote><p style="white-space: pre-wrap">Said before</p>`,
    );
    expect(page).not.toContain(recordNotes.leftOut(1));
    await forgetWords(channel);
    const later = await saved(channel, said);
    expect(later.page).toContain('Typed in a form?');
    expect(later.page).not.toContain('Said before');
    expect(later.page).not.toContain(recordNotes.leftOut(1));
  });

  test('holds the message that a question was about, unless that was deleted', async () => {
    const channel = scene.channel();
    const said = slack.say({ person: scene.grace, channel, text: 'Wanted nowhere else' });
    await askAbout(channel, said, 'What about it?');
    const words = await saved(channel, said);
    for (const text of [words.page, words.metadata]) expect(text).toContain('Wanted nowhere else');
    slack.remove(channel, said.ts);
    const later = await saved(channel, said);
    for (const text of [later.page, later.metadata]) {
      expect(text).toContain('What about it?');
      expect(text).not.toContain('Wanted nowhere else');
    }
    const bare = scene.channel();
    const only = slack.say({ person: scene.grace, channel: bare, text: 'The only words' });
    await askAbout(bare, only, '');
    expect((await saved(bare, only)).page).toContain('The only words');
    slack.remove(bare, only.ts);
    const nothing = await saved(bare, only);
    for (const text of [nothing.page, nothing.metadata]) {
      expect(text).not.toContain('The only words');
      expect(text).toContain(recordNotes.leftOut(1));
    }
  });

  test('names us to people as another app, where a question was about what we wrote', async () => {
    const { channel, root } = await asked('Before the next one');
    const [answer] = scene.replies(channel, root);
    await slack.shortcut({ person: scene.ada, callbackId: 'ask_about', channel, ts: answer?.ts ?? '' });
    await submitted(scene.ada, { question: 'Is that all?' });
    await answered(channel, 2);
    const post = slack.messages(channel).find((one) => slack.visibleText(one).includes('Is that all?'));
    const { page } = await saved(channel, post ?? root);
    expect(page).toContain(recordNotes.about('taskthread (app)'));
    expect(page).not.toContain('(you)');
  });

  test('holds each question as it was sent, and what an edit made of it later', async () => {
    const { channel, root } = await asked('First words');
    const slow = scene.reply(channel, root, 'Take your time:\n/silent 9000');
    await scene.until('it is sent', () => scene.sentToAgent('First words').texts.length === 2);
    const waiting = scene.reply(channel, root, 'Words to be mended');
    slack.edit(channel.id, waiting.ts, 'Words mended in time');
    await slack.settled();
    await scene.hurry('First words');
    await scene.finished(channel, slow);
    await scene.finished(channel, waiting);
    const before = await saved(channel, root);
    expect(before.page).toContain('<p style="white-space: pre-wrap">Words mended in time</p>');
    expect(before.page).not.toContain(recordNotes.edited);
    slack.edit(channel.id, root.ts, `${scene.mention} Later words`);
    const note = await scene.until('the note is there', () =>
      slack.ephemerals(scene.ada, channel).find(({ text }) => text === editedAfterEnd),
    );
    const { page, metadata } = await saved(channel, root);
    expect(page.split(recordNotes.edited)).toHaveLength(2);
    expect(page).toContain(
      `<p style="white-space: pre-wrap">First words</p>\n<p class="note">${recordNotes.now}</p>\n<p style="white-space: pre-wrap">Later words</p>`,
    );
    expect(metadata).toContain('First words');
    // Sent as a correction, the later words stand as a question of their own.
    await slack.click({ person: scene.ada, channel, ts: note.ts, actionId: 'correct' });
    await answered(channel, 4);
    const corrected = await saved(channel, root);
    expect(corrected.page.split('<p style="white-space: pre-wrap">Later words</p>')).toHaveLength(3);
    expect(corrected.page.split(recordNotes.edited)).toHaveLength(2);
    // Once what was sent is no longer kept, the words of now stand with the same mark.
    await forgetWords(channel);
    const later = await saved(channel, root);
    expect(later.page).not.toContain('<p style="white-space: pre-wrap">First words</p>');
    expect(later.page).not.toContain(recordNotes.now);
    expect(later.page.split(recordNotes.edited)).toHaveLength(2);
  });

  test('holds each message of what went as one, with its time, its edit, and a correction of it by itself', async () => {
    const { channel, root } = await asked('Before them');
    const slow = scene.reply(channel, root, 'Take your time:\n/slow 9000');
    await scene.until('the answer grows', () => scene.shown(channel, root).includes('Second 1'));
    const [first, second] = ['The first half', 'The secnd half'].map((text) =>
      scene.reply(channel, root, text),
    );
    if (first === undefined || second === undefined) throw new Error('Nothing was said.');
    await slack.settled();
    await scene.hurry('Before them');
    await Promise.all([slow, second].map((message) => scene.finished(channel, message)));
    slack.edit(channel.id, second.ts, 'The second half');
    const note = await scene.until('the note is there', () =>
      slack.ephemerals(scene.ada, channel).find(({ text }) => text === editedAfterEnd),
    );
    await slack.click({ person: scene.ada, channel, ts: note.ts, actionId: 'correct' });
    await answered(channel, 4);
    const { page, metadata } = await saved(channel, root);
    const line = ({ ts }: Message, more = '') => {
      const iso = new Date(Number(ts) * 1_000).toISOString();
      return `ada · <time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>${more}</p>\n`;
    };
    expect(page).toContain(
      `${line(first)}<p style="white-space: pre-wrap">The first half</p>\n<p class="note">${line(second, ` · ${recordNotes.edited}`)}` +
        `<p style="white-space: pre-wrap">The secnd half</p>\n<p class="note">${recordNotes.now}</p>\n<p style="white-space: pre-wrap">The second half</p>`,
    );
    // The correction is a question of its own, which nobody has edited.
    expect(page.split('<p style="white-space: pre-wrap">The second half</p>')).toHaveLength(3);
    expect(page.split(recordNotes.edited)).toHaveLength(2);
    for (const text of ['The first half', 'The secnd half']) expect(metadata).toContain(text);
    slack.remove(channel, second.ts);
    const later = await saved(channel, root);
    expect(later.page).not.toContain('The first half');
    expect(later.page).toContain(recordNotes.leftOut(2));
  });

  test('pairs a question that was asked again with other words with its answer', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '--skill sumary Refused words');
    await scene.finished(channel, root);
    const { ts } = await scene.messageWithButton(channel, root, 'choose_again');
    await slack.click({ person: scene.grace, channel, ts, actionId: 'choose_again' });
    await submitted(scene.grace, { question: 'Accepted words', skill: 'summary' });
    await answered(channel);
    const { page, metadata } = await saved(channel, root, scene.grace);
    for (const text of [page, metadata]) {
      expect(text).toContain('Accepted words');
      expect(text).not.toContain('Refused words');
    }
    expect(page).toContain('<h1>Record of a task: Accepted words</h1>');
    expect(page).toMatch(/id="question-1">.*\n<p class="note">grace /);
  });

  test('comes late where Slack does not say for a while who may see it', async () => {
    const { channel, root } = await asked('Wait for me');
    await openDetails(channel, root);
    const before = records(scene.ada).length;
    scene.slack.faults.add({
      call: 'conversations.members',
      fault: { kind: 'status', status: 503 },
      times: 4,
    });
    await press();
    await scene.until('the record is there', () => records(scene.ada).length > before);
    expect(modal(scene.ada)).not.toContain(controlRefused.unknown);
  });

  test('is collected again where somebody is forgotten meanwhile, and without deleted parts of answers', async () => {
    const { channel, root } = await asked('Write it long:\n/long 9000');
    const ivan = slack.createPerson({ name: 'ivan-who-leaves' });
    slack.invite(channel, ivan);
    await scene.finished(channel, scene.reply(channel, root, 'Forgotten words', { person: ivan }));
    const parts = scene.replies(channel, root).filter(({ user }) => user === slack.bot.userId);
    slack.remove(channel.id, parts[1]?.ts ?? '');
    await openDetails(channel, root, scene.grace);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const held = { kind: 'hold', until: released } as const;
    scene.slack.faults.add({ call: 'files.getUploadURLExternal', fault: held, times: 1 });
    const before = records(scene.grace).length;
    await press(scene.grace);
    await scene.until('it is collected', () => modal(scene.grace).includes(taskRecord.uploading));
    await scene.sandbox.bot.store.personErasure.eraseUser(slack.team.id, ivan.id);
    release();
    const { page } = await nextRecord(scene.grace, before);
    expect(page).toContain('Write it long');
    expect(page).toContain(recordNotes.deleted);
    expect(page).not.toContain('Forgotten words');
    await scene.expectStays(() => records(scene.grace).length, before + 1);
  });

  test('is told to be impossible where the task is gone, by direct message once the modal is closed', async () => {
    const { channel, root } = await asked('Gone tomorrow');
    await openDetails(channel, root);
    const call = 'GET /experimental/tasks/{task_id}/results';
    const mend = scene.agent.faults.add({ call, fault: { kind: 'status', status: 404 } });
    await press();
    await slack.closeView(scene.ada);
    const dm = slack.openDm(scene.ada);
    const told = () => slack.messages(dm).some(({ text }) => text === taskRecord.gone);
    expect(await scene.until('it is told', told)).toBe(true);
    mend();
  });

  test('names the task only while its first message is in the thread', async () => {
    const { channel, root } = await asked('Secret title');
    const later = scene.reply(channel, root, 'Kept words');
    await scene.finished(channel, later);
    await openDetails(channel, root);
    const before = records(scene.ada).length;
    slack.remove(channel, root.ts);
    await press();
    const { page, metadata } = await nextRecord(scene.ada, before);
    expect(page).toContain(recordNotes.leftOut(1));
    expect(page).toContain(`<h1>Record of a task: ${tasks.untitled}</h1>`);
    expect(metadata).not.toContain('"Secret title"');
  });
});
