import { expect, test, vi } from 'vitest';
import { textOf } from '../../../sandbox/agent/records.ts';
import type { Channel, Message } from '../../../sandbox/slack/slack-workspace.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { openAppScene } from '../../support/app-scene.ts';
import { withinMs } from '../../support/busy-machine.ts';

// Only what a test is about passes a message on: the silences are longer than the tests.
const UNHURRIED = { silenceMs: 3_600_000, waitingMs: 3_600_000, passOnMs: 3_600_000 };
const scene = await openAppScene({
  agent: { behaviour: { messageToRunning: 'accepted', afterAsk: 'same-reply' } },
  settings: { TASK_CONTROL: 'starter' },
  limits: { ...UNHURRIED, settledTaskMs: 4_000 },
});
const { ada, grace, slack } = scene;

function note(channel: Channel) {
  return scene.until('the writer gets a button', () =>
    channel.ephemerals.find(({ text }) => text === strings.messageQueued),
  );
}

/** When the service got each message of people in a task, and when each of them was written in Slack (ms). */
function delays(written: readonly Message[]): number[] {
  const got = scene.agent.tasks.flatMap(({ messages }) => messages);
  return written.map(({ ts, text }) => {
    const at = got.find(({ role, content }) => role === 'user' && textOf(content).includes(text))?.createdAt;
    return (at ?? Number.POSITIVE_INFINITY) - Number(ts) * 1_000;
  });
}

test.concurrent("a message that waits is passed on at once when the agent's last words are a question", async () => {
  const channel = scene.channel();
  const root = scene.ask(channel, '/slow 9000\n/ask Which of the groups?');
  await scene.until('the agent writes', () => scene.shown(channel, root).includes('Second 1'));
  const early = scene.reply(channel, root, 'the treated ones');
  await slack.settled();
  await scene.hurry('/slow 9000');
  await scene.finished(channel, early);
  expect(scene.shown(channel, root)).toContain('You answered "the treated ones"');
  expect(scene.sentToAgent('/slow 9000').texts).toHaveLength(2);
});

test.concurrent('an answer to a question reaches the service within 12 seconds', async () => {
  const channel = scene.channel();
  const root = scene.ask(channel, '/ask Which of the doses?');
  await scene.until('the thread says that the agent asks', () =>
    scene.shown(channel, root).includes(strings.agentAsks),
  );
  const answer = scene.reply(channel, root, 'the higher dose');
  await scene.finished(channel, answer);
  expect(delays([answer])[0]).toBeLessThan(withinMs(12_000));
});

test.concurrent('a message after an answered question gets no note that the agent is still working', async ({
  onTestFinished,
}) => {
  const own = await openAppScene({ agent: { behaviour: { afterAsk: 'same-reply' } } }, onTestFinished);
  const channel = own.channel();
  const root = own.ask(channel, '/ask Which of the mice?');
  await own.until('the thread says that the agent asks', () =>
    own.shown(channel, root).includes(strings.agentAsks),
  );
  const answer = own.reply(channel, root, 'the older ones');
  await own.finished(channel, root);
  expect(own.shown(channel, root)).toContain('You answered "the older ones"');
  const key = { workspace: own.slack.team.id, channel: channel.id, ts: answer.ts };
  expect((await own.sandbox.bot.store.turns.ofMessage(key))?.finished_at).toBeNull();
  const next = own.reply(channel, root, 'How many are there?');
  await own.finished(channel, next);
  expect(channel.ephemerals.map(({ text }) => text)).not.toContain(strings.messageQueued);
});

test.concurrent('an answer gets no note while its run looks for messages that wait', async () => {
  const channel = scene.channel();
  const gate = Promise.withResolvers<void>();
  const { turns } = scene.sandbox.bot.store;
  const unfinishedPassedOn = turns.unfinishedPassedOn.bind(turns);
  const look = vi.spyOn(turns, 'unfinishedPassedOn').mockImplementation(async (thread) => {
    if (thread.channel === channel.id) await gate.promise;
    return unfinishedPassedOn(thread);
  });
  const root = scene.ask(channel, '/ask Which of the cages?');
  await scene.until('it looks', () => look.mock.calls.some(([thread]) => thread.channel === channel.id));
  const answer = scene.reply(channel, root, 'the lower ones');
  await slack.settled();
  look.mockRestore();
  gate.resolve();
  await scene.finished(channel, answer);
  expect(channel.ephemerals).toEqual([]);
});

test.concurrent('a message gets no note while a finished turn posts its results', async ({
  onTestFinished,
}) => {
  const own = await openAppScene({}, onTestFinished);
  const posted = Promise.withResolvers<void>();
  const hold = { kind: 'hold', until: posted.promise } as const;
  own.agent.faults.add({ call: /^GET .*\/results$/, fault: hold });
  const channel = own.channel();
  const root = own.ask(channel, 'one with results');
  const { turns } = own.sandbox.bot.store;
  const turnOf = ({ ts }: Message) =>
    turns.ofMessage({ workspace: own.slack.team.id, channel: channel.id, ts });
  await own.until('its reply is over', async () => (await turnOf(root))?.settled_at != null);
  const next = own.reply(channel, root, 'and another one');
  await own.slack.settled();
  posted.resolve();
  await own.finished(channel, next);
  expect(channel.ephemerals).toEqual([]);
});

