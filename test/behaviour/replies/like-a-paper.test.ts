import { describe, expect, test } from 'vitest';
import type { AgentScript } from '../../../sandbox/agent/agent-script.ts';
import type { Channel, Message } from '../../../sandbox/slack/slack-workspace.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { type AppScene, openAppScene } from '../../support/app-scene.ts';

const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(2_000, 7)]);
const rows = (count: number) =>
  ['| gene | p |', '| --- | --- |', ...Array.from({ length: count }, (_, n) => `| GENE${n} | 0.${n} |`)].join(
    '\n',
  );

/** Hold back the ends of answers, by the text of their message. */
const held = new Map<string, PromiseWithResolvers<void>>();

const script: AgentScript = async (turn) => {
  const { text } = turn;
  const wait = async () => {
    const gate = Promise.withResolvers<void>();
    held.set(text, gate);
    await gate.promise;
  };
  if (text.startsWith('formulas')) {
    turn.write('It is CO<sub>2</sub> at $p < 10^{-');
    await wait();
    turn.write('9}$, with $p_{adj}$ of $5 and \\(\\alpha \\times 3\\).\n\n');
    turn.write(
      '| sample | note |\n| --- | --- |\n| A | one<br>two |\n| B | $R^2$ |\n| C | <i>Trp53</i><sup>-/-</sup> |\n',
    );
  }
  if (text.startsWith('figures') && text !== 'figures again') {
    await turn.result('volcano plot.png', 'image/png', png);
    await turn.result('pca.png', 'image/png', png);
    await turn.result('heat.jpg', 'image/jpeg', png);
    turn.write(
      'Above.\n\n![Volcano plot](./figures/volcano%20plot.png)\n\nBetween, see ![PCA](pca.png).\n\n',
    );
    turn.write(
      '![The heat map](heat.jpg)\n\n![Lost](lost.png)\n\n![Elsewhere](https://plots.org/a.png)\n\nBelow.\n\n',
    );
    await wait();
  }
  if (text === 'figures again') turn.write('Again:\n\n![PCA](figures/pca.png)\n\nAs above.');
  if (text === 'references') {
    await turn.tool('search_pubmed', { query: 'SARS' }, () => '{"pmid": "31978945"}');
    turn.write('As shown [2] in GSE32986, and by 10.1038/nature12373.\n\n## Literatur\n\n');
    turn.write('[1] Hata et al., PMID: 16990137, doi:10.1016/j.cell.2006.07.024\n[2] PMID 32015507\n');
  }
  if (text === 'a long table') turn.write(`Before.\n\n${rows(240)}\n\nAfter it.`);
};

const scene = await openAppScene({ agent: { script } });

async function endOf(on: AppScene, text: string): Promise<void> {
  const gate = await on.until('the answer is held', () => held.get(text));
  gate.resolve();
}

function typesIn(on: AppScene, channel: Channel, root: Message): string[] {
  return (on.replies(channel, root)[0]?.blocks ?? []).map(({ type }) => type);
}

function sharedNames(on: AppScene, channel: Channel, root: Message): (string | null)[] {
  return on.replies(channel, root).flatMap(({ fileIds }) => fileIds.map((id) => on.slack.file(id).name));
}

test('formulas, scripts and breaks are plain characters or whole code, also while the answer grows', async () => {
  const channel = scene.channel();
  const root = scene.ask(channel, 'formulas');
  await scene.until('it has begun', () => scene.shown(channel, root).includes('CO₂'));
  expect(scene.shown(channel, root)).not.toMatch(/sub>|10|\$/);
  await endOf(scene, 'formulas');
  await scene.finished(channel, root);
  const shown = scene.shown(channel, root);
  expect(shown).toContain('It is CO₂ at p < 10⁻⁹, with `$p_{adj}$` of $5 and α × 3.');
  expect(shown).toContain('| A | one / two |\n| B | R² |\n| C | Trp53⁻⁄⁻ |');
});

