import { afterEach, describe, expect, test } from 'vitest';
import * as strings from '../../../src/render/strings/index.ts';
import { type AppScene, openAppScene, pause } from '../../support/app-scene.ts';

const sends = 'POST /experimental/tasks/{task_id}/messages';
const reads = 'GET /experimental/tasks/{task_id}/messages';

/** A turn whose first send was refused, and whose second one waits for the read before it, until `goOn`. */
async function aboutToBeSent(scene: AppScene, text: string) {
  const { promise, resolve: goOn } = Promise.withResolvers<void>();
  const before = scene.agent.calls.length;
  const channel = scene.channel();
  scene.agent.faults.add({ call: sends, fault: { kind: 'status', status: 429 }, times: 1 });
  scene.agent.faults.add({ call: reads, fault: { kind: 'hold', until: promise }, times: 1 });
  const root = scene.ask(channel, text);
  const turn = await frozenTurn(scene, { channel: channel.id, ts: root.ts });
  const reply = await scene.until('the reply is there', () => scene.replies(channel, root)[0]);
  const isRead = () => scene.agent.calls.slice(before).some(({ name }) => name === reads);
  return { turn, reply, channel, root, isRead, goOn };
}

/** The turn of a message whose content is fixed, and which is not being sent. */
async function frozenTurn(scene: AppScene, at: { channel: string; ts: string }) {
  return scene.until('the content is fixed, and the send was refused', async () => {
    const now = await scene.sandbox.bot.store.turns.ofMessage({ workspace: scene.slack.team.id, ...at });
    return now?.prompt == null || now.send_intended_at !== null ? undefined : now;
  });
}

/** How often a message with this text was sent. */
function sendsOf(scene: AppScene, text: string): number {
  const ofText = scene.agent.calls.filter(({ body }) => JSON.stringify(body ?? '').includes(text));
  return ofText.filter(({ name }) => name === sends).length;
}

