import { describe, expect, test } from 'vitest';
import type { AgentScript, AgentTurn } from '../../../sandbox/agent/agent-script.ts';
import type { Channel, Message } from '../../../sandbox/slack/slack-workspace.ts';
import { visibleText } from '../../../sandbox/slack/visible-text.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { type AppScene, openAppScene } from '../../support/app-scene.ts';
import { saveChannelSettings } from '../../support/channel-settings-scene.ts';

/** The steps of runs that wait, by the text of their message: each call lets one end. */
const endStep = new Map<string, () => void>();

const table = (rows: number) =>
  [
    '| gene | p |',
    '| --- | --- |',
    ...Array.from({ length: rows }, (_, row) => `| GENE${row} | 0.0${row} |`),
  ].join('\n');

/** Names 21 sources in its text, one of them twice, and one more in the result of a tool. */
async function nameSources(turn: AgentTurn): Promise<void> {
  await turn.tool(
    'search_web',
    { query: 'BRCA1' },
    () => '{"pmid": "31978945", "page": "https://www.cell.com/1"}',
  );
  const trials = Array.from({ length: 20 }, (_, at) => `- NCT000000${at + 10}`).join('\n');
  turn.write(`As [they say](https://doi.org/10.1016/S0140-6736(20)30183-5):\n\n${trials}\n\n`);
  turn.write('Again 10.1016/S0140-6736(20)30183-5.');
}

const script: AgentScript = async (turn) => {
  if (turn.text === 'a wide one') return turn.write(wideTable);
  if (turn.text === 'with sources') return nameSources(turn);
  const step = () => new Promise<void>((resolve) => endStep.set(turn.text, resolve));
  await turn.tool('read_table', { path: 'counts.csv' }, () => '412 rows');
  turn.write('I read the table. ');
  await turn.tool('search_web', { query: 'BRCA1' }, async () => {
    await step();
    return 'Error: no such page. See "https://clinvar.org/1".';
  });
  await turn.tool('fit_model', {}, async () => {
    await step();
    return 'ok';
  });
  turn.write(`\n\nThe result:\n\n${table(12)}\n\nThat is all.`);
};

const scene = await openAppScene({ agent: { script } });

/** The plan that the thread shows. */
function planIn(on: AppScene, channel: Channel, root: Message) {
  const [reply] = on.replies(channel, root);
  const plan = (reply?.blocks ?? []).find(({ type }) => type === 'plan');
  return (
    plan && { block_id: plan.block_id, tasks: JSON.stringify(plan.tasks), title: String(plan.title), reply }
  );
}

async function endNextStep(on: AppScene, text: string): Promise<void> {
  const end = await on.until('the step waits', () => endStep.get(text));
  endStep.delete(text);
  end();
}

const wide = Array.from({ length: 24 }, (_, at) => `c${at}`);
const wideTable = [wide, wide.map(() => '---'), wide.map((_, at) => `${at}.5`)]
  .map((row) => `| ${row.join(' | ')} |`)
  .join('\n');

