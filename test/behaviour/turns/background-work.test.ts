import { describe, expect, test } from 'vitest';
import { type AgentScript, TurnCancelled } from '../../../sandbox/agent/agent-script.ts';
import type { Channel, Message } from '../../../sandbox/slack/slack-workspace.ts';
import { backgroundNotices, endMention } from '../../../src/render/strings/index.ts';
import { type AppScene, openAppScene } from '../../support/app-scene.ts';

type End = 'completed' | 'failed' | 'cancelled';

/** Ends the background work of the message with this text. */
const ends = new Map<string, (end: End) => void>();
const script: AgentScript = async (turn) => {
  const { promise, resolve } = Promise.withResolvers<End>();
  const { text } = turn;
  ends.set(text, resolve);
  if (text.startsWith('work'))
    turn.background(async () => {
      const end = await promise;
      if (end === 'failed') throw new Error('It broke down');
      if (end === 'cancelled') throw new TurnCancelled();
      await turn.result(`${text}.txt`, 'text/plain', 'made later');
    });
  turn.write('My answer is final.');
};
const limits = { maxBackgroundWaitMs: 0, watchIntervalMs: 200 };
const agent = { script, behaviour: { messageToRunning: 'accepted' } } as const;
const scene = await openAppScene({ agent, limits });

/** Asks, and waits for the notice below the answer. */
async function noticed(on: AppScene, channel: Channel, text: string): Promise<[Message, Message]> {
  const root = on.ask(channel, text);
  await on.finished(channel, root);
  return [root, await on.messageWithButton(channel, root, 'stop')];
}

const shows = (on: AppScene, notice: Message, state: keyof typeof backgroundNotices) =>
  on.until(`the notice says ${state}`, () => on.slack.visibleText(notice) === backgroundNotices[state]);
/** The posts of a thread that mention Ada for an end. */
const mentions = (channel: Channel, root: Message, end: Parameters<typeof endMention>[1]) => {
  const [beginning = ''] = endMention(scene.ada.id, end, 0).split('(');
  return scene.replies(channel, root).filter(({ text }) => text.startsWith(beginning));
};
const taskOf = (on: AppScene, title: string) => on.agent.tasks.findLast((task) => task.title === title);

