import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import type { AgentScript } from '../../../sandbox/agent/agent-script.ts';
import { analyst } from '../../../sandbox/agent/analyst.ts';
import type { Channel, Message } from '../../../sandbox/slack/slack-workspace.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { JOB_KIND } from '../../../src/store/jobs/jobs.ts';
import { type AppScene, openAppScene } from '../../support/app-scene.ts';
import { saveChannelSettings } from '../../support/channel-settings-scene.ts';

/** What the agent gets without a word after the answer to its question. */
const MUTE = 'and say no more';
/** What it answers with a question. */
const UNCLEAR = 'compare the plates';
const settings = { AGENT_DIALECT: JSON.stringify({ planModeField: 'plan_mode' }) };
const limits = { settledTaskMs: 2_000, remindMs: 500, silenceMs: 3_600_000, waitingMs: 3_600_000 };
const analyse = analyst();
const script: AgentScript = async (turn) => {
  if (turn.text === UNCLEAR) return turn.write('Both look alike. Which of them is the control?');
  if (!turn.text.includes(MUTE)) return analyse(turn);
  turn.write('I read it first. ');
  await turn.sleep(100_000);
  await turn.ask('Which one?');
  await turn.sleep(90_000_000);
};
const options = {
  agent: { script, behaviour: { messageToRunning: 'accepted', afterAsk: 'same-reply' } },
  settings,
  limits,
} as const;
const scene = await openAppScene(options);
// Here nobody is reminded before the test is over.
const patient = await openAppScene({ ...options, limits: { ...limits, remindMs: 3_600_000 } });

const asked = strings.reminder(scene.ada.id, false);

/** The reminders that a thread shows. */
function reminders(channel: Channel, root: Message, on: AppScene = scene): string[] {
  return on
    .replies(channel, root)
    .map(({ text }) => text)
    .filter((text) => text.includes('waiting for your answer'));
}

async function turnOf(message: Message, on: AppScene = scene) {
  const key = { workspace: message.teamId, channel: message.channel, ts: message.ts };
  return on.sandbox.bot.store.turns.ofMessage(key);
}

async function jobs(channel: Channel, on: AppScene = scene) {
  const { db } = on.sandbox.bot.store;
  return db
    .selectFrom('jobs')
    .selectAll()
    .where('kind', '=', JOB_KIND.reminder)
    .where('channel', '=', channel.id)
    .execute();
}

/** Waits until the bot knows that a turn waits for a person, with a job to remind them. */
async function waits(channel: Channel, root: Message, on: AppScene = scene): Promise<void> {
  await on.until(
    'it is known that the turn waits',
    async () => (await turnOf(root, on))?.waits_since != null,
  );
  expect((await turnOf(root, on))?.waits_for).not.toBeNull();
  expect((await jobs(channel, on)).length).toBeLessThanOrEqual(1);
}

async function jobIsOver(channel: Channel, on: AppScene = scene): Promise<void> {
  await on.until('nothing is left to do', async () => (await jobs(channel, on)).length === 0);
}

