import { expect, onTestFinished, test, vi } from 'vitest';
import type { AgentScript } from '../../../sandbox/agent/agent-script.ts';
import type { Channel, Message, Person } from '../../../sandbox/slack/slack-workspace.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { pause } from '../../support/app-scene.ts';
import { openStartFormScene } from '../../support/start-form-scene.ts';

/** Longer than what is read counts as read at the moment at which its reader was asked about. */
const LONG_MS = 2_200;
/** In every answer, step and result; nobody else says it. */
const SECRET = 'zebrafish';

const script: AgentScript = async (turn) => {
  await turn.tool('search', { query: `${SECRET} lines` }, async () => 'two');
  await turn.result(`${SECRET}.csv`, 'text/csv', 'a,b\n1,2\n');
  turn.write(`There are two ${SECRET} lines.`);
};

// One after the other: faults hit whoever calls.
const starting = await openStartFormScene({ agent: { script } });
const { scene } = starting;
const { slack, agent } = scene;

/** Somebody in a private channel with a finished task that they began. */
async function askedPrivately(): Promise<{ person: Person; channel: Channel; root: Message }> {
  const { person, channel } = privateChannel();
  const root = starting.ask(person, channel, 'which lines are there?');
  await scene.finished(channel, root);
  return { person, channel, root };
}

function privateChannel(isAdmin = false) {
  const person = starting.newPerson();
  person.admin = isAdmin;
  const members = [person, scene.grace];
  const channel = slack.createChannel({ name: `private-${person.name}`, private: true, members });
  return { person, channel };
}

test('a question whose post had to wait goes back to somebody who has left the channel meanwhile', async () => {
  const { person, channel } = privateChannel();
  await starting.command(person, channel, 'new');
  await starting.form(person);
  const fault = { kind: 'status', status: 503 } as const;
  const mend = slack.faults.add({ call: 'chat.postMessage', about: channel.id, fault });
  await starting.send(person, { question: 'asked in time' });
  const posts = () =>
    slack.calls.some(({ method, args }) => method === 'chat.postMessage' && args.channel === channel.id);
  await scene.until('its post has failed', posts);
  slack.kick(channel, person);
  mend();
  const reason = strings.questionRefusals.not_allowed;
  const returned = strings.questionNotPosted(channel.id, reason, 'asked in time');
  const dm = slack.openDm(person);
  await scene.until('it is given back', () => slack.messages(dm).some(({ text }) => text === returned));
  expect(starting.posts(channel, 'asked in time')).toEqual([]);
  const rows = scene.sandbox.bot.store.db.selectFrom('audit_events').select(['kind', 'details']);
  expect(await rows.where('user_id', '=', person.id).where('kind', '=', 'refusal').execute()).toMatchObject([
    { details: { control: 'start', why: 'outsider' } },
  ]);
});

test('a form that was opened in a private channel whose members Slack does not list asks nothing there later', async () => {
  const { person, channel } = privateChannel();
  const unlisted = {
    kind: 'status',
    status: 200,
    body: { ok: false, error: 'fetch_members_failed' },
  } as const;
  const mend = slack.faults.add({ call: 'conversations.members', about: channel.id, fault: unlisted });
  await starting.command(person, channel, 'new');
  await starting.form(person);
  slack.kick(channel, person);
  const { body } = await starting.send(person, { question: 'asked from outside' });
  expect(JSON.stringify(body)).toContain(JSON.stringify(strings.controlRefused.hidden).slice(1, -1));
  await scene.expectStays(() => starting.posts(channel, 'asked from outside'), []);
  mend();
});

test('a form that chooses again counts only while whoever sends it controls the thread', async () => {
  const { person, channel } = privateChannel(true);
  const { settings } = scene.sandbox.bot.store;
  await settings.set(slack.team.id, channel.id, person.id, { task_control: 'admins' });
  const root = starting.ask(scene.grace, channel, '--model ultra what is chosen?');
  await scene.finished(channel, root);
  await starting.press(person, channel, root, 'choose_again');
  await starting.form(person);
  person.admin = false;
  const before = scene.replies(channel, root).length;
  const { body } = await starting.send(person, { ...starting.filled(person), model: 'fast' });
  expect(JSON.stringify(body)).toContain(strings.controlRefused.admins);
  await scene.expectStays(() => scene.replies(channel, root).length, before);
  expect(starting.startedTasks('what is chosen?')).toHaveLength(1);
  person.admin = true;
  await starting.send(person, { ...starting.filled(person), model: 'fast' });
  await scene.until('an admin may choose', () => starting.startedTasks('what is chosen?').length === 2);
});