describe.concurrent('work in the background that takes longer than the wait', () => {
  test.each([
    ['completed', 'workDone'],
    ['failed', 'workFailed'],
    ['cancelled', 'cancelled'],
  ] as const)('is %s in the line below the answer, and a post tells who asked', async (end, said) => {
    const channel = scene.channel();
    const [root, notice] = await noticed(scene, channel, `work until ${end}`);
    expect(scene.slack.visibleText(notice)).toContain(backgroundNotices.working);
    expect(scene.shown(channel, root)).toContain('My answer is final.');
    const versions = notice.versions.length;
    ends.get(`work until ${end}`)?.(end);
    await shows(scene, notice, end);
    expect(notice.versions).toHaveLength(versions + 1);
    expect(mentions(channel, root, said)).toHaveLength(1);
    if (end === 'completed')
      await scene.until('its file is there', () => scene.shown(channel, root).includes('completed.txt'));
  });

  test('is stopped by the button, which then goes', async () => {
    const channel = scene.channel();
    const [root, { ts }] = await noticed(scene, channel, 'work to stop');
    await scene.slack.click({ person: scene.ada, channel, ts, actionId: 'stop' });
    await scene.until('the notice says so', () =>
      scene.shown(channel, root).includes(backgroundNotices.cancelled),
    );
    expect(taskOf(scene, 'work to stop')?.status).toBe('cancelled');
    expect(mentions(channel, root, 'cancelled')).toEqual([]);
    expect(scene.shown(channel, root)).not.toContain('Stop');
    expect(scene.shown(channel, root)).toContain('My answer is final.');
  });

  test('whose stop has no effect changes its line once', async () => {
    const channel = scene.channel();
    const [, notice] = await noticed(scene, channel, 'work stubbornly');
    const { id = '' } = taskOf(scene, 'work stubbornly') ?? {};
    scene.agent.faults.add({ call: /cancel$/, about: id, fault: { kind: 'status', status: 400 } });
    const versions = notice.versions.length;
    await scene.slack.click({ person: scene.ada, channel, ts: notice.ts, actionId: 'stop' });
    await scene.until('the notice says so', () => notice.text === backgroundNotices.stopping);
    const checks = () => scene.agent.calls.filter(({ path }) => path.endsWith(id)).length;
    const before = checks();
    await scene.until('it is checked further', () => checks() > before + 3);
    ends.get('work stubbornly')?.('completed');
    await shows(scene, notice, 'completed');
    expect(notice.versions).toHaveLength(versions + 2);
  });

  test('is stopped also while the line about it is being posted', async () => {
    const channel = scene.channel();
    const gate = Promise.withResolvers<void>();
    const held = { kind: 'hold', until: gate.promise } as const;
    scene.slack.faults.add({ call: 'chat.postMessage', about: backgroundNotices.working, fault: held });
    const root = scene.ask(channel, 'work in between');
    await scene.until('the line is being posted', () =>
      scene.slack.calls.some(
        ({ args }) => args.channel === channel.id && args.text === backgroundNotices.working,
      ),
    );
    const { turns } = scene.sandbox.bot.store;
    const key = { workspace: scene.slack.team.id, channel: channel.id, ts: root.ts };
    await scene.until('the answer has settled', async () => (await turns.ofMessage(key))?.settled_at != null);
    scene.reply(channel, root, 'stop');
    await scene.until('it is stopped', () => taskOf(scene, 'work in between')?.status === 'cancelled');
    gate.resolve();
    await scene.until('the line says so', () =>
      scene.shown(channel, root).includes(backgroundNotices.cancelled),
    );
    expect(scene.shown(channel, root)).not.toContain('Stop');
  });

  test('is not stopped once the task has a later message, whose turn ends the watch', async () => {
    const channel = scene.channel();
    const [root, notice] = await noticed(scene, channel, 'work and go on');
    const later = scene.reply(channel, root, 'the next one');
    await scene.until('the task has the next message', () =>
      scene.sentToAgent('work and go on').texts.includes('the next one'),
    );
    await scene.slack.click({ person: scene.ada, channel, ts: notice.ts, actionId: 'stop' });
    await shows(scene, notice, 'superseded');
    ends.get('work and go on')?.('completed');
    await scene.finished(channel, later);
    expect(taskOf(scene, 'work and go on')?.status).toBe('completed');
    expect(scene.shown(channel, root).match(/My answer is final\./g)).toHaveLength(2);
  });

  test('is watched across a restart, in a channel that moves and after forgetting who asked', async ({
    onTestFinished,
  }) => {
    const own = await openAppScene({ agent, limits }, onTestFinished);
    const channel = own.channel();
    const [, notice] = await noticed(own, channel, 'work on the move');
    const tellOfNewId = own.slack.changeId(channel);
    await own.sandbox.restartBot();
    tellOfNewId();
    await own.sandbox.bot.store.personErasure.eraseUser(own.slack.team.id, own.ada.id);
    ends.get('work on the move')?.('completed');
    await shows(own, notice, 'completed');
    expect(own.slack.thread(channel.id, notice.threadTs ?? '')).toContain(notice);
  });

  test('brings its files also where somebody deleted the line about it', async () => {
    const channel = scene.channel();
    const [root, notice] = await noticed(scene, channel, 'work unseen');
    scene.slack.remove(channel.id, notice.ts);
    ends.get('work unseen')?.('completed');
    await scene.until('its file is there', () => scene.shown(channel, root).includes('unseen.txt'));
    expect(scene.shown(channel, root)).not.toContain(backgroundNotices.working);
  });

  test('is watched for longer than other tasks', async ({ onTestFinished }) => {
    const own = await openAppScene({ agent, limits: { ...limits, watchMs: 300 } }, onTestFinished);
    const channel = own.channel();
    const [root, notice] = await noticed(own, channel, 'work for hours');
    const { id = '' } = taskOf(own, 'work for hours') ?? {};
    const checks = () => own.agent.calls.filter(({ path }) => path.endsWith(id)).length;
    const before = checks();
    await own.until('it is checked further', () => checks() > before + 3);
    expect(own.slack.visibleText(notice)).toContain(backgroundNotices.working);
    ends.get('work for hours')?.('completed');
    await own.until('its file is there', () => own.shown(channel, root).includes('hours.txt'));
    expect(own.slack.visibleText(notice)).toBe(backgroundNotices.completed);
  });

  test('is no longer watched after a week, and the line says so', async ({ onTestFinished }) => {
    const short = { ...limits, watchMs: 600, workWatchMs: 1_200 };
    const own = await openAppScene({ agent, limits: short }, onTestFinished);
    const channel = own.channel();
    const [, notice] = await noticed(own, channel, 'work without end');
    await shows(own, notice, 'unwatched');
    expect(taskOf(own, 'work without end')?.status).toBe('running');
  });
});
