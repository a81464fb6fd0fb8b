import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { AgentScript } from '../../../sandbox/agent/agent-script.ts';
import type { Channel, Message, Person } from '../../../sandbox/slack/slack-workspace.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { SETTINGS_ACCOUNT } from '../../../src/store/workspaces/accounts.ts';
import { openAppScene, pause } from '../../support/app-scene.ts';
import { letJobBeGivenUp, untilNothingIsTried } from '../../support/outage.ts';
import { ScopedFaults } from '../../support/scoped-faults.ts';

const failed = (error: string) => ({ kind: 'status', status: 200, body: { ok: false, error } }) as const;

const BAD_THING_MS = 4_000;
const faults = new ScopedFaults();
const gate = Promise.withResolvers<void>();
const script: AgentScript = async (turn) => {
  turn.write('The answer begins. ');
  if (turn.text === 'with a fault') await gate.promise;
  turn.write('It ends here.');
};
const scene = await openAppScene({
  agent: { script },
  slack: { faults },
  limits: { badThingMs: BAD_THING_MS, slackPace: 1 },
});
const { slack } = scene;

/** What only this person sees in a channel. */
function told(channel: Channel, { id }: Person): string[] {
  return channel.ephemerals.filter(({ user }) => user === id).map(({ text }) => text);
}

async function messageState({ channel, ts }: Message) {
  const key = { workspace: slack.team.id, channel, ts };
  return (await scene.sandbox.bot.store.messages.get(key))?.state;
}

/** A reply in a thread of people that is sent only when its writer presses. */
async function unsentReply(channel: Channel) {
  const root = slack.say({ person: scene.grace, channel, text: 'lunch?' });
  await scene.finished(channel, scene.reply(channel, root, `${scene.mention} how many groups?`));
  scene.reply(channel, root, 'see you at noon', { person: scene.grace });
  // Two events at once may be taken in either order.
  await slack.settled();
  const unsent = scene.reply(channel, root, 'and by age?');
  const note = await scene.until('its writer is told', () =>
    channel.ephemerals.find(({ user }) => user === scene.ada.id),
  );
  const press = { person: scene.ada, channel, ts: note.ts, actionId: 'send_reply' };
  return { root, unsent, send: () => slack.click(press) };
}

test.concurrent('an answer whose edits Slack always fails to make is posted in place of its draft', async () => {
  const channel = scene.channel();
  const root = scene.ask(channel, 'with a fault');
  await scene.until('the draft shows', () => scene.shown(channel, root).includes('The answer begins.'));
  const [draft] = scene.replies(channel, root);
  faults.add({ call: new RegExp(`^chat\\.update .*"${draft?.ts}"`), fault: failed('internal_error') });
  gate.resolve();
  const next = scene.reply(channel, root, 'the next one');
  await scene.finished(channel, root);
  await scene.finished(channel, next);
  const replies = scene.replies(channel, root);
  expect(replies.map(({ ts }) => ts)).not.toContain(draft?.ts);
  expect(replies).toHaveLength(2);
  expect(scene.shown(channel, root).match(/It ends here\./g)).toHaveLength(2);
  expect(JSON.stringify(replies.map(({ blocks }) => blocks))).not.toContain('"stop"');
});

test.concurrent('an answer of which Slack takes no block is shown as text', async () => {
  const channel = scene.channel();
  faults.add({
    call: new RegExp(`^chat\\.(update|postMessage) .*${channel.id}.*It ends here.*"blocks"`),
    fault: failed('internal_error'),
  });
  faults.add({
    call: new RegExp(`^chat\\.(update|postMessage) .*${channel.id}.*"blocks".*It ends here`),
    fault: failed('internal_error'),
  });
  const root = scene.ask(channel, 'without blocks');
  await scene.finished(channel, root);
  expect(scene.replies(channel, root).map(({ text }) => text)).toEqual([
    expect.stringContaining('It ends here.'),
  ]);
});

test.concurrent('a thread at which Slack keeps failing is given up, and its asker is told', async () => {
  const channel = scene.channel();
  faults.add({
    call: new RegExp(`^chat\\.postMessage .*channel\\W+${channel.id}`),
    fault: failed('ekm_access_denied'),
  });
  const root = scene.ask(channel, 'into a closed channel');
  await scene.finished(channel, root);
  const told = slack.messages(slack.openDm(scene.ada)).map((message) => slack.visibleText(message));
  expect(told).toEqual([strings.replyUnreachable(channel.id)]);
});

test('an outage of Slack ends no answer, however long it takes', async () => {
  const channel = scene.channel();
  const { unsent, send } = await unsentReply(scene.channel());
  // A call from before that succeeds later would not be an outage.
  await slack.settled();
  // Slack still says who presses: nobody has a right of which it says nothing.
  const fault = failed('internal_error');
  const partly = faults.add({ call: /^(?!users\.info|conversations\.members)/, fault });
  await send();
  await scene.until('the press is taken', async () => (await messageState(unsent)) === 'waiting');
  const back = faults.add({ call: /./, fault });
  partly();
  const root = scene.ask(channel, 'during an outage');
  await pause(3 * BAD_THING_MS);
  await untilNothingIsTried(scene, slack.calls);
  back();
  await scene.finished(channel, root);
  expect(scene.shown(channel, root)).toContain('The answer begins. It ends here.');
  expect(scene.replies(channel, root)).toHaveLength(1);
  await scene.finished({ id: unsent.channel }, unsent);
});