describe('a stop request', async () => {
  const scene = await openAppScene();
  afterEach(() => scene.reset());

  test('ends background work that continues after the reply', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/background 9000');
    const reply = await scene.until('the background is named', () =>
      scene
        .replies(channel, root)
        .find((message) => scene.slack.visibleText(message).includes('background for')),
    );
    const task = scene.agent.tasks.findLast(({ title }) => title === '/background 9000');
    await scene.until('the reply has settled', () => task?.messages.at(-1)?.status === 'completed');
    expect(task?.status).toBe('running');
    await scene.slack.click({ person: scene.ada, channel, ts: reply.ts, actionId: 'stop' });
    await scene.finished(channel, root);
    expect(task?.status).toBe('cancelled');
    expect(scene.shown(channel, root)).not.toContain('is still working on something');
    expect(scene.shown(channel, root)).toContain('Stopped by ada.');
  });

  test('prevents a second attempt for a message whose first send was lost', async () => {
    const channel = scene.channel();
    scene.agent.faults.add({ call: sends, fault: { kind: 'status', status: 502 } });
    const { db, turns } = scene.sandbox.bot.store;
    const root = scene.ask(channel, 'sent in doubt');
    const key = { workspace: scene.slack.team.id, channel: channel.id, ts: root.ts };
    const turn = await scene.until('a send is in doubt', async () => {
      const now = await turns.ofMessage(key);
      return now?.send_intended_at == null ? undefined : now;
    });
    // What became of a send is waited for some seconds.
    const longAgo = new Date(Date.now() - 60_000);
    await db.updateTable('turns').set({ send_intended_at: longAgo }).where('id', '=', turn.id).execute();
    const mend = scene.agent.faults.add({ call: reads, fault: { kind: 'status', status: 503 } });
    const reply = await scene.until('the outage is shown', () =>
      scene
        .replies(channel, root)
        .find((message) => scene.slack.visibleText(message).includes("can't reach")),
    );
    const before = sendsOf(scene, 'sent in doubt');
    await scene.slack.click({ person: scene.ada, channel, ts: reply.ts, actionId: 'stop' });
    mend();
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('Stopped by ada.');
    expect(sendsOf(scene, 'sent in doubt')).toBe(before);
  });

  test('prevents a message that was about to be sent', async () => {
    const { turn, reply, channel, root, goOn } = await aboutToBeSent(scene, 'soon to be sent');
    await scene.slack.click({ person: scene.ada, channel, ts: reply.ts, actionId: 'stop' });
    goOn();
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('Stopped by ada.');
    expect(sendsOf(scene, 'soon to be sent')).toBe(1);
    expect((await scene.sandbox.bot.store.turns.get(turn.workspace, turn.id))?.send_intended_at).toBeNull();
  });

  test('prevents a message even where the sending process has not seen the request', async () => {
    const { turn, channel, root, isRead, goOn } = await aboutToBeSent(scene, 'unseen');
    await scene.sandbox.bot.store.transaction(async ({ threads, stopRequests: stops }) => {
      await threads.lock(turn);
      await stops.record(
        { workspace: turn.workspace, turn_id: turn.id, user_id: scene.ada.id, ts: root.ts },
        10,
      );
      goOn();
      // With a statement now and then: the server ends a transaction that idles for eight seconds.
      await scene.until('the messages are read', async () => {
        await threads.lock(turn);
        return isRead();
      });
      await pause(300);
    });
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('Stopped by ada.');
    expect(sendsOf(scene, 'unseen')).toBe(1);
  });

  test('that is refused starts no turn for a message without access', async () => {
    const guest = scene.slack.createPerson({ name: 'gus', kind: 'guest' });
    const unknown = scene.slack.createPerson({ name: 'una' });
    const channel = scene.channel();
    const mend = scene.slack.faults.add({ call: 'users.info', fault: { kind: 'status', status: 503 } });
    const root = scene.ask(channel, 'from a guest', { person: guest });
    await scene.until('it is told that it waits', () => scene.slack.ephemerals(guest, channel).length > 0);
    scene.reply(channel, root, 'stop', { person: unknown });
    await scene.until('the stop is refused', () => scene.slack.ephemerals(unknown, channel).length > 0);
    const key = { workspace: scene.slack.team.id, channel: channel.id, ts: root.ts };
    expect(await scene.sandbox.bot.store.turns.ofMessage(key)).toBeUndefined();
    mend();
    await scene.until('the message is refused', async () => {
      const message = await scene.sandbox.bot.store.messages.get(key);
      return message?.state === 'refused';
    });
  });

  test('pauses waiting messages while the turn before posts its results', async () => {
    const channel = scene.channel();
    const results = /^GET .*results$/;
    const mend = scene.agent.faults.add({ call: results, fault: { kind: 'status', status: 503 } });
    const root = scene.ask(channel, 'soon answered');
    const key = { workspace: scene.slack.team.id, channel: channel.id, ts: root.ts };
    await scene.until('the answer has settled', async () => {
      const turn = await scene.sandbox.bot.store.turns.ofMessage(key);
      return turn?.settled_at != null;
    });
    scene.reply(channel, root, 'not to be sent');
    await scene.slack.settled();
    scene.reply(channel, root, 'stop');
    await scene.slack.settled();
    mend();
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('1 message is waiting.');
    expect(scene.sentToAgent('soon answered').texts).toEqual(['soon answered']);
  });

  test('updates the number of paused messages when a reaction withdraws one', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/slow 9000');
    await scene.until('the reply grows', () => scene.shown(channel, root).includes('Second'));
    const first = scene.reply(channel, root, 'the first');
    scene.reply(channel, root, 'the second');
    await scene.slack.settled();
    scene.reply(channel, root, 'stop');
    const post = await scene.until('the thread names the paused messages', () =>
      scene.replies(channel, root).find(({ text }) => text.startsWith('2 messages are waiting.')),
    );
    scene.slack.react(scene.ada, channel, first.ts, 'octagonal_sign');
    await scene.until('the number is brought up to date', () => !post.text.startsWith('2'));
    expect(post.text).toContain('1 message is waiting.');
  });
});

