import { Readable } from 'node:stream';
import fc from 'fast-check';
import { PNG } from 'pngjs';
import { describe, expect, test } from 'vitest';
import { columnChart } from '../../../sandbox/agent/column-chart.ts';
import { sampleReport } from '../../../sandbox/agent/sample-report.ts';
import { summarizeTable, summaryCsv } from '../../../sandbox/agent/table-summary.ts';
import { get, reached, services, type TestClient, textOf } from '../../support/agent-test-client.ts';

const start = services();

/** What the analyst answers to a message, once the task has settled. */
async function answerTo(client: TestClient, task: string, content: string, more: object = {}) {
  const { assistant_message } = await client.send(task, content, more);
  const id = assistant_message?.id ?? '';
  await reached(client.service, id, 'completed');
  return client.message(task, id);
}

describe('the analyst', () => {
  test('summarises a table, leaves two results and remembers its figures for later questions', async () => {
    const client = await start();
    const project = await client.project();
    const file = await client.upload(
      project,
      'cells.tsv',
      'well\tod\tdose\nA1\t0.5\t1\nA2\t1.5\t\nA3\t2.5\t4\n',
    );
    const task = await client.task(project);
    const reply = await answerTo(client, task, 'Please look', { file_ids: [file] });
    const call = ['tool_use', 'tool_result'];
    expect(reply.content.map(({ type }) => type)).toEqual([
      ...['text', ...call, 'text', ...call],
      ...['text', ...call, 'text'],
    ]);
    expect(textOf(reply)).toContain('`dose` is missing in 1 row.');
    expect(textOf(reply)).toContain('| od | 3 | 1.5 | 0.5 | 2.5 | 1 |');
    const { data } = await client.results(task);
    expect(data.map(({ name }) => name)).toEqual(['cells-summary.csv', 'cells-chart.png']);
    const summary = await get(data[0]?.download_url);
    expect(summary.bytes.toString()).toBe(
      'column,count,mean,min,max,sd\nod,3,1.5,0.5,2.5,1\ndose,2,2.5,1,4,2.12132\n',
    );
    const chart = PNG.sync.read((await get(data[1]?.download_url)).bytes);
    expect(chart.width).toBeGreaterThan(chart.height);
    const followUp = await answerTo(client, task, 'What is the mean of dose, and how many rows are there?');
    expect(textOf(followUp)).toContain('mean of `dose` in `cells.tsv`: **2.5**');
    expect(textOf(followUp)).toContain('**3 rows**');
    expect(textOf(await answerTo(client, task, 'Thanks'))).toContain('the columns `well`, `od`, `dose`.');
  });

  test('shows a plan first where the task wants one, and does the work once it may go ahead', async () => {
    const client = await start();
    const project = await client.project();
    const file = await client.upload(project, 'cells.csv', 'well,od\nA1,0.5\nA2,1.5\n');
    const task = await client.task(project, { plan_mode: true });
    const plan = await answerTo(client, task, 'Please look', { file_ids: [file] });
    expect(textOf(plan)).toMatch(/^My plan:\s+1\. .*Shall I go ahead\?$/s);
    expect((await client.results(task)).data).toEqual([]);
    expect(textOf(await answerTo(client, task, 'Go ahead.'))).toContain('| od | 2 |');
    expect((await client.results(task)).data).toHaveLength(2);
  });

  test('says what it is and what was said before when it has no table', async () => {
    const client = await start();
    const task = await client.newTask();
    await answerTo(client, task, 'First thing');
    const text = textOf(await answerTo(client, task, 'Are 42 samples enough?'));
    expect(text).toContain("the sandbox's agent");
    expect(text).toContain('You wrote 4 words');
    expect(text).toContain('"First thing"');
  });

  test('counts what is quoted before a message to nobody', async () => {
    const client = await start();
    const task = await client.newTask();
    const quotation = 'Standing instructions (quoted):\n\n> Answer in one line\n\n---\n\nThe message:\n\n';
    expect(textOf(await answerTo(client, task, `${quotation}Are they dry?`))).toContain(
      'You wrote 3 words: "Are they dry?"',
    );
    expect(textOf(await answerTo(client, task, 'And now?'))).toContain('you sent 1 message: "Are they dry?"');
  });

  test('describes a file that is no table by its size and digest', async () => {
    const client = await start();
    const project = await client.project();
    const file = await client.upload(project, 'note.bin', 'abc', 'application/octet-stream');
    const reply = await answerTo(client, await client.task(project), 'Look', { file_ids: [file] });
    expect(textOf(reply)).toContain('is not a table');
    expect(textOf(reply)).toContain('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  test('obeys commands: length, length cut and its rest, unknown blocks, system messages, files', async () => {
    const client = await start();
    const task = await client.newTask();
    const report = textOf(await answerTo(client, task, '/long 1500'));
    const cut = await answerTo(client, task, '/lengthcut');
    expect(cut).toMatchObject({ stop_reason: 'length' });
    const rest = await answerTo(client, task, 'Continue.');
    expect([textOf(cut).length > 0, textOf(cut) + textOf(rest)]).toEqual([true, report]);
    expect(textOf(await answerTo(client, task, 'Continue.'))).toContain('You wrote 1 word:');
    expect(textOf(await answerTo(client, task, 'What is a standard error?'))).toMatch(
      /: \$s .*\$\n.*\| mean \| 平均 /s,
    );
    expect((await answerTo(client, task, '/unknownblock')).content[0]?.type).toBe('citation_list');
    await answerTo(client, task, '/system Mind the gap\n/files 2');
    const { data } = await client.messages(task);
    expect(data.filter(({ role }) => role === 'system').map(textOf)).toEqual(['Mind the gap']);
    expect((await client.results(task)).data).toHaveLength(2);
  });

  test('fails and asks on command', async () => {
    const client = await start();
    const failing = await client.newTask();
    const { assistant_message } = await client.send(failing, '/fail No more reagents');
    await reached(client.service, failing, 'failed');
    const failed = await client.message(failing, assistant_message?.id ?? '');
    expect(failed).toMatchObject({ error: 'No more reagents' });
    const asking = await client.newTask();
    const { assistant_message: reply } = await client.send(asking, '/ask Which one?');
    await expect
      .poll(async () => textOf(await client.message(asking, reply?.id ?? '')))
      .toContain('Which one?');
    await client.send(asking, 'The left');
    await reached(client.service, asking, 'completed');
    expect(textOf(await client.message(asking, reply?.id ?? ''))).toContain('You answered "The left"');
  });

  test('takes as long as it is told, unless it is hurried', async () => {
    const client = await start();
    const task = await client.newTask();
    const long = '/slow 100000\n/silent 100000\n/background 100000';
    const { assistant_message: reply } = await client.send(task, long);
    await expect.poll(async () => textOf(await client.message(task, reply?.id ?? ''))).toContain('Second 1 ');
    expect(client.service.hurry(task)).toBe(true);
    await reached(client.service, task, 'completed');
    const text = textOf(await client.message(task, reply?.id ?? ''));
    expect(text).toContain('Second 100000 of 100000. That was the silence.');
    expect((await client.results(task)).data).toHaveLength(1);
    expect(client.service.hurry(task)).toBe(false);
  });
});

describe('a table summary', () => {
  test('agrees with the two-pass formulas for any numbers', async () => {
    const number = fc.double({ min: -1e6, max: 1e6, noNaN: true });
    await fc.assert(
      fc.asyncProperty(fc.array(number, { minLength: 2, maxLength: 50 }), async (values) => {
        const source = Readable.from([`x\n${values.join('\n')}\n`]);
        const { rows, columns } = await summarizeTable(source, ',');
        const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
        const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
        expect(rows).toBe(values.length);
        expect(columns[0]?.mean).toBeCloseTo(mean, 4);
        expect(columns[0]?.sd).toBeCloseTo(Math.sqrt(squares / (values.length - 1)), 4);
        expect(columns[0]?.min).toBe(Math.min(...values.map((value) => value + 0)));
        expect(columns[0]?.max).toBe(Math.max(...values.map((value) => value + 0)));
      }),
      { numRuns: 50 },
    );
  });

  test('leaves out columns of words and quotes names where CSV needs it', async () => {
    const source = Readable.from(['"a, b",word,gap\n1,x,\n2,3,NA\n']);
    const summary = await summarizeTable(source, ',');
    expect(summary.columns.map(({ name }) => name)).toEqual(['a, b']);
    expect(summaryCsv(summary)).toContain('"a, b",2,1.5,1,2,0.707107');
  });

  test('is empty for an empty file', async () => {
    expect(await summarizeTable(Readable.from(['']), ',')).toEqual({ rows: 0, header: [], columns: [] });
  });
});

describe('a chart', () => {
  const column = { name: 'reads', count: 3, min: 1, max: 5, mean: 4, sd: 1 };
  const wider = { ...column, min: 1_000, max: 5_000, mean: 4_000, sd: 1_000 };
  const rowsOf = (bytes: Buffer, from: number, to: number) => {
    const { data, width } = PNG.sync.read(bytes);
    return data.subarray(from * width * 4, to * width * 4);
  };

  test('compares columns on their own scales', () => {
    // The rows of pixels in the middle of the range, without the figures above and below it.
    const [small, large] = [columnChart([column]), columnChart([wider])].map((chart) =>
      rowsOf(chart, 78, 90),
    );
    expect(new Set(small).size).toBeGreaterThan(4);
    expect(large).toEqual(small);
    expect(rowsOf(columnChart([{ ...column, mean: 2 }]), 78, 90)).not.toEqual(small);
  });

  test('names its columns, in any script', () => {
    const names = ['reads', 'lengths', 'Größe', '長さ', 'a name that is far too long'];
    const charts = names.map((name) => rowsOf(columnChart([{ ...column, name }]), 0, 128).toString('base64'));
    expect(new Set(charts).size).toBe(names.length);
  });

  test('can be drawn of nothing, of one value and of very many columns', () => {
    const single = { ...column, count: 1, min: 3, max: 3, mean: 3, sd: Number.NaN };
    for (const columns of [[], [single], Array.from({ length: 50 }, () => column)])
      expect(PNG.sync.read(columnChart(columns)).width).toBe(720);
  });
});

describe('a long report', () => {
  test('is as long as was asked for, and ends with a conclusion that agrees with its sections', () => {
    for (const length of [0, 999, 20_000]) {
      const report = sampleReport(length);
      expect(report.length).toBeGreaterThanOrEqual(length);
      expect(report.length).toBeLessThan(length + 1_200);
      const ratios = [...report.matchAll(/a ratio of ([\d.]+)\.\n/g)].map(([, ratio]) => Number(ratio));
      const [, mean] = /## Conclusion\n\nThe treatment raises the signal ([\d.]+) times/.exec(report) ?? [];
      expect(Number(mean)).toBeCloseTo(ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length, 1);
    }
  });
});
