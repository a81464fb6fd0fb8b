import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import type { AgentScript } from '../../../sandbox/agent/agent-script.ts';
import type { Channel, Person } from '../../../sandbox/slack/slack-workspace.ts';
import { controlRefused, loading, usage } from '../../../src/render/strings/index.ts';
import { USAGE_FIGURES, type UsageRow } from '../../../src/store/usage-by-month.ts';
import { openAppScene, pause } from '../../support/app-scene.ts';

const script: AgentScript = async (turn) => {
  if (/\bfail\b/.test(turn.text)) throw new Error('The agent fails.');
  turn.write('All is said.');
};
const scene = await openAppScene({ agent: { script } });
const { slack } = scene;
const { store } = scene.sandbox.bot;
const boss = slack.createPerson({ name: 'boss', admin: true });
const [lab, kitchen] = [scene.channel('lab'), scene.channel('kitchen')];
const office = slack.createChannel({ name: 'office', private: true });

/** Longer than what is read counts as read at the moment at which its reader was asked about. */
const LONG_MS = 2_200;

/** The messages of people that the service holds, by the project's channel: the sandbox's own record. */
function heldQuestions(channel: Channel): number {
  const tasks = scene.agent.tasks.filter(({ project }) => project.title === channel.name);
  return tasks.flatMap(({ messages }) => messages.filter(({ role }) => role === 'user')).length;
}

async function rows(by?: 'person'): Promise<UsageRow[]> {
  const found: UsageRow[] = [];
  for await (const row of store.usage.read({ since: new Date(0), workspace: slack.team.id }, by))
    found.push(row);
  return found;
}

const ask = async (channel: Channel, text: string, person: Person = scene.ada) => {
  const root = scene.ask(channel, text, { person });
  await scene.finished(channel, root);
  return root;
};

test('the figures equal a count over what was asked, by channel and model, and by person', async () => {
  const root = await ask(lab, '--model max what is this?');
  const files = [{ name: 'a.csv', bytes: 'a,b\n1,2\n' }];
  await scene.finished(lab, scene.reply(lab, root, 'and that?', { person: scene.grace, files }));
  await ask(lab, 'without a model');
  await ask(lab, 'fail now', scene.grace);
  await ask(office, 'elsewhere');
  // A mention without a question is answered with help, and asks nothing.
  await ask(office, '');
  await ask(kitchen, '');
  const turn = await store.turns.ofMessage({ workspace: root.teamId, channel: lab.id, ts: root.ts });
  await store.feedback.rate({ workspace: root.teamId, turn_id: turn?.id ?? '', user_id: boss.id }, true);

  const all = await rows();
  expect(all.filter((row) => row.channel === kitchen.id)).toEqual([]);
  const of = (channel: Channel) => all.filter((row) => row.channel === channel.id);
  const sum = (found: UsageRow[], figure: (typeof USAGE_FIGURES)[number]) =>
    found.reduce((before, row) => before + row[figure], 0);
  expect(sum(of(lab), 'questions')).toBe(heldQuestions(lab));
  expect(heldQuestions(lab)).toBe(4);
  expect(sum(of(office), 'questions')).toBe(heldQuestions(office));
  expect(of(lab).find(({ model }) => model === 'max')).toMatchObject({
    questions: 2,
    answers: 2,
    filesIn: 1,
    thumbsUp: 1,
  });
  expect(of(lab).find(({ model }) => model === '')).toMatchObject({ questions: 2, answers: 1, failures: 1 });
  const people = await rows('person');
  const ofGrace = people.filter(({ person }) => person === scene.grace.id);
  expect(sum(ofGrace, 'questions')).toBe(2);
  for (const figure of USAGE_FIGURES) expect(sum(people, figure)).toBeCloseTo(sum(all, figure), 0);
});