describe.concurrent('a question of the agent', () => {
  const quiet = scene.channel();
  // Of one person, only one form is open at a time.
  beforeAll(() => saveChannelSettings(scene, quiet, { channel_switches: ['show_steps'] }));

  test('that nobody answers brings one post that mentions who asked, deleted with the answer', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/ask Which group?\n/slow 9000\n/ask And which dose?');
    await scene.until('ada is reminded', () => reminders(channel, root).length > 0);
    expect(reminders(channel, root)).toEqual([asked]);
    scene.reply(channel, root, 'the treated one');
    await scene.until('the reminder is gone', () => reminders(channel, root).length === 0);
    const first = (await turnOf(root))?.waits_for;
    await scene.until('the run goes on', () => scene.shown(channel, root).includes('Second'));
    await scene.hurry('/ask Which group?');
    await scene.until('the run waits again', async () => {
      const turn = await turnOf(root);
      return turn?.waits_since != null && turn.waits_for !== first;
    });
    await jobIsOver(channel);
    expect(reminders(channel, root)).toEqual([]);
    await scene.finished(channel, scene.reply(channel, root, 'the higher one'));
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('You answered "the higher one"');
    expect(reminders(channel, root)).toEqual([]);
  });

  test('mentions nobody in a direct message', async () => {
    const person = scene.slack.createPerson({ name: 'rosa' });
    const channel = scene.slack.openDm(person);
    const root = scene.slack.say({ person, channel, text: '/ask Which cells?' });
    await scene.until('she is reminded', () => reminders(channel, root).length > 0);
    expect(reminders(channel, root)).toEqual([strings.reminder(undefined, false)]);
    await scene.finished(
      channel,
      scene.slack.say({ person, channel, thread: root.ts, text: 'the old ones' }),
    );
    await scene.until('the reminder is gone', () => reminders(channel, root).length === 0);
  });

  test('brings no post after an answer or a stop', async () => {
    const channel = patient.channel();
    const answered = patient.ask(channel, '/ask Which of these?');
    const stopped = patient.ask(channel, '/ask Which of those?');
    for (const root of [answered, stopped])
      await patient.until('it waits', async () => (await turnOf(root, patient))?.waits_since != null);
    expect(await jobs(channel, patient)).toHaveLength(2);
    patient.reply(channel, answered, 'the first');
    const { ts } = await patient.messageWithButton(channel, stopped, 'stop');
    await patient.slack.click({ person: patient.ada, channel, ts, actionId: 'stop' });
    await jobIsOver(channel, patient);
    for (const root of [answered, stopped]) {
      expect((await turnOf(root, patient))?.waits_since).toBeNull();
      expect(reminders(channel, root, patient)).toEqual([]);
    }
  });

  test('has its answer with a message that was on its way before', async () => {
    const channel = patient.channel();
    const root = patient.ask(channel, `ask ${MUTE}`);
    await patient.until('it works', () => patient.shown(channel, root).includes('I read it first.'));
    const task = patient.agent.tasks.findLast(({ title }) => title.includes(MUTE));
    const released = Promise.withResolvers<void>();
    const call = 'POST /experimental/tasks/{task_id}/messages';
    const hold = { kind: 'hold', until: released.promise } as const;
    patient.agent.faults.add({ call, about: task?.id ?? '', fault: hold, times: 1 });
    patient.reply(channel, root, 'the early one');
    await patient.until('the run asks', async () => (await turnOf(root, patient))?.waits_for != null);
    expect((await turnOf(root, patient))?.waits_since).not.toBeNull();
    released.resolve();
    await patient.until('it waits no more', async () => (await turnOf(root, patient))?.waits_since === null);
  });

  test('takes its post back after a stop', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/ask Which way?');
    await scene.until('ada is reminded', () => reminders(channel, root).length > 0);
    const { ts } = await scene.messageWithButton(channel, root, 'stop');
    await scene.slack.click({ person: scene.ada, channel, ts, actionId: 'stop' });
    await scene.finished(channel, root);
    await jobIsOver(channel);
    expect(reminders(channel, root)).toEqual([]);
  });

  test('takes its post back in a channel that was closed meanwhile', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/ask Which door?');
    await scene.until('ada is reminded', () => reminders(channel, root).length > 0);
    await saveChannelSettings(scene, channel, { channel_answers_here: 'off' });
    const { db } = scene.sandbox.bot.store;
    const isReminder = db
      .updateTable('jobs')
      .set({ due_at: new Date(0) })
      .where('channel', '=', channel.id);
    await scene.until('the job is over', async () => {
      await isReminder.where('claim_id', 'is', null).execute();
      return (await jobs(channel)).length === 0;
    });
    expect(reminders(channel, root)).toEqual([]);
  });

  test('brings no post where the channel has turned it off, and the fourth of a thread in an hour later', async () => {
    const busy = scene.channel();
    const [inQuiet, inBusy] = [scene.ask(quiet, '/ask Which one?'), scene.ask(busy, 'hello')];
    await scene.finished(busy, inBusy);
    const { db } = scene.sandbox.bot.store;
    for (const at of [1, 2, 3]) {
      const id = `0190a000-0000-7000-8000-00000000000${at}`;
      const place = sql`${busy.teamId}, ${id}::uuid, ${busy.id}, ${inBusy.ts}::numeric`;
      await sql`
        insert into turns (workspace, id, channel, thread_ts, message_ts, asked_by, outcome, finished_at, waits_for)
        values (${place}, ${at}, ${scene.ada.id}, 'completed', now(), 'earlier')`.execute(db);
      await sql`
        insert into posts (workspace, turn_id, channel, thread_ts, part, dedupe_key, state)
        values (${place}, 'reminder', ${id}, 'gone')`.execute(db);
    }
    const again = scene.reply(busy, inBusy, '/ask Which one?');
    await waits(quiet, inQuiet);
    await jobIsOver(quiet);
    expect(reminders(quiet, inQuiet)).toEqual([]);
    await waits(busy, again);
    await scene.expectStays(() => reminders(busy, inBusy), []);
    const ago = sql<Date>`intended_at - interval '1 hour'`;
    await db.updateTable('posts').set({ intended_at: ago }).where('channel', '=', busy.id).execute();
    const isDue = db
      .updateTable('jobs')
      .set({ due_at: new Date(0) })
      .where('channel', '=', busy.id);
    await scene.until('ada is reminded of the fourth', async () => {
      await isDue.where('kind', '=', JOB_KIND.reminder).where('claim_id', 'is', null).execute();
      return reminders(busy, inBusy).length > 0;
    });
  });

  test('keeps its one post over a restart, also where Slack lost its answer, until it is answered', async ({
    onTestFinished,
  }) => {
    const own = await openAppScene(options, onTestFinished);
    const channel = own.channel();
    own.slack.faults.add({
      call: 'chat.postMessage',
      about: 'waiting for your answer',
      fault: { kind: 'lost' },
      times: 1,
    });
    const root = own.ask(channel, '/ask Which of the two?');
    await own.until('ada is reminded', () => reminders(channel, root, own).length > 0);
    await own.sandbox.restartBot();
    await own.until('it is known that there is a reminder', async () => {
      const turn = await turnOf(root, own);
      return turn && (await own.sandbox.bot.store.personWaits.get(turn))?.reminder === 'posted';
    });
    expect(reminders(channel, root, own)).toHaveLength(1);
    own.slack.faults.add({ call: 'chat.delete', fault: { kind: 'lost' }, times: 1 });
    await own.finished(channel, own.reply(channel, root, 'the second'));
    await jobIsOver(channel, own);
    expect(reminders(channel, root, own)).toEqual([]);
  });
});