test('a question that is asked again where a form posted it stays as it was if its asker has left meanwhile', async () => {
  const { person, channel } = privateChannel();
  await starting.command(scene.grace, channel, 'new');
  await starting.form(scene.grace);
  await starting.send(scene.grace, { question: 'what was first?', skill: 'sumary' });
  const root = await starting.post(channel, 'what was first?');
  await scene.finished(channel, root);
  await starting.press(person, channel, root, 'choose_again');
  await starting.form(person);
  const fault = { kind: 'status', status: 503 } as const;
  const mend = slack.faults.add({ call: 'chat.update', about: root.ts, fault });
  await starting.send(person, { question: 'what came late?', skill: 'summary' });
  const isEdited = () =>
    slack.calls.some(({ method, args }) => method === 'chat.update' && args.ts === root.ts);
  await scene.until('its post could not be changed', isEdited);
  slack.kick(channel, person);
  mend();
  const reason = strings.questionRefusals.not_allowed;
  const returned = strings.questionNotPosted(channel.id, reason, 'what came late?');
  const dm = slack.openDm(person);
  await scene.until('it is given back', () => slack.messages(dm).some(({ text }) => text === returned));
  expect(scene.shown(channel, root)).toContain('what was first?');
  expect(JSON.stringify(slack.thread(channel, root.ts))).not.toContain('what came late?');
  await starting.press(scene.grace, channel, root, 'choose_again');
  await starting.form(scene.grace);
  await starting.send(scene.grace, { ...starting.filled(scene.grace), skill: 'summary' });
  await scene.until(
    'others may still ask it again',
    () => scene.sentToAgent('what was first?').texts.length > 0,
  );
});

const { outsider } = strings.controlRefused;
const menuOf = (item: string) => async (person: Person, channel: Channel, root: Message) =>
  starting.choose(person, channel, root, item);
const buttonOf = (id: string) => async (person: Person, channel: Channel, root: Message) =>
  starting.press(person, channel, root, id);

test.each([
  { what: 'the steps of an answer', from: agent, call: /messages\//, open: buttonOf('steps'), why: outsider },
  { what: 'fresh links', from: agent, call: /results/, open: buttonOf('fresh_links'), why: outsider },
  {
    what: 'the settings of the channel',
    from: agent,
    call: 'PUT /projects/{project_id}',
    open: async (person: Person, channel: Channel) => starting.command(person, channel, 'settings'),
    why: strings.controlRefused.outsider,
  },
  {
    what: 'the details of a task',
    from: agent,
    call: /results|tasks\/\{task_id\}$/,
    open: async (person: Person, channel: Channel, root: Message) => {
      slack.openHome(person);
      const value = `${channel.id}/${root.ts}`;
      const isShown = () => JSON.stringify(slack.home(person)?.blocks ?? []).includes(value);
      await scene.until('the tab shows it', isShown);
      await slack.click({ person, view: 'home', actionId: 'task_details', value });
    },
    why: strings.controlRefused.outsider,
  },
  {
    what: 'a form that asks again',
    from: slack,
    call: 'conversations.replies',
    open: menuOf('ask_again'),
    why: outsider,
  },
])('somebody who has left while it was read does not see $what', async (shown) => {
  const { person, channel, root } = await askedPrivately();
  const read = Promise.withResolvers<void>();
  const { faults, calls } = shown.from;
  const before = calls.length;
  const fault = { kind: 'hold', until: read.promise } as const;
  const hits = vi.spyOn(faults, 'hit');
  onTestFinished(() => hits.mockRestore());
  const mend = faults.add({ call: shown.call, fault });
  await shown.open(person, channel, root);
  await scene.until('the window is open', () => slack.modal(person));
  // Its reader was asked about before.
  await scene.until('it is read', () => hits.mock.results.some(({ value }) => value === fault));
  await pause(LONG_MS);
  slack.kick(channel, person);
  mend();
  read.resolve();
  const told = await scene.until('it is filled', () => {
    const text = starting.modalText(person);
    return !text.includes(strings.loading) && text;
  });
  expect(calls.length).toBeGreaterThan(before);
  expect(told).not.toMatch(new RegExp(`${SECRET}|which lines`));
  expect(told).toContain(JSON.stringify(shown.why).slice(1, -1));
});