test.concurrent('messages that wait have one note, whose button passes them on once, for who may control the thread', async () => {
  const channel = scene.channel();
  const root = scene.ask(channel, '/silent 9000', { person: grace });
  await scene.until('the agent works', () => scene.agent.tasks.some(({ title }) => title === '/silent 9000'));
  const next = scene.reply(channel, root, 'and the other one');
  const { ts } = await note(channel);
  const third = scene.reply(channel, root, 'and a third one');
  await scene.makeKnown(scene.ada);
  await scene.until('both wait', async () => {
    const { messages } = scene.sandbox.bot.store;
    const thread = { workspace: slack.team.id, channel: channel.id, thread_ts: root.ts };
    return messages.hasEarlierWaiting(thread, ada.id, third.ts);
  });
  const press = { channel, ts, actionId: 'send_now' };
  await Promise.all([slack.click({ ...press, person: ada }), slack.click({ ...press, person: ada })]);
  await scene.until('the note says so', () =>
    channel.ephemerals.some(({ text }) => text === strings.sendNowTooLate('sent')),
  );
  await scene.until('the thread says so', () =>
    scene.shown(channel, root).includes(strings.messagePassedOn('ada')),
  );
  await scene.hurry('/silent 9000');
  await Promise.all([next, third].map((message) => scene.finished(channel, message)));
  expect(channel.ephemerals).toHaveLength(1);
  expect(scene.sentToAgent('/silent 9000').texts).toEqual([
    '/silent 9000',
    `${strings.unnamedWriter('grace')}\n\nada:\n\nand the other one\n\nand a third one`,
  ]);
});

test.concurrent('the note with Send now says that the service takes no message for now, and nothing else does', async ({
  onTestFinished,
}) => {
  const strict = await openAppScene(
    { agent: { behaviour: { messageToRunning: 409 } }, limits: UNHURRIED },
    onTestFinished,
  );
  const channel = strict.channel();
  const root = strict.ask(channel, '/slow 600000');
  await strict.until('the agent works', () => strict.shown(channel, root).includes('Second 1'));
  const next = strict.reply(channel, root, 'and the other one');
  const noteOf = (text: string) =>
    strict.until(`${text} is said`, () => channel.ephemerals.find((one) => one.text === text));
  const press = { person: strict.ada, channel, ts: (await noteOf(strings.messageQueued)).ts };
  await Promise.all([1, 2].map(() => strict.slack.click({ ...press, actionId: 'send_now' })));
  await noteOf(strings.notPassedOn);
  const key = { workspace: strict.slack.team.id, channel: channel.id, ts: next.ts };
  // The second press may have come after the first was told.
  const waiting = await strict.until('no press is under way', async () => {
    const message = await strict.sandbox.bot.store.messages.get(key);
    return message?.is_urgent === false ? message : undefined;
  });
  expect(waiting.state).toBe('waiting');
  expect(channel.ephemerals.map(({ text }) => text)).toEqual([strings.notPassedOn]);
  const shown = JSON.stringify(channel.ephemerals);
  expect(shown).toContain('"send_instead"');
  expect(shown).not.toContain('"send_now"');
  const { ts } = await noteOf(strings.notPassedOn);
  await strict.slack.click({ ...press, ts, actionId: 'send_instead' });
  await strict.finished(channel, next);
  expect(channel.ephemerals).toHaveLength(1);
  expect(JSON.stringify(channel.ephemerals)).not.toContain('"button"');
});

test.concurrent.each(['stopped', 'discarded'])(
  'the note with Send now says that its message was %s',
  async (what) => {
    const channel = scene.channel();
    const question = `/silent 9001 ${what}`;
    const root = scene.ask(channel, question, { person: grace });
    await scene.until('the agent works', () => scene.agent.tasks.some(({ title }) => title === question));
    scene.reply(channel, root, 'and the other one');
    const { ts } = await note(channel);
    const reply = await scene.messageWithButton(channel, root, 'stop');
    await slack.click({ channel, ts: reply.ts, actionId: 'stop', person: grace });
    if (what === 'discarded') {
      const notice = await scene.messageWithButton(channel, root, 'discard_paused');
      await slack.click({ channel, ts: notice.ts, actionId: 'discard_paused', person: grace });
      await scene.until('it is discarded', () =>
        scene.shown(channel, root).includes("the agent won't see it"),
      );
    }
    await slack.click({ channel, ts, actionId: 'send_now', person: ada });
    const told = what === 'stopped' ? strings.waitsBehindStop('grace') : strings.sendNowTooLate('withdrawn');
    await scene.until('the note says so', () =>
      channel.ephemerals.some((one) => one.ts === ts && one.text === told),
    );
    expect(channel.ephemerals).toHaveLength(1);
    expect(JSON.stringify(channel.ephemerals)).not.toContain('"button"');
  },
);

