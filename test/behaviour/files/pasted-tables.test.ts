import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { alteredTables } from '../../../src/render/strings/index.ts';
import { openAppScene } from '../../support/app-scene.ts';

// A large table must pass the limit of requests, too.
const scene = await openAppScene({
  transport: 'http',
  // A busy machine takes seconds to read the largest, and must not be sent it again and again meanwhile.
  slack: { ackTimeoutMs: 20_000, retryScale: 1 },
  limits: { maxInlineBytes: 0 },
});
const { agent, slack } = scene;

const rowsOf = (count: number, first: readonly string[] = ['gene', 'p']) => [
  first,
  ...Array.from({ length: count - 1 }, (_, row) => [`G${row + 1}`, `${row}.50`]),
];

/** The contents of the files that went with a message of this task. */
async function filesSent(title: string, at = 0): Promise<{ name: string; text: string }[]> {
  const ids = scene.sentToAgent(title).fileIds[at] ?? [];
  const files = ids.map((id) => agent.files.find((file) => file.id === id));
  return Promise.all(
    files.map(async (file) => ({ name: file?.name ?? '', text: file ? await text(await file.open()) : '' })),
  );
}

describe.concurrent('a pasted table', () => {
  test('is in its place in the text, and goes whole as a CSV file', async () => {
    const channel = scene.channel();
    const table = [
      ['gene', 'p | q', 'note'],
      ['BRCA1', '0.0130', '=1+1'],
      ['TP53', '1e-5', 'two, "quoted"\nlines'],
    ];
    const root = scene.ask(channel, 'which of these is significant?', { table });
    await scene.finished(channel, root);
    expect(scene.sentToAgent('which of these').texts).toEqual([
      'which of these is significant?\n\n' +
        '| gene | p \\| q | note |\n| --- | --- | --- |\n' +
        '| BRCA1 | 0.0130 | =1+1 |\n| TP53 | 1e-5 | two, "quoted"<br>lines |',
    ]);
    expect(await filesSent('which of these')).toEqual([
      {
        name: 'table-1.csv',
        text: 'gene,p | q,note\nBRCA1,0.0130,=1+1\nTP53,1e-5,"two, ""quoted""\nlines"\n',
      },
    ]);
  });

  test('keeps its name beside a file that has the same', async () => {
    const channel = scene.channel();
    const files = [{ name: 'table-1.csv', mime: 'text/csv', bytes: 'a,b\n1,2\n' }];
    const root = scene.ask(channel, 'which of both tables?', { table: rowsOf(3), files });
    await scene.finished(channel, root);
    const sent = await filesSent('which of both tables?');
    expect(sent.map(({ name, text: csv }) => [name, csv.split(',')[0]])).toEqual([
      ['table-1 (2).csv', 'a'],
      ['table-1.csv', 'gene'],
    ]);
  });

  test('with genes that became dates is sent as it is, and the thread and the agent read which', async () => {
    const channel = scene.channel();
    const table = [['gene', 'p'], ...['TP53', '1-Mar', 'EGFR', '2-Sep'].map((gene) => [gene, '0.01'])];
    const said =
      '2 cells of “gene” look like dates that a spreadsheet made: 1-Mar and 2-Sep. 1-Mar may be MARCHF1 or MTARC1.';
    const root = scene.ask(channel, 'which genes are altered?', { table });
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain(`“table-1.csv”: ${said}`);
    const { texts, fileIds } = scene.sentToAgent('which genes are altered');
    expect(texts[0]).toContain(`\n\n${alteredTables}\n- “table-1.csv”: ${said}`);
    expect((await filesSent('which genes are altered'))[0]?.text).toContain('\n1-Mar,0.01\n');
    expect(fileIds[0]).toHaveLength(1);
  });

  test('keeps what apps write in their cells, between the words around it', async () => {
    const channel = scene.channel();
    const link = { type: 'link', url: 'https://example.org/run', text: 'run 7' };
    const words = (...elements: object[]) => ({
      type: 'rich_text',
      elements: [{ type: 'rich_text_section', elements }],
    });
    const blocks = [
      words({ type: 'user', user_id: slack.bot.userId }, { type: 'text', text: ' before' }),
      {
        type: 'table',
        rows: [
          [
            { type: 'raw_text', text: 'who' },
            { type: 'raw_text', text: 'p' },
          ],
          [
            words({ type: 'user', user_id: scene.grace.id }),
            { type: 'raw_number', value: 0.1, text: '0.10' },
          ],
          [words(link), { type: 'raw_number', value: 2.5 }, null],
        ],
      },
      words({ type: 'text', text: 'after' }),
    ];
    const root = scene.ask(channel, 'before, after', { blocks });
    await scene.finished(channel, root);
    expect(scene.sentToAgent('before').texts).toEqual([
      'before\n\n| who | p |  |\n| --- | --- | --- |\n| @grace | 0.10 |  |\n' +
        '| [run 7](https://example.org/run) | 2.5 |  |\n\nafter',
    ]);
    const [file] = await filesSent('before');
    expect(file?.text).toBe('who,p,\n@grace,0.10,\nrun 7 (https://example.org/run),2.5,\n');
  });

  test('of more than 50 rows goes as a file only, which the text names', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'how many rows?', { table: rowsOf(51) });
    await scene.finished(channel, root);
    expect(scene.sentToAgent('how many rows?').texts).toEqual([
      'how many rows?\n\n[Table of 51 rows and 2 columns: see the file table-1.csv]',
    ]);
    const [file] = await filesSent('how many rows?');
    expect(file?.text.split('\n')).toHaveLength(52);
    expect(file?.text).toContain('G50,49.50');
  });

  test('without words waits for the next message like a file', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '', { table: rowsOf(3) });
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('I have “table-1.csv”. Write what the agent should do, and');
    await scene.finished(channel, scene.reply(channel, root, 'now sum it up', { table: rowsOf(60) }));
    expect(scene.sentToAgent('now sum it up').texts[0]).toContain('see the file table-2.csv');
    const names = (await filesSent('now sum it up')).map(({ name }) => name);
    expect(names).toEqual(['table-1.csv', 'table-2.csv']);
  });

  test('gets a number behind those that wait, even if another table beside them was too large', async () => {
    const channel = scene.channel();
    const tableOf = (rows: readonly (readonly string[])[]) => ({
      type: 'table',
      rows: rows.map((row) => row.map((cell) => ({ type: 'raw_text', text: cell }))),
    });
    const mention = [{ type: 'user', user_id: slack.bot.userId }];
    const blocks = [
      { type: 'rich_text', elements: [{ type: 'rich_text_section', elements: mention }] },
      tableOf([Array.from({ length: 1_001 }, () => 'x'), ...Array.from({ length: 50 }, () => ['1'])]),
      tableOf(rowsOf(3)),
    ];
    const root = scene.ask(channel, '', { blocks });
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('I have “table-2.csv”.');
    await scene.finished(channel, scene.reply(channel, root, 'compare both', { table: rowsOf(60) }));
    expect(scene.sentToAgent('compare both').texts[0]).toContain('see the file table-3.csv');
    const names = (await filesSent('compare both')).map(({ name }) => name);
    expect(names).toEqual(['table-2.csv', 'table-3.csv']);
  });

  test('in a message that is asked about goes with the question', async () => {
    const channel = scene.channel();
    const said = slack.say({ person: scene.grace, channel, text: 'our results', table: rowsOf(60) });
    const person = slack.createPerson({ name: 'asker' });
    slack.invite(channel, person);
    await slack.shortcut({ person, callbackId: 'ask_about', channel, ts: said.ts });
    await scene.until('the form is open', () => slack.modal(person)?.callbackId === 'start');
    await scene.until('it is taken', async () => {
      await slack.submitView(person, { question: 'what is odd here?' });
      return slack.modal(person) === undefined;
    });
    await scene.until('it is asked', () => scene.sentToAgent('what is odd here?').texts.length > 0);
    expect(scene.sentToAgent('what is odd here?').texts[0]).toContain('see the file table-1.csv');
    expect((await filesSent('what is odd here?')).map(({ name }) => name)).toEqual(['table-1.csv']);
  });

  test('that an edit changes is a correction, even where the words stay; a preview that Slack adds is none', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'compare the rows', { table: rowsOf(60) });
    await scene.finished(channel, root);
    slack.unfurl(channel, root.ts);
    const changed = rowsOf(60).with(55, ['G55', 'new']);
    slack.edit(channel, root.ts, `${scene.mention} compare the rows`, { table: changed });
    const note = await scene.until('the note is there', () => slack.ephemerals(scene.ada, channel)[0]);
    await slack.click({ person: scene.ada.id, channel: channel.id, ts: note.ts, actionId: 'correct' });
    await scene.until('it is sent', () => scene.sentToAgent('compare the rows').texts.length === 2);
    expect((await filesSent('compare the rows', 1))[0]?.text).toContain('G55,new');
    // The offer of the correction, which becomes what its button did.
    expect(slack.ephemerals(scene.ada, channel)).toHaveLength(1);
  });
});