test.concurrent('an answer that ends with a question says so, and brings no post', async () => {
  const channel = scene.channel();
  const root = scene.ask(channel, UNCLEAR);
  await scene.finished(channel, root);
  expect(scene.shown(channel, root)).toContain(strings.answerAsks);
  expect(await jobs(channel)).toEqual([]);
});

describe.concurrent('a plan', () => {
  test('that nobody answers brings one post, deleted when somebody presses a button', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '--plan fit the curves');
    await scene.finished(channel, root);
    await scene.until('ada is reminded', () => reminders(channel, root).length > 0);
    expect(reminders(channel, root)).toEqual([strings.reminder(scene.ada.id, true)]);
    const { ts } = await scene.messageWithButton(channel, root, 'go_ahead');
    await scene.slack.click({ person: scene.ada, channel, ts, actionId: 'go_ahead' });
    await scene.until('the reminder is gone', () => reminders(channel, root).length === 0);
    await jobIsOver(channel);
    expect(reminders(channel, root)).toEqual([]);
  });

  test('needs no answer any more once somebody has said stop', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '--plan weigh the mice');
    await scene.until('ada is reminded', () => reminders(channel, root).length > 0);
    scene.reply(channel, root, 'stop');
    await scene.until('the reminder is gone', () => reminders(channel, root).length === 0);
    await jobIsOver(channel);
    expect((await turnOf(root))?.waits_since).toBeNull();
  });
});

test.concurrent('what waits for a person stands first in their Home tab and in the answer to status', async () => {
  const person = patient.slack.createPerson({ name: 'mira' });
  const channel = patient.channel();
  const say = (text: string) => patient.ask(channel, text, { person });
  const [question, plan, slow] = [say('/ask Which lane?'), say('--plan read the gel'), say('/silent 90000')];
  await waitsAll();
  await patient.slack.command({ person, channel, command: '/agent', text: 'status' });
  const answer = await patient.until('it is answered', () => patient.slack.ephemerals(person, channel)[0]);
  const status = patient.slack.visibleText(answer);
  const places = ['Waiting for you', 'Which lane?', strings.command.yourTasks, '/silent 90000'];
  expect(places.map((text) => status.indexOf(text))).toEqual(
    places.map((text) => status.indexOf(text)).toSorted((a, b) => a - b),
  );
  expect(status).toContain('read the gel');
  patient.slack.openHome(person);
  const home = await patient.until('the tab is shown', () => {
    const text = JSON.stringify(patient.slack.home(person)?.blocks ?? []);
    return text.includes(strings.home.yourTasks) && text;
  });
  const [waiting = '', ...below] = home.split(strings.home.yourTasks);
  expect(below.join().split(strings.tasks.states.asking)).toHaveLength(3);
  expect(below.join()).not.toContain(`\n${strings.tasks.states.completed}`);
  expect(waiting).toContain(strings.home.waiting);
  expect(waiting).toContain('Which lane?');
  expect(waiting).toContain('read the gel');
  expect(waiting).toContain(strings.tasks.states.asking);
  expect(waiting).not.toContain('/silent 90000');
  expect(slow.ts).not.toBe('');

  async function waitsAll(): Promise<void> {
    await patient.finished(channel, plan);
    for (const root of [question, plan])
      await patient.until('it waits', async () => (await turnOf(root, patient))?.waits_since != null);
    await patient.until('the other runs', () =>
      patient.agent.tasks.some(({ title, status }) => title === '/silent 90000' && status === 'running'),
    );
  }
});