describe('a stop request during a run that is silent', async () => {
  const scene = await openAppScene({
    settings: { TASK_CONTROL: 'starter' },
    limits: { silenceMs: 1_000, passOnMs: 1_500 },
  });
  afterEach(() => scene.reset());

  test('pauses a message that was about to be passed on to the run', async () => {
    scene.agent.behaviour.messageToRunning = 'accepted';
    const channel = scene.channel();
    const root = scene.ask(channel, '/silent 4000');
    await scene.until('the reply says that the agent is silent', () =>
      scene.shown(channel, root).includes('No news'),
    );
    scene.agent.faults.add({ call: sends, fault: { kind: 'status', status: 429 }, times: 1 });
    // Not the read before the message is frozen, but the one before it is sent again.
    const { promise, resolve: goOn } = Promise.withResolvers<void>();
    scene.agent.faults.add({ call: reads, fault: { kind: 'latency', ms: 0 }, times: 1 });
    scene.agent.faults.add({ call: reads, fault: { kind: 'hold', until: promise } });
    const next = scene.reply(channel, root, 'and this');
    const key = { workspace: scene.slack.team.id, channel: channel.id, ts: next.ts };
    const { messages, turns } = scene.sandbox.bot.store;
    await frozenTurn(scene, { channel: channel.id, ts: next.ts });
    const [reply] = scene.replies(channel, root);
    await scene.slack.click({ person: scene.ada, channel, ts: reply?.ts ?? '', actionId: 'stop' });
    goOn();
    await scene.finished(channel, root);
    await scene.until('the thread names the paused messages', () =>
      scene.shown(channel, root).includes('1 message is waiting.'),
    );
    expect((await messages.get(key))?.state).toBe('waiting');
    expect(await turns.ofMessage(key)).toBeUndefined();
    expect(scene.sentToAgent('/silent 4000').texts).toEqual(['/silent 4000']);
  });

  test('keeps a message paused that a restart interrupted as it was passed on', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/ask Which one?');
    await scene.until('the reply says that the agent asks', () =>
      scene.shown(channel, root).includes(strings.agentAsks),
    );
    const uploads = 'POST /experimental/files';
    const mend = scene.agent.faults.add({ call: uploads, fault: { kind: 'status', status: 503 } });
    const files = [{ name: 'groups.csv', mime: 'text/csv', bytes: 'a,b\n1,2\n' }];
    const next = scene.reply(channel, root, 'these', { files });
    const key = { workspace: scene.slack.team.id, channel: channel.id, ts: next.ts };
    await scene.until('it is being passed on', () => scene.sandbox.bot.store.turns.ofMessage(key));
    scene.reply(channel, root, 'stop');
    await scene.slack.settled();
    await scene.sandbox.restartBot();
    mend();
    const post = await scene.until('the thread names the paused messages', () =>
      scene.replies(channel, root).find(({ text }) => text.includes('1 message is waiting.')),
    );
    await scene.until('it waits without a turn', async () => {
      const { messages, turns } = scene.sandbox.bot.store;
      return (await messages.get(key))?.state === 'waiting' && (await turns.ofMessage(key)) === undefined;
    });
    expect(scene.sentToAgent('/ask').texts).toHaveLength(1);
    await scene.slack.click({ person: scene.ada, channel, ts: post.ts, actionId: 'send_paused' });
    await scene.finished(channel, next);
    expect(scene.sentToAgent('/ask').texts).toEqual(['/ask Which one?', 'these']);
  });

  test('takes a message back that was being passed on, even where the run does not end', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/stubborn');
    await scene.until('the reply says that the agent is silent', () =>
      scene.shown(channel, root).includes('No news'),
    );
    const fault = { kind: 'status', status: 503 } as const;
    scene.agent.faults.add({ call: 'POST /experimental/files', fault });
    const files = [{ name: 'groups.csv', mime: 'text/csv', bytes: 'a,b\n1,2\n' }];
    const next = scene.reply(channel, root, 'these', { files });
    const { messages, turns } = scene.sandbox.bot.store;
    const keyOf = ({ ts }: { ts: string }) => ({ workspace: scene.slack.team.id, channel: channel.id, ts });
    await scene.until('it is being passed on', () => turns.ofMessage(keyOf(next)));
    scene.reply(channel, root, 'stop');
    await scene.until('it waits without a turn', async () => {
      const isWaiting = (await messages.get(keyOf(next)))?.state === 'waiting';
      return isWaiting && (await turns.ofMessage(keyOf(next))) === undefined;
    });
    expect((await turns.ofMessage(keyOf(root)))?.settled_at).toBeNull();
  });

  test('on a message that was passed on needs permission for the running turn', async () => {
    scene.agent.behaviour.messageToRunning = 'accepted';
    const before = scene.agent.calls.length;
    const channel = scene.channel();
    const root = scene.ask(channel, '/silent 5000');
    await scene.until('the reply says that the agent is silent', () =>
      scene.shown(channel, root).includes('No news'),
    );
    const passed = scene.reply(channel, root, 'and this', { person: scene.grace });
    const key = { workspace: scene.slack.team.id, channel: channel.id, ts: passed.ts };
    await scene.until('it is passed on', async () => {
      const turn = await scene.sandbox.bot.store.turns.ofMessage(key);
      return turn?.user_message_id != null;
    });
    scene.slack.react(scene.grace, channel, passed.ts, 'octagonal_sign');
    await scene.until('it is refused', () => scene.slack.ephemerals(scene.grace, channel).length > 0);
    expect(scene.agent.calls.slice(before).filter(({ name }) => name.endsWith('/cancel'))).toEqual([]);
    scene.slack.react(scene.ada, channel, passed.ts, 'octagonal_sign');
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('Stopped by ada.');
  });
});