// It holds every upload, so it runs by itself; before the very large ones, which Slack may tell of again for minutes.
test('a pasted table that is edited while it is uploaded goes as it is then, without what the edit took away', async () => {
  const channel = scene.channel();
  const secret = slack.createChannel({ name: 'secret', members: [scene.grace, scene.ada], private: true });
  const link = slack.permalink(slack.say({ person: scene.grace, channel: secret, text: 'hidden words' }));
  const gate = Promise.withResolvers<void>();
  const lift = agent.faults.add({
    call: 'POST /experimental/files',
    fault: { kind: 'hold', until: gate.promise },
  });
  const root = scene.ask(channel, `hold this ${link}`, { table: rowsOf(60) });
  await scene.until('its file is on the way', () => scene.shown(channel, root).includes('table-1.csv'));
  slack.edit(channel, root.ts, `${scene.mention} hold this, no link`, { table: rowsOf(61) });
  await slack.settled();
  lift();
  gate.resolve();
  await scene.finished(channel, root);
  const [prompt] = scene.sentToAgent('hold this').texts;
  expect(prompt).toContain('hold this, no link');
  expect(prompt).not.toContain('archives/');
  expect((await filesSent('hold this')).map(({ text: csv }) => csv.split('\n').length)).toEqual([62]);
  expect(scene.shown(channel, root)).not.toContain('left out');
});