test.concurrent('a turn that ends without an answer after more than two minutes says so with a mention', async ({
  onTestFinished,
}) => {
  const own = await openAppScene({}, onTestFinished);
  const { db } = own.sandbox.bot.store;
  const channel = own.channel();
  const quick = own.ask(channel, '--skill sumary what is refused at once?');
  await own.finished(channel, quick);
  await sql`alter table turns alter column started_at set default now() - interval '5 minutes'`.execute(db);
  const said = strings.endMention(own.ada.id, 'failed', 5 * 60_000);
  const root = own.ask(channel, '--skill sumary what is refused after a while?');
  await own.until('it is said', () => own.replies(channel, root).at(-1)?.text === said);
  expect(own.shown(channel, root)).toContain('no skill called “sumary”');
  expect(own.shown(channel, quick)).not.toContain("this didn't work");
  expect(own.replies(channel, root).filter(({ text }) => text === said)).toHaveLength(1);
});

test.concurrent('a turn that took more than two minutes ends with a mention, with results too', async ({
  onTestFinished,
}) => {
  const own = await openAppScene({ agent: { script } }, onTestFinished);
  const { db } = own.sandbox.bot.store;
  await sql`alter table turns alter column started_at set default now() - interval '5 minutes'`.execute(db);
  const channel = own.channel();
  const root = own.ask(channel, '/files 1');
  await own.finished(channel, root);
  const texts = () => own.replies(channel, root).map(({ text }) => text);
  const ends = (text: string) => own.until(`the last post is "${text}"`, () => texts().at(-1) === text);
  await ends(strings.endMention(own.ada.id, 'done', 5 * 60_000));
  expect(texts().join()).toContain('note-1.txt');
  await own.finished(channel, own.reply(channel, root, UNCLEAR));
  await ends(strings.endMention(own.ada.id, 'asks', 5 * 60_000));
  const stopped = strings.endMention(own.ada.id, 'cancelled', 5 * 60_000);
  for (const [person, last] of [
    [own.grace, stopped],
    // She knows of it.
    [own.ada, strings.stopped('ada')],
  ] as const) {
    const slow = own.ask(channel, '/slow 100000');
    const { ts } = await own.messageWithButton(channel, slow, 'stop');
    await own.until('the agent writes', () => own.shown(channel, slow).includes('Second'));
    await own.slack.click({ person, channel, ts, actionId: 'stop' });
    await own.finished(channel, slow);
    const isSaid = () => own.slack.visibleText(own.replies(channel, slow).at(-1) ?? slow).includes(last);
    await own.until(`the last post says "${last}"`, isSaid);
    expect(own.shown(channel, slow)).not.toContain('the answer is ready');
  }
});

test.concurrent('what waits in a channel that a person has left is not shown to them', async () => {
  const person = patient.slack.createPerson({ name: 'nils' });
  const channel = patient.channel();
  const root = patient.ask(channel, 'A title of others');
  await patient.finished(channel, root);
  const reply = patient.reply(channel, root, 'Tell me:\n/ask Which lane?', { person });
  await patient.until('it waits', async () => (await turnOf(reply, patient))?.waits_since != null);
  const { tasks } = patient.sandbox.bot.store;
  expect(await tasks.waitingFor(patient.slack.team.id, person.id, 10)).toHaveLength(1);
  patient.slack.kick(channel, person);
  patient.slack.openHome(person);
  const home = await patient.until('the tab is shown', () => {
    const text = JSON.stringify(patient.slack.home(person)?.blocks ?? []);
    return text.includes(strings.home.yourTasks) && text;
  });
  expect(home).not.toContain(strings.home.waiting);
  expect(home).not.toContain('A title of others');
});
