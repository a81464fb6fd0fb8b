import { describe, expect, test } from 'vitest';
import type { Channel, Message, Person } from '../../../sandbox/slack/slack-workspace.ts';
import { openAppScene } from '../../support/app-scene.ts';

const scene = await openAppScene();
const { slack } = scene;
const { store } = scene.sandbox.bot;
const workspace = slack.team.id;

/** Somebody new, in a new channel with Ada, and a file of theirs. */
function place(name: string): { channel: Channel; person: Person; file: { files: SharedFiles } } {
  const person = slack.createPerson({ name });
  return { person, channel: scene.channel(), file: { files: [csv(`counts of ${name}.csv`)] } };
}

type SharedFiles = NonNullable<NonNullable<Parameters<typeof scene.ask>[2]>['files']>;

function csv(name: string): SharedFiles[number] {
  return { name, mime: 'text/csv', bytes: 'gene,count\nTP53,7\n' };
}

/** Forgets a person of whom something is kept; the second time there is nothing. */
async function forget({ id }: Person): Promise<void> {
  expect(await store.personErasure.eraseUser(workspace, id)).toBeDefined();
  expect(await store.personErasure.eraseUser(workspace, id)).toBeUndefined();
}

/** The messages, turns and threads of a channel, as text. */
async function rowsOf(channel: Channel): Promise<string> {
  const rows = (['messages', 'turns', 'threads'] as const).map((table) =>
    store.db.selectFrom(table).selectAll().where('channel', '=', channel.id).execute(),
  );
  return JSON.stringify(await Promise.all(rows));
}