test.concurrent.each(['missing_scope', 'internal_error'])(
  'a reply that Slack never gives back (%s) is told to its writer, and the next one is sent',
  async (error) => {
    const channel = scene.channel();
    const { root, unsent, send } = await unsentReply(channel);
    const call = new RegExp(`^conversations\\.replies .*"oldest":"${unsent.ts}"`);
    faults.add({ call, fault: failed(error) });
    await send();
    const next = scene.reply(channel, root, `${scene.mention} the next one`);
    await scene.finished(channel, next);
    await scene.until('its writer is told', () => told(channel, scene.ada).includes(strings.messageUnread));
    expect(await messageState(unsent)).toBe('refused');
  },
);

/** Ends the time for which a thread waits for replies that are read; whether it waited. */
async function endHold({ id }: Channel): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update jobs set payload = jsonb_set(payload, '{waiting,held_until}', '0')
    where kind = 'backfill' and channel = ${id} and payload ? 'waiting'`.execute(scene.sandbox.bot.store.db);
  return numAffectedRows > 0n;
}

test.concurrent.each(['missing_scope', 'internal_error'])(
  'replies that overtook their mention and that Slack never gives back (%s) are told to its writer',
  async (error) => {
    const channel = scene.channel();
    const { store } = scene.sandbox.bot;
    const root = slack.say({ person: scene.grace, channel, text: 'lunch?' });
    const overtaking = scene.reply(channel, root, 'and by age?');
    const thread = { workspace: slack.team.id, channel: channel.id, thread_ts: root.ts };
    await scene.until(
      'it is known',
      async () => (await store.orphanReplies.after(thread, root.ts)).length > 0,
    );
    await store.threads.adopt(thread, { account_id: SETTINGS_ACCOUNT, user_id: scene.ada.id, ts: root.ts });
    const call = new RegExp(`^conversations\\.replies .*"oldest":"${overtaking.ts}"`);
    faults.add({ call, fault: failed(error) });
    const next = scene.reply(channel, root, 'the next one');
    if (error === 'internal_error') {
      await scene.until('the hold is over', () => endHold(channel));
      await scene.finished(channel, next);
      await letJobBeGivenUp(scene, 'backfill', channel.id);
    }
    await scene.finished(channel, next);
    await scene.until('somebody is told', () => told(channel, scene.ada).includes(strings.repliesUnread));
    expect(scene.shown(channel, root)).not.toContain(strings.messagesNotRead);
    expect(await store.orphanReplies.after(thread, root.ts)).toEqual([]);
  },
);

test.concurrent('a note about an unsent reply that Slack does not take comes with the next one', async () => {
  const channel = scene.channel();
  const root = slack.say({ person: scene.grace, channel, text: 'lunch?' });
  await scene.finished(channel, scene.reply(channel, root, `${scene.mention} how many groups?`));
  scene.reply(channel, root, 'see you at noon', { person: scene.grace });
  await slack.settled();
  const call = new RegExp(`^chat\\.postEphemeral .*${channel.id}.*${scene.ada.id}`);
  const end = faults.add({ call, fault: failed('internal_error') });
  const isTried = () =>
    slack.calls.some(({ method, args }) => call.test(`${method} ${JSON.stringify(args)}`));
  scene.reply(channel, root, 'and by age?');
  await scene.until('it is tried', isTried);
  end();
  await scene.until('its writer is told', async () => {
    scene.reply(channel, root, 'and by weight?');
    await slack.settled();
    return told(channel, scene.ada).length > 0;
  });
  expect(told(channel, scene.ada)).toEqual([strings.replyNotSent]);
});

test.concurrent('a person about whom alone Slack fails holds up nobody else in their thread', async () => {
  const alan = slack.createPerson({ name: 'alan' });
  const channel = scene.channel();
  faults.add({ call: new RegExp(`^users\\.info .*"${alan.id}"`), fault: failed('internal_error') });
  const root = scene.ask(channel, 'the first one');
  const unknown = scene.reply(channel, root, 'who am I?', { person: alan });
  const next = scene.reply(channel, root, 'the next one');
  await scene.finished(channel, next);
  await scene.until('they are told', () => told(channel, alan).includes(strings.personUnknown));
  expect(told(channel, alan)).toContain(strings.waitingForIdentity);
  expect(await messageState(unknown)).toBe('refused');
});

test.concurrent('a file that Slack does not deliver is waited for by name of the cause, and then left out', async () => {
  const channel = scene.channel();
  faults.add({ call: /^files\.download .*stuck\.csv/, fault: { kind: 'cut' } });
  faults.add({ call: /^files\.download .*late\.csv/, fault: { kind: 'status', status: 503 }, times: 1 });
  // Both fail at first, and then the one takes longer than the other may fail.
  scene.agent.faults.add({ call: /\/finalize$/, fault: { kind: 'latency', ms: 1.5 * BAD_THING_MS } });
  const files = ['late.csv', 'stuck.csv'].map((name) => ({ name, mime: 'text/csv', bytes: 'a,b\n1,2\n' }));
  const root = scene.ask(channel, 'with a file that does not come', { files });
  await scene.until('the cause is shown', () => scene.shown(channel, root).includes(strings.waits.file));
  await scene.finished(channel, root);
  const shown = scene.shown(channel, root);
  expect(shown).toContain('“stuck.csv” was left out: the download was interrupted.');
  expect(shown.match(/ left out/g)).toHaveLength(1);
  expect(scene.sentToAgent('with a file').fileIds).toEqual([[expect.anything()]]);
  const key = { workspace: slack.team.id, channel: channel.id, ts: root.ts };
  expect((await scene.sandbox.bot.store.turns.ofMessage(key))?.file_notes).toHaveLength(2);
  const all = scene.replies(channel, root).flatMap(({ versions }) => versions);
  expect(JSON.stringify(all)).not.toContain(strings.waits.slack);
});
