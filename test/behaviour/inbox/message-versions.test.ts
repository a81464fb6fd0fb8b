import { afterEach, describe, expect, test } from 'vitest';
import { openAppScene } from '../../support/app-scene.ts';

const scene = await openAppScene();
const { ada, slack } = scene;
const usual = { ...slack.delivery };
const data = { name: 'data.csv', mime: 'text/csv', bytes: 'gene,count\nTP53,12\n' };
const more = { ...data, name: 'more.csv' };

afterEach(() => {
  Object.assign(slack.delivery, usual);
  return scene.reset();
});

/** The names of the files that the agent got with the messages of a task. */
function filesSent(title: string): string[] {
  const { fileIds } = scene.sentToAgent(title);
  return fileIds.flat().map((id) => scene.agent.files.find((file) => file.id === id)?.name ?? 'unknown');
}

describe('a mention of which Slack first sends an app_mention without its file', () => {
  test('goes with the file once its message comes', async () => {
    Object.assign(slack.delivery, { order: 'mentionFirst', mentionShows: 'text' });
    const channel = scene.channel();
    const question = scene.ask(channel, 'what is in it?', { files: [data] });
    await scene.finished(channel, question);
    expect(filesSent('what is in it?')).toEqual(['data.csv']);
    // The other copy came in time.
    expect(slack.calls.filter(({ method }) => method === 'conversations.replies')).toEqual([]);
  });

  test('goes with the file where no message comes at all, read back once', async () => {
    Object.assign(slack.delivery, { mentionCopies: 'mentionOnly', mentionShows: 'text' });
    const channel = scene.channel();
    const question = scene.ask(channel, 'and what is in here?', { files: [data] });
    const bare = scene.ask(channel, '', { files: [more] });
    await scene.finished(channel, question);
    expect(filesSent('and what is in here?')).toEqual(['data.csv']);
    await scene.finished(channel, bare);
    expect(scene.shown(channel, bare)).toContain('more.csv');
    const reads = slack.calls.filter(({ method }) => method === 'conversations.replies');
    expect(reads).toHaveLength(2);
  });
});

test('a message that waits takes files and tables that come later, with an edit and without', async () => {
  const channel = scene.channel();
  const root = scene.ask(channel, 'at work\n/slow 9000');
  await scene.until('the turn has begun', () => scene.replies(channel, root).length > 0);
  const reply = scene.reply(channel, root, 'compare these');
  await slack.settled();
  slack.showLater(channel, reply.ts, [data]);
  await slack.settled();
  slack.edit(channel, reply.ts, 'compare these', { table: [['a pasted cell']], files: [more] });
  await slack.settled();
  await scene.hurry('at work');
  await scene.finished(channel, reply);
  expect(scene.sentToAgent('at work').texts.at(-1)).toMatch(/^compare these\n\n\| a pasted cell \|/);
  expect(filesSent('at work').toSorted()).toEqual(['data.csv', 'more.csv', 'table-1.csv']);
});

test('a file that comes after its message was sent is offered as a correction, and goes with it alone', async () => {
  const channel = scene.channel();
  const root = scene.ask(channel, 'what do these say?', { files: [data] });
  await scene.finished(channel, root);
  slack.showLater(channel, root.ts, [more]);
  const note = await scene.until('it is offered', () =>
    slack.ephemerals(ada, channel).find(({ blocks }) => JSON.stringify(blocks).includes('"correct"')),
  );
  await slack.click({ person: ada, channel, ts: note.ts, actionId: 'correct' });
  await scene.until('it is sent', () => scene.sentToAgent('what do these say?').texts.length === 2);
  expect(filesSent('what do these say?')).toEqual(['data.csv', 'more.csv']);
  expect(scene.sentToAgent('what do these say?').texts[1]).toContain('A correction to my message: what do');
});

test('a message that its client sends twice is one', async () => {
  const channel = scene.channel();
  const clientMsgId = '5e8c0b7a-4a3c-4a55-9b1e-0f4b6a1f2c3d';
  const root = scene.ask(channel, 'said once', { clientMsgId });
  await slack.settled();
  const again = scene.ask(channel, 'said once', { clientMsgId });
  const others = scene.ask(channel, 'said once', { clientMsgId, person: scene.grace });
  await scene.finished(channel, root);
  await scene.finished(channel, others);
  await scene.expectNoReply(channel, again);
  expect(scene.agent.tasks.filter(({ title }) => title === 'said once')).toHaveLength(2);
});

test("the word stop stops although Slack repeats the root's file in its event", async () => {
  slack.delivery.repeatsRootFiles = true;
  const channel = scene.channel();
  const root = scene.ask(channel, 'look at it\n/slow 9000', { files: [data] });
  await scene.until('the agent works', () => scene.sentToAgent('look at it').texts.length > 0);
  scene.reply(channel, root, 'stop');
  await scene.finished(channel, root);
  expect(scene.shown(channel, root)).toContain('Stopped');
  await scene.finished(channel, scene.reply(channel, root, 'go on'));
  expect(filesSent('look at it')).toEqual(['data.csv']);
});
