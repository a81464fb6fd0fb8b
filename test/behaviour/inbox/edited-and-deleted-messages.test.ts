import { describe, expect, test } from 'vitest';
import * as strings from '../../../src/render/strings/index.ts';
import { openAppScene } from '../../support/app-scene.ts';

const scene = await openAppScene();
const { slack } = scene;

describe.concurrent('a changed message', () => {
  test('leaves no words behind where people talk to each other', async () => {
    const channel = scene.channel();
    const root = slack.say({ person: scene.grace, channel, text: 'lunch at noon' });
    const reply = scene.reply(channel, root, 'rather at one');
    await slack.settled();
    slack.edit(channel.id, root.ts, 'lunch at twelve');
    slack.edit(channel.id, reply.ts, 'rather at two');
    const { db } = scene.sandbox.bot.store;
    const edits = () =>
      db.selectFrom('pending_edits').selectAll().where('channel', '=', channel.id).execute();
    await scene.until('both edits have arrived', async () => (await edits()).length === 2);
    expect(JSON.stringify(await edits())).not.toMatch(/lunch|rather/);
  });

  test('is sent as edited while it waits, and never once it is deleted', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'edits while waiting\n/slow 9000');
    await scene.until('the turn has begun', () => scene.replies(channel, root).length > 0);
    const edited = scene.reply(channel, root, 'wiht a typo');
    const deleted = scene.reply(channel, root, 'never mind this');
    await slack.settled();
    slack.edit(channel.id, edited.ts, 'without a typo');
    slack.remove(channel.id, deleted.ts);
    await slack.settled();
    await scene.hurry('edits while waiting');
    await scene.finished(channel, edited);
    const later = () => scene.sentToAgent('edits while waiting').texts.slice(1);
    await scene.expectStays(later, ['without a typo']);
  });

  test('deleted before its first reply is dropped, and nobody is told that the reply is gone', async () => {
    const person = slack.createPerson({ name: 'iris' });
    const channel = scene.channel();
    const [posting, deleted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const hold = {
      kind: 'hold',
      get until() {
        posting.resolve();
        return deleted.promise;
      },
    } as const;
    slack.faults.add({ call: 'chat.postMessage', about: channel.id, fault: hold, times: 1 });
    const root = scene.ask(channel, 'this was not meant', { person });
    await posting.promise;
    slack.remove(channel.id, root.ts);
    const { messages } = scene.sandbox.bot.store;
    const key = { workspace: slack.team.id, channel: channel.id, ts: root.ts };
    await scene.until('it is withdrawn', async () => (await messages.get(key))?.state === 'withdrawn');
    deleted.resolve();
    await scene.finished(channel, root);
    expect(slack.messages(slack.openDm(person))).toEqual([]);
  });

  test('is asked when an edit turns an empty mention into a question', async ({ onTestFinished }) => {
    const own = await openAppScene({}, onTestFinished);
    const channel = own.channel();
    const edited = Promise.withResolvers<void>();
    const hold = { kind: 'hold', until: edited.promise } as const;
    own.slack.faults.add({ call: 'chat.postMessage', fault: hold, times: 1 });
    const root = own.ask(channel, '');
    const { turns } = own.sandbox.bot.store;
    const key = { workspace: own.slack.team.id, channel: channel.id, ts: root.ts };
    await own.until('its turn has begun', () => turns.ofMessage(key));
    own.slack.edit(channel.id, root.ts, `${own.mention} what is in column a?`);
    await own.slack.settled();
    edited.resolve();
    await own.until('it is asked', () => own.sentToAgent('what is in column a?').texts.length > 0);
    await own.finished(channel, root);
    expect(own.shown(channel, root)).not.toContain('Mention me with a question');
    expect(own.replies(channel, root)).toHaveLength(1);
  });

  test.for([
    ['mentionFirst', 'both'],
    ['messageFirst', 'both'],
    ['random', 'messageOnly'],
  ] as const)(
    'is one message if Slack mentions the bot again (%s, %s)',
    async ([order, editCopies], { onTestFinished }) => {
      const own = await openAppScene({ slack: { delivery: { order, editCopies } } }, onTestFinished);
      const channel = own.channel();
      const root = own.ask(channel, 'the median of colum a');
      await own.finished(channel, root);
      own.slack.edit(channel.id, root.ts, `${own.mention} the median of column b`);
      const forgotten = own.slack.say({ person: own.ada, channel, text: 'the mode of column c' });
      await own.slack.settled();
      own.slack.edit(channel.id, forgotten.ts, `${own.mention} the mode of column d`);
      await own.finished(channel, forgotten);
      await own.slack.settled();
      await own.until('the note is there', () => own.slack.ephemerals(own.ada, channel).length > 0);
      await own.expectStays(() => own.slack.ephemerals(own.ada, channel).length, 1);
      expect(own.sentToAgent('the median').texts).toEqual(['the median of colum a']);
      expect(own.sentToAgent('the mode').texts).toEqual(['the mode of column d']);
      const key = { workspace: own.slack.team.id, channel: channel.id, ts: forgotten.ts };
      expect((await own.sandbox.bot.store.messages.get(key))?.edited_ts).not.toBeNull();
    },
  );

  test('is not asked again when its row is gone and an edit keeps the mention', async ({
    onTestFinished,
  }) => {
    const own = await openAppScene({ slack: { delivery: { order: 'mentionFirst' } } }, onTestFinished);
    const channel = own.channel();
    const root = own.ask(channel, 'the range of colum a');
    await own.finished(channel, root);
    const { db } = own.sandbox.bot.store;
    await db.deleteFrom('messages').where('ts', '=', root.ts).execute();
    await db.deleteFrom('turns').where('message_ts', '=', root.ts).execute();
    own.slack.edit(channel.id, root.ts, `${own.mention} the range of column b`);
    await own.slack.settled();
    await own.finished(channel, own.reply(channel, root, 'and of column c'));
    expect(own.sentToAgent('the range').texts).toEqual(['the range of colum a', 'and of column c']);
  });

  test('that was already sent offers to send the correction once', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'the mean of colum a');
    await scene.finished(channel, root);
    slack.edit(channel.id, root.ts, `${scene.mention} the mean of column a`);
    const note = await scene.until('the note is there', () => slack.ephemerals(scene.ada, channel)[0]);
    expect(note.text).toBe(strings.editedAfterEnd);
    slack.edit(channel.id, root.ts, `${scene.mention} the mean of column b`);
    await slack.settled();
    const press = { person: scene.ada.id, channel: channel.id, ts: note.ts, actionId: 'correct' };
    await Promise.all([slack.click(press), slack.click(press)]);
    const told = await scene.until('the correction is sent', () => {
      const now = scene.sentToAgent('the mean of colum a').texts;
      return now.length > 1 && now;
    });
    expect(told).toEqual(['the mean of colum a', 'A correction to my message: the mean of column b']);
    const states = () => slack.ephemerals(scene.ada, channel).map(({ text }) => text);
    const said = [strings.passingOn(1), strings.messageQueued, strings.sendNowTooLate('sent')];
    await scene.until('the note says so', () => said.some((text) => states().includes(text)));
    // Its button goes with its use, and nothing else is said.
    expect(states()).toHaveLength(1);
    expect(JSON.stringify(slack.ephemerals(scene.ada, channel))).not.toContain('"button"');
  });

  test('is corrected without repeating the conversation, and the correction is erased with its writer', async () => {
    const person = slack.createPerson({ name: 'mary' });
    const channel = scene.channel();
    const above = slack.say({ person: scene.grace, channel, text: 'what was said before' });
    const asked = scene.reply(channel, above, `${scene.mention} summarise colum a`, { person });
    await scene.finished(channel, asked);
    slack.edit(channel.id, asked.ts, `${scene.mention} summarise column b\n• *in* euros`);
    const note = await scene.until('the note is there', () => slack.ephemerals(person, channel)[0]);
    await slack.click({ person: person.id, channel: channel.id, ts: note.ts, actionId: 'correct' });
    const told = await scene.until('the correction is sent', () => {
      const now = scene.sentToAgent('summarise colum a').texts;
      return now.length > 1 && now;
    });
    expect(told).toEqual([
      expect.stringContaining('what was said before'),
      'A correction to my message:\n\nsummarise column b\n\n- **in** euros',
    ]);
    const { db, personErasure } = scene.sandbox.bot.store;
    const messages = () => db.selectFrom('messages').selectAll().where('thread_ts', '=', above.ts).execute();
    const turns = () => db.selectFrom('turns').selectAll().where('thread_ts', '=', above.ts).execute();
    // Anybody who may use the thread's controls may press the button: the message is that person's.
    const { grace } = scene;
    const ts = (await messages()).find((message) => message.ts !== asked.ts)?.ts ?? '';
    await db.updateTable('messages').set({ user_id: grace.id }).where('ts', '=', ts).execute();
    await db.updateTable('turns').set({ asked_by: grace.id }).where('message_ts', '=', ts).execute();
    expect(JSON.stringify([await messages(), await turns()])).toContain('column b');
    await personErasure.eraseUser(slack.team.id, person.id);
    expect(JSON.stringify([await messages(), await turns()])).not.toMatch(/colum/);
  });

  test('that was edited and then deleted is not corrected any more', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'one to regret');
    await scene.finished(channel, root);
    slack.edit(channel.id, root.ts, `${scene.mention} one to regret, with a name`);
    const note = await scene.until('the note is there', () => slack.ephemerals(scene.ada, channel)[0]);
    slack.remove(channel.id, root.ts);
    await slack.settled();
    await slack.click({ person: scene.ada, channel, ts: note.ts, actionId: 'correct' });
    const told = () => slack.ephemerals(scene.ada, channel).map(({ text }) => text);
    await scene.until('it says why not', () => told().includes(strings.sendNowTooLate('withdrawn')));
    await scene.expectStays(() => scene.sentToAgent('one to regret').texts, ['one to regret']);
  });

  test('that was deleted while the agent works on it offers Stop', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'one to take back\n/slow 9000');
    await scene.until('the reply grows', () =>
      scene.replies(channel, root).some(({ versions }) => versions.length > 1),
    );
    slack.remove(channel.id, root.ts);
    const note = await scene.until('the note is there', () => slack.ephemerals(scene.ada, channel)[0]);
    await slack.click({ person: scene.ada.id, channel: channel.id, ts: note.ts, actionId: 'stop' });
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('Stopped by ada.');
    const reply = await scene.messageWithButton(channel, root, 'retry');
    await slack.click({ person: scene.ada, channel, ts: reply.ts, actionId: 'retry' });
    const told = () => slack.ephemerals(scene.ada, channel).map(({ text }) => text);
    await scene.until('it says why not', () =>
      told().includes(strings.pressedTooLate(strings.questionDeleted)),
    );
  });

  test('that was stopped is not said to be answered once it is edited', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'one to stop\n/slow 9000');
    const reply = await scene.messageWithButton(channel, root, 'stop');
    await slack.click({ person: scene.ada, channel, ts: reply.ts, actionId: 'stop' });
    await scene.finished(channel, root);
    slack.edit(channel.id, root.ts, `${scene.mention} one to send again`);
    const note = await scene.until('the note is there', () => slack.ephemerals(scene.ada, channel)[0]);
    expect(note.text).toBe(strings.editedAfterEnd);
  });

  test('is not sent as a correction that waits once it is deleted', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'one to correct');
    await scene.finished(channel, root);
    slack.edit(channel.id, root.ts, `${scene.mention} one to correct with a name`);
    const note = await scene.until('the note is there', () => slack.ephemerals(scene.ada, channel)[0]);
    const meanwhile = scene.reply(channel, root, '/slow 9000 meanwhile');
    await scene.until('the agent is at work', () => scene.sentToAgent('one to correct').texts.length === 2);
    await slack.click({ person: scene.ada, channel, ts: note.ts, actionId: 'correct' });
    await slack.settled();
    slack.remove(channel.id, root.ts);
    await slack.settled();
    await scene.hurry('one to correct');
    await scene.finished(channel, meanwhile);
    await scene.expectStays(() => scene.sentToAgent('one to correct').texts.length, 2);
  });
});