/** A message that waits behind a silent run, and the note with its buttons. */
async function waitsBehind(question: string, text = 'and the other one') {
  const channel = scene.channel();
  const root = scene.ask(channel, question, { person: grace });
  await scene.until('the agent works', () => scene.agent.tasks.some(({ title }) => title === question));
  const next = scene.reply(channel, root, text);
  await scene.makeKnown(ada);
  const { ts } = await note(channel);
  const press = () => slack.click({ channel, ts, actionId: 'send_now', person: ada });
  const told = (sentence: string) =>
    scene.until(`the note says: ${sentence}`, () =>
      channel.ephemerals.some((one) => one.ts === ts && one.text === sentence),
    );
  return { channel, root, next, press, told };
}

/** One private note, without a button. */
function expectOneNote(channel: Channel): void {
  expect(channel.ephemerals).toHaveLength(1);
  expect(JSON.stringify(channel.ephemerals)).not.toContain('"button"');
}

test.concurrent('the note with Send now says that the agent already has its message', async () => {
  const { channel, next, press, told } = await waitsBehind('/silent 9005 that ends');
  await scene.hurry('/silent 9005 that ends');
  await scene.finished(channel, next);
  await press();
  await told(strings.sendNowTooLate('sent'));
  expectOneNote(channel);
  expect(scene.sentToAgent('/silent 9005 that ends').texts).toHaveLength(2);
});

test.concurrent('the note with Send now says that its message was deleted', async () => {
  const { channel, next, press, told } = await waitsBehind('/silent 9002 before a deletion');
  slack.remove(channel, next.ts);
  await slack.settled();
  await press();
  await told(strings.sendNowTooLate('withdrawn'));
  expectOneNote(channel);
  expect(scene.sentToAgent('/silent 9002').texts).toHaveLength(1);
});

test.concurrent('the note with Send now tells of what its writer wrote after a message that they deleted', async () => {
  const { channel, root, next, press, told } = await waitsBehind('/silent 9003 and two more', 'not this one');
  const other = scene.reply(channel, root, 'but this one');
  await slack.settled();
  slack.remove(channel, next.ts);
  await slack.settled();
  await press();
  await told(strings.sendNowTooLate('sent'));
  await scene.hurry('/silent 9003');
  await scene.finished(channel, other);
  expectOneNote(channel);
  expect(scene.sentToAgent('/silent 9003 and two').texts.at(-1)).toContain('but this one');
});

test.concurrent('the note with Send now says that its message has gone where the run ended meanwhile', async () => {
  const { channel, next, press, told } = await waitsBehind('/silent 9004 over too soon');
  const task = scene.agent.tasks.findLast(({ title }) => title === '/silent 9004 over too soon');
  const gate = Promise.withResolvers<void>();
  const call = /^POST .*\/messages$/;
  const hold = { kind: 'hold', until: gate.promise } as const;
  scene.agent.faults.add({ call, about: task?.id ?? '?', fault: hold, times: 1 });
  await press();
  await told(strings.passingOn(1));
  await scene.hurry('/silent 9004');
  await scene.until('the run is over', () => task?.status === 'completed');
  gate.resolve();
  await told(strings.sendNowTooLate('sent'));
  await scene.finished(channel, next);
  expectOneNote(channel);
  expect(scene.sentToAgent('/silent 9004 over').texts).toHaveLength(2);
});

test.concurrent('the note with Send now says that its message was refused, and another note why', async ({
  onTestFinished,
}) => {
  const behaviour = { messageToRunning: 'accepted' } as const;
  const settings = { TURNS_PER_HOUR_PERSON: '1' };
  const own = await openAppScene({ agent: { behaviour }, limits: UNHURRIED, settings }, onTestFinished);
  const channel = own.channel();
  const first = own.ask(channel, 'the only one of ada');
  await own.finished(channel, first);
  const root = own.ask(channel, '/silent 9000', { person: own.grace });
  await own.until('the agent works', () => own.agent.tasks.some(({ title }) => title === '/silent 9000'));
  own.reply(channel, root, 'one too many');
  const { ts } = await own.until('there is a note', () =>
    channel.ephemerals.find(({ text }) => text === strings.messageQueued),
  );
  await own.slack.click({ person: own.ada, channel, ts, actionId: 'send_now' });
  const told = () => channel.ephemerals.find((one) => one.ts === ts)?.text;
  await own.until('the note says so', () => told() === strings.sendNowTooLate('refused'));
  await own.until('the other note is there', () => channel.ephemerals.length > 1);
  expect(channel.ephemerals.map(({ text }) => text)).toEqual([
    strings.sendNowTooLate('refused'),
    expect.stringContaining('the limit for one person'),
  ]);
  expect(JSON.stringify(channel.ephemerals)).not.toContain('"button"');
  expect(own.sentToAgent('/silent 9000').texts).toHaveLength(1);
});