describe.concurrent('a run of several steps', () => {
  test('is a plan that changes in place, and at its end one line with a table to sort', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'watch it');
    const early = await scene.until('the plan is there', () => planIn(scene, channel, root));
    expect(early.tasks).toContain('Read table: counts.csv');
    expect(early.tasks).toMatch(/Search web: BRCA1","status":"in_progress"/);
    expect(scene.shown(channel, root)).toContain('I read the table.');
    expect(early.reply?.text).toContain('Search web: BRCA1');
    await endNextStep(scene, 'watch it');
    const late = await scene.until('the third step is there', () => {
      const plan = planIn(scene, channel, root);
      return plan?.tasks.includes('Fit model') === true && plan;
    });
    expect(late.tasks).toMatch(
      /Search web: BRCA1","status":"error","sources":\[{"type":"url","url":"https:\/\/clinvar/,
    );
    expect([late.block_id, late.reply?.ts]).toEqual([early.block_id, early.reply?.ts]);
    await endNextStep(scene, 'watch it');
    await scene.finished(channel, root);
    const [reply, ...others] = scene.replies(channel, root);
    expect(others).toEqual([]);
    const types = reply?.blocks?.map(({ type }) => type);
    expect(types?.slice(0, 4)).toEqual(['markdown', 'data_table', 'markdown', 'context']);
    expect(scene.shown(channel, root)).toMatch(/3 steps in .*\nSteps/);
  });

  test('shows the first columns of a table that is too wide, and attaches all of it', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'a wide one');
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain(strings.firstOfTable(20, 24, 'columns'));
    expect(JSON.stringify(scene.replies(channel, root)[0]?.blocks)).not.toContain('c20');
    const file = await scene.until('the file is shown', () =>
      scene.replies(channel, root).find(({ fileIds }) => fileIds.length > 0),
    );
    const bytes = await scene.slack.fileBytes(file.fileIds[0] ?? '');
    expect(bytes.toString('utf8')).toContain('"22.5","23.5"\r\n');
  });

  test('shows a table that is too wide whole where its file never appears', async ({ onTestFinished }) => {
    const slack = { unshownFiles: /^table\.csv$/ };
    const own = await openAppScene({ agent: { script }, slack }, onTestFinished);
    const channel = own.channel();
    const root = own.ask(channel, 'a wide one');
    await own.finished(channel, root);
    expect(own.shown(channel, root)).toContain('22.5 | 23.5');
    expect(own.shown(channel, root)).not.toContain(strings.firstOfTable(20, 24, 'columns'));
  });

  test('shows everything where Slack knows neither block, each refused once', async ({ onTestFinished }) => {
    const refusedBlocks = ['plan', 'data_table'];
    const own = await openAppScene({ agent: { script }, slack: { refusedBlocks } }, onTestFinished);
    const channel = own.channel();
    for (const text of ['an old workspace', 'the same again']) {
      const root = own.ask(channel, text);
      await own.until('the step is shown', () => own.shown(channel, root).includes('Search web: BRCA1'));
      await endNextStep(own, text);
      await own.until('the next is shown', () => own.shown(channel, root).includes('2 steps done'));
      await endNextStep(own, text);
      await own.finished(channel, root);
      const shown = own.shown(channel, root);
      for (const row of ['| GENE11 | 0.011 |', 'That is all.', '3 steps in']) expect(shown).toContain(row);
    }
    expect(own.slack.calls.filter(({ error }) => error === 'invalid_blocks')).toHaveLength(2);
    const page = await fetch(`http://127.0.0.1:${own.sandbox.bot.port}/metrics`);
    const metrics = await page.text();
    for (const block of refusedBlocks)
      expect(metrics).toContain(`taskthread_degraded_sends_total{block="${block}"} 1`);
  });
});

/** What **Steps** of a reply shows, once it shows this. */
async function stepsModal(channel: Channel, root: Message, wanted: string): Promise<string> {
  const { ts } = await scene.messageWithButton(channel, root, 'steps');
  await scene.slack.click({ person: scene.ada.id, channel: channel.id, actionId: 'steps', ts });
  const modal = () => visibleText(scene.slack.modal(scene.ada)?.blocks);
  await scene.until('the steps are there', () => modal().includes(wanted));
  const shown = modal();
  await scene.slack.closeView(scene.ada);
  return shown;
}

test('a finished answer lists its first 20 sources, Steps lists the rest, and a setting turns both off', async () => {
  const channel = scene.channel();
  const root = scene.ask(channel, 'with sources');
  await scene.finished(channel, root);
  const shown = scene.shown(channel, root);
  expect(shown).toContain('Sources\n1. 10.1016/S0140-6736(20)30183-5\n2. NCT00000010\n');
  expect(shown).toContain('\n20. NCT00000028\nPress Steps for 2 more sources.\n');
  const rest = '21. NCT00000029\n22. PMID 31978945';
  expect(await stepsModal(channel, root, rest)).toContain('BRCA1');
  await saveChannelSettings(scene, channel, { channel_switches: ['show_sources'] });
  const stepless = scene.ask(channel, 'with sources');
  await scene.finished(channel, stepless);
  expect(await stepsModal(channel, stepless, rest)).not.toContain('BRCA1');
  await saveChannelSettings(scene, channel, { channel_switches: ['show_steps'] });
  const quiet = scene.ask(channel, 'with sources');
  await scene.finished(channel, quiet);
  expect(scene.shown(channel, quiet)).toContain('NCT00000010');
  expect(scene.shown(channel, quiet)).not.toContain('Sources');
});