describe.concurrent('figures', () => {
  test('stand where the text has them, once their files are there', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'figures');
    await scene.until('it waits', () =>
      scene.shown(channel, root).includes('Figure: volcano plot.png, below'),
    );
    await endOf(scene, 'figures');
    await scene.finished(channel, root);
    const [reply] = scene.replies(channel, root);
    expect(typesIn(scene, channel, root).slice(0, 7)).toEqual([
      'markdown',
      'image',
      'markdown',
      'image',
      'image',
      'markdown',
      'context',
    ]);
    const pictures = (reply?.blocks ?? []).filter(({ type }) => type === 'image');
    const names = pictures.map(({ slack_file: file }) => scene.slack.file(Object(file).id).name);
    expect(names).toEqual(['volcano plot.png', 'pca.png', 'heat.jpg']);
    expect(pictures[0]).toMatchObject({ alt_text: 'Volcano plot', title: { text: 'Volcano plot' } });
    const shown = scene.shown(channel, root);
    expect(shown).toContain('Between, see Figure: pca.png, below.');
    expect(shown).toContain('Figure: Lost (lost.png)');
    expect(shown).toContain('![Elsewhere](https://plots.org/a.png)');
    expect(shown).not.toMatch(/volcano plot\.png, below|!\[(?!Elsewhere)/);
    expect(shown).toMatch(new RegExp(`pca.png\n.*${strings.resultInAnswer}`));
    expect(sharedNames(scene, channel, root)).toEqual([]);
    // A later answer shows one of them again.
    const later = scene.reply(channel, root, 'figures again');
    await scene.finished(channel, later);
    const last = scene.replies(channel, root).at(-1);
    expect((last?.blocks ?? []).map(({ type }) => type).slice(0, 3)).toEqual([
      'markdown',
      'image',
      'markdown',
    ]);
    expect(last === undefined ? '' : scene.slack.visibleText(last)).not.toContain('Figure');
  });

  test.for([
    ['does not take them in a message', { refusedBlocks: ['image'] }, 3],
    ['never makes out what one is', { unshownFiles: /^pca/ }, 0],
  ] as const)('are shared below where Slack %s', async ([, slack, count], { onTestFinished }) => {
    const own = await openAppScene({ agent: { script }, slack }, onTestFinished);
    const channel = own.channel();
    const text = `figures ${count}`;
    const root = own.ask(channel, text);
    await endOf(own, text);
    await own.finished(channel, root);
    await own.until('it is told', () => own.shown(channel, root).includes('Figure: pca.png, below'));
    await own.until('they are shared', () => sharedNames(own, channel, root).length === count);
    const pictures = typesIn(own, channel, root).filter((type) => type === 'image');
    expect(pictures).toHaveLength(count === 0 ? 2 : 0);
    expect(own.shown(channel, root).includes('Figure: volcano plot.png, below')).toBe(count > 0);
  });
});

test('sources have the numbers of the references and the labels that people use, and name the model', async () => {
  const channel = scene.channel();
  const root = scene.ask(channel, '--model max references');
  await scene.finished(channel, root);
  const shown = scene.shown(channel, root);
  expect(shown).toContain(
    'Sources\n1. PMID 16990137, 10.1016/j.cell.2006.07.024\n2. PMID 32015507\n3. GSE32986\n4. 10.1038/nature12373\n5. PMID 31978945\n',
  );
  expect(shown).toMatch(/1 step in .* · Max model/);
  const { ts } = await scene.messageWithButton(channel, root, 'steps');
  await scene.slack.click({ person: scene.ada.id, channel: channel.id, actionId: 'steps', ts });
  const modal = () => JSON.stringify(scene.slack.modal(scene.ada)?.blocks ?? []);
  await scene.until('the steps are there', () => modal().includes('1. Searched PubMed: SARS'));
});

describe('a table of more than 100 rows', () => {
  test('is one that people can sort, of its first 100 rows, and a file', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'a long table');
    await scene.finished(channel, root);
    const file = await scene.until('the file is there', () =>
      scene.replies(channel, root).find(({ fileIds }) => fileIds.length > 0),
    );
    const csv = String(await scene.slack.fileBytes(file.fileIds[0] ?? ''));
    expect(csv.split('\r\n')).toHaveLength(242);
    expect(csv).toContain('\r\n"GENE239","0.239"\r\n');
    const texts = scene.replies(channel, root).filter(({ fileIds }) => fileIds.length === 0);
    expect(texts).toHaveLength(1);
    const table = texts[0]?.blocks?.find(({ type }) => type === 'data_table');
    expect(table?.rows).toHaveLength(101);
    expect(scene.shown(channel, root)).toContain(strings.firstOfTable(100, 240, 'rows'));
    expect(scene.shown(channel, root)).toContain('After it.');
    expect(scene.shown(channel, root)).toMatch(/Took .* · default model/);
  });

  test('is shown whole where Slack takes no file', async ({ onTestFinished }) => {
    const own = await openAppScene({ agent: { script }, slack: { unshownFiles: /^table/ } }, onTestFinished);
    const channel = own.channel();
    const root = own.ask(channel, 'a long table');
    await own.finished(channel, root);
    expect(own.shown(channel, root)).toContain('GENE239');
    expect(own.shown(channel, root)).not.toContain(strings.firstOfTable(100, 240, 'rows'));
  });
});