test('admins see the figures in the Home tab, and get them by person as CSV', async () => {
  slack.openHome(boss);
  await scene.until('the section is there', () =>
    JSON.stringify(slack.home(boss)?.blocks ?? []).includes(usage.heading),
  );
  await slack.click({ person: boss, view: 'home', actionId: 'usage_show' });
  const shown = () => JSON.stringify(slack.modal(boss)?.blocks ?? []);
  await scene.until('the figures are there', () => shown().includes(usage.all));
  expect(shown()).toContain('5 questions · 4 answers');
  expect(shown()).toMatch(/ · 1 file in · 0 files out · 0 stopped · 1 failed · 1 👍/);
  expect(shown()).toContain(`<#${lab.id}> · Max`);
  await slack.click({ person: boss, view: 'home', actionId: 'usage_csv' });
  const dm = slack.openDm(boss);
  const file = await scene.until(
    'the file is there',
    () => slack.messages(dm).flatMap(({ fileIds }) => fileIds)[0],
  );
  const csv = String(await slack.fileBytes(file));
  expect(csv.split('\n')[0]).toBe(
    'month,person,personName,channel,channelName,model,questions,answers,minutes,filesIn,filesOut,stops,failures,thumbsUp,thumbsDown',
  );
  expect(csv).toContain(`"${scene.grace.id}","${scene.grace.name}","${lab.id}","lab","max","1","1"`);
  expect(csv).toContain(`"${scene.ada.name}","${office.id}",""`);
  const month = new Date().getUTCMonth();
  const since = new Date(Date.UTC(new Date().getUTCFullYear(), month - 1)).toISOString().slice(0, 7);
  expect(slack.messages(dm).map(({ text }) => text)).toContain(usage.aboutCsv(since));
  expect(csv).not.toContain('what is this');
});

test('an admin reads that Slack does not say who they are, and not that they are none', async () => {
  const chief = slack.createPerson({ name: 'chief', admin: true });
  slack.openHome(chief);
  const home = () => JSON.stringify(slack.home(chief)?.blocks ?? []);
  await scene.until('the section is there', () => home().includes(usage.heading));
  const fault = { kind: 'status', status: 503 } as const;
  onTestFinished(slack.faults.add({ call: 'users.info', about: chief.id, fault }));
  await slack.click({ person: chief, view: 'home', actionId: 'usage_show' });
  const shown = () => JSON.stringify(slack.modal(chief)?.blocks ?? [loading]);
  await scene.until('it is filled', () => !shown().includes(loading));
  expect(shown()).toContain(controlRefused.unknown);
});

test('an admin who is none any more once slow figures are counted does not get them', async () => {
  const was = slack.createPerson({ name: 'was-chief', admin: true });
  slack.openHome(was);
  const shown = (view: { blocks: unknown } | undefined) => JSON.stringify(view?.blocks ?? []);
  await scene.until('the section is there', () => shown(slack.home(was)).includes(usage.heading));
  await store.db.transaction().execute(async (trx) => {
    await sql`lock table feedback in access exclusive mode`.execute(trx);
    await slack.click({ person: was, view: 'home', actionId: 'usage_csv' });
    await slack.click({ person: was, view: 'home', actionId: 'usage_show' });
    await scene.until('the window is open', () => slack.modal(was));
    await pause(LONG_MS);
    was.admin = false;
  });
  await scene.until('it is filled', () => !shown(slack.modal(was)).includes(loading));
  expect(shown(slack.modal(was))).toContain(JSON.stringify(usage.notAdmin).slice(1, -1));
  expect(shown(slack.modal(was))).not.toContain(usage.all);
  const sent = () => slack.messages(slack.openDm(was));
  await scene.until('an answer is there', () => sent().length > 0);
  expect(sent().flatMap(({ fileIds }) => fileIds)).toEqual([]);
  expect(sent().map(({ text }) => text)).toEqual([usage.notAdmin]);
});

test('nobody else sees them, even by a forged press', async () => {
  slack.openHome(scene.ada);
  await scene.until('the Home tab is there', () => slack.home(scene.ada));
  expect(JSON.stringify(slack.home(scene.ada)?.blocks)).not.toContain('usage_csv');
  const view = { id: 'V1', type: 'home', private_metadata: '', hash: '1' };
  const actions = [
    { action_id: 'usage_csv', type: 'button', value: 'csv', action_ts: '1.000001', block_id: 'b' },
  ];
  const user = { id: scene.ada.id, team_id: slack.team.id };
  const forged = {
    type: 'block_actions',
    team: { id: slack.team.id, domain: 'x' },
    user,
    view,
    actions,
    trigger_id: 'x',
  };
  await slack.deliverRaw('interactive', forged);
  const dm = slack.openDm(scene.ada);
  await scene.until('it is refused', () => slack.messages(dm).some(({ text }) => text === usage.notAdmin));
  expect(slack.messages(dm).flatMap(({ fileIds }) => fileIds)).toEqual([]);
  const trail = scene.sandbox.bot.store.db.selectFrom('audit_events').select('details');
  const refused = await trail.where('user_id', '=', scene.ada.id).where('kind', '=', 'refusal').execute();
  expect(refused).toEqual([{ details: { control: 'usage', by: 'admins', why: 'admins' } }]);
});