// One after another: each fills the process for a while.
describe('a very large pasted table', () => {
  test('of more than 50,000 cells is named as left out, and its beginning is in the text', async () => {
    const channel = scene.channel();
    const wide = Array.from({ length: 1_001 }, (_, index) => `c${index}`);
    const table = [wide, ...Array.from({ length: 50 }, () => ['1'])];
    const root = scene.ask(channel, 'is this too large?', { table });
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain(
      '“table-1.csv” was left out: it has more than 50,000 cells.',
    );
    const { texts, fileIds } = scene.sentToAgent('is this too large?');
    expect(texts[0]).toContain('[The table has 1 more row]');
    expect(fileIds).toEqual([[]]);
  });

  test('of 50,000 cells goes whole', async () => {
    const channel = scene.channel();
    const cells = ['1', '2', '3', '4', '5'];
    const table = Array.from({ length: 10_000 }, () => cells);
    const root = scene.ask(channel, 'is this the largest?', { table });
    await scene.finished(channel, root);
    const [file] = await filesSent('is this the largest?');
    expect(file?.text).toBe(`${cells.join(',')}\n`.repeat(10_000));
    expect(scene.shown(channel, root)).not.toContain('left out');
  });

  test('with very long cells is named as left out', async () => {
    const channel = scene.channel();
    const long = 'ATGC'.repeat(2_100_000);
    const title = 'how long is it?';
    const root = scene.ask(channel, title, { table: [['sequence'], [long]] });
    await scene.finished(channel, root);
    expect(scene.sentToAgent(title).texts).toEqual([`${title}\n\n[Left out: attachment “pasted table”]`]);
    expect(scene.shown(channel, root)).toContain("“Attachment “pasted table”” was left out: what's pasted");
  });
});