/** Holds the start of the task of this title until what it returns is called; `begun` once the call has come. */
function heldStart(title: string) {
  const [begun, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const fault = {
    kind: 'hold',
    get until() {
      begun.resolve();
      return release.promise;
    },
  } as const;
  scene.agent.faults.add({ call: /^POST .*\/tasks$/, about: title, fault, times: 1 });
  return { begun: begun.promise, release: release.resolve };
}

async function said(channel: Channel, root: Message, text: string, more: Parameters<typeof scene.reply>[3]) {
  const message = scene.reply(channel, root, text, more);
  await scene.finished(channel, message);
}

describe.concurrent('of a forgotten person', () => {
  test('a file that they left for the next message goes with none, and one that went leaves no name', async () => {
    const { channel, person, file } = place('ivan');
    const root = scene.ask(channel, 'what is a count?');
    await scene.finished(channel, root);
    await said(channel, root, '', { person, ...file });
    await said(channel, root, 'what does the file say?', {});
    await said(channel, root, '', { person, ...file });
    expect(await rowsOf(channel)).toContain('counts of ivan');
    await forget(person);
    expect(await rowsOf(channel)).not.toMatch(new RegExp(`counts of ivan|${person.id}`));
    await said(channel, root, 'and what is a gene?', {});
    const { fileIds } = scene.sentToAgent('what is a count?');
    expect(fileIds.map(({ length }) => length)).toEqual([0, 1, 0]);
  });

  test('a file that others share again leaves neither its name nor whose it was', async () => {
    const { channel, person, file } = place('judy');
    const shared = slack.say({ person, channel, text: 'look', ...file });
    const own = slack.upload(scene.ada, csv('counts of ada.csv'));
    const root = scene.shareAgain(channel, 'compare these', [...(shared.fileIds ?? []), own.id]);
    await scene.finished(channel, root);
    expect(await rowsOf(channel)).toContain('counts of judy');
    await forget(person);
    const left = await rowsOf(channel);
    expect(left).not.toMatch(new RegExp(`counts of judy|${person.id}`));
    expect(left).toContain('compare these');
    expect(left).toContain('counts of ada');
  });

  test('a message is gone that was forwarded, and then forwarded once more', async () => {
    const { channel, person } = place('kim');
    const words = slack.say({ person, channel, text: 'words of kim' });
    const forwards = (message: Message) => ({ forwards: { channel, ts: message.ts } });
    const once = slack.say({ person: scene.grace, channel, text: 'see there', ...forwards(words) });
    const root = scene.ask(channel, 'is that so?', forwards(once));
    await scene.finished(channel, root);
    expect(scene.sentToAgent('is that so?').texts.join()).toContain('words of kim');
    await forget(person);
    const left = await rowsOf(channel);
    expect(left).not.toMatch(new RegExp(`words of kim|${person.id}`));
    expect(left).toContain('is that so?');
  });

  test('a task stays whose first message another person sent again, and so does its title', async () => {
    const { channel, person } = place('mona');
    const fault = { kind: 'status', status: 422 } as const;
    scene.agent.faults.add({ call: /^POST .*\/tasks$/, about: 'what is a codon?', fault, times: 1 });
    const root = scene.ask(channel, 'what is a codon?');
    await scene.finished(channel, root);
    const { ts } = await scene.messageWithButton(channel, root, 'retry');
    await slack.click({ person: scene.ada, channel, ts, actionId: 'retry' });
    const thread = { workspace, channel: channel.id, thread_ts: root.ts };
    await scene.until('it is sent', async () => (await store.threads.getOrThrow(thread)).task_id !== null);
    await said(channel, root, 'and how long is it?', { person });
    expect((await store.threads.getOrThrow(thread)).participant_ids).toEqual([scene.ada.id, person.id]);
    expect(await store.tasks.joinedBy(workspace, person.id)).toMatchObject([{ alone: false }]);
    await forget(person);
    expect((await store.threads.getOrThrow(thread)).task_title).toBe('what is a codon?');
  });

  test('the words go with no question that is about to be sent', async () => {
    const { channel, person } = place('petra');
    const words = slack.say({ person, channel, text: 'words of petra' });
    const { begun, release } = heldStart('what does petra mean?');
    const root = scene.ask(channel, 'what does petra mean?', { forwards: { channel, ts: words.ts } });
    await begun;
    await forget(person);
    release();
    await scene.finished(channel, root);
    expect(scene.sentToAgent('what does petra mean?').texts).toEqual(['what does petra mean?']);
    expect(await rowsOf(channel)).not.toMatch(new RegExp(`words of petra|${person.id}`));
  });

  test('the title goes too of the task that their question is starting', async () => {
    const { channel, person } = place('rosa');
    const { begun, release } = heldStart('what is known of rosa?');
    const root = scene.ask(channel, 'what is known of rosa?', { person });
    await begun;
    await forget(person);
    release();
    await scene.finished(channel, root);
    expect(await rowsOf(channel)).not.toMatch(new RegExp(`known of rosa|${person.id}`));
    expect(scene.sentToAgent('what is known of rosa?').texts).toEqual([]);
  });

  test('the words of another person stay that had a file of theirs', async () => {
    const { channel, person, file } = place('nora');
    const shared = slack.say({ person, channel, text: 'look', ...file });
    const { fileIds } = shared;
    const again = slack.say({
      person: scene.grace,
      channel,
      text: 'words of grace',
      existingFileIds: fileIds,
    });
    const root = scene.ask(channel, 'what of that?', { forwards: { channel, ts: again.ts } });
    await scene.finished(channel, root);
    await forget(person);
    const left = await rowsOf(channel);
    expect(left).not.toMatch(new RegExp(`counts of nora|${person.id}`));
    expect(left).toContain('words of grace');
  });

  test("a title stays that another person's first message gave, though that turn is deleted", async () => {
    const { channel, person } = place('olga');
    const root = scene.ask(channel, 'what is a genome?');
    await scene.finished(channel, root);
    await said(channel, root, 'and how large is it?', { person });
    const first = store.db.deleteFrom('turns').where('channel', '=', channel.id);
    await first.where('message_ts', '=', root.ts).execute();
    await forget(person);
    expect(await rowsOf(channel)).toContain('"task_title":"what is a genome?"');
  });

  test("the title is gone that they gave a task in another person's thread, and no other", async () => {
    const { channel, person } = place('lena');
    const begun = ['what is an exon?', 'what is an intron?'].map((text) => scene.ask(channel, text));
    for (const root of begun) await scene.finished(channel, root);
    const [root, other] = begun;
    if (root === undefined || other === undefined) throw new Error('There are two.');
    const thread = { workspace, channel: channel.id, thread_ts: root.ts };
    const { task_id: task } = await store.threads.getOrThrow(thread);
    await scene.until(
      'the task is deleted',
      async () => (await store.taskDeletions.request(thread, task ?? '', scene.ada.id)) === 'recorded',
    );
    await said(channel, root, 'and what do I splice?', { person });
    await said(channel, other, 'how long is it?', { person });
    expect(await rowsOf(channel)).toContain('"task_title":"and what do I splice?"');
    await forget(person);
    const { task_title } = await store.threads.getOrThrow(thread);
    expect(task_title).toBeNull();
    expect(await rowsOf(channel)).toContain('"task_title":"what is an intron?"');
  });
});
