import { Readable } from 'node:stream';
import fc from 'fast-check';
import { PNG } from 'pngjs';
import { describe, expect, it } from 'vitest';
import { barChart } from '../../../sandbox/agent/bar-chart.ts';
import { longMarkdown } from '../../../sandbox/agent/sample-prose.ts';
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
  it('summarises a table, leaves two results and remembers its figures for later questions', async () => {
    const client = await start();
    const project = await client.project();
    const file = await client.upload(
      project,
      'cells.tsv',
      'well\tod\tdose\nA1\t0.5\t1\nA2\t1.5\t\nA3\t2.5\t4\n',
    );
    const task = await client.task(project);
    const reply = await answerTo(client, task, 'Please look', { file_ids: [file] });
    const step = ['tool_use', 'tool_result'];
    const types = reply.content.map(({ type }) => type);
    expect(types).toEqual(['text', ...step, ...step, 'text', ...step, 'text']);
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
  });

  it('says what it is and what was said before when it has no table', async () => {
    const client = await start();
    const task = await client.newTask();
    await answerTo(client, task, 'First thing');
    const text = textOf(await answerTo(client, task, 'Are 42 samples enough?'));
    expect(text).toContain("the sandbox's agent");
    expect(text).toContain('You wrote 4 words');
    expect(text).toContain('the numbers 42');
    expect(text).toContain('"First thing"');
  });

  it('describes a file that is no table by its size and digest', async () => {
    const client = await start();
    const project = await client.project();
    const file = await client.upload(project, 'note.bin', 'abc', 'application/octet-stream');
    const reply = await answerTo(client, await client.task(project), 'Look', { file_ids: [file] });
    expect(textOf(reply)).toContain('is not a table');
    expect(textOf(reply)).toContain('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  it('obeys commands: length, length cut, unknown blocks, system messages, files', async () => {
    const client = await start();
    const task = await client.newTask();
    expect(textOf(await answerTo(client, task, '/long 3000'))).toHaveLength(3000);
    expect(await answerTo(client, task, '/lengthcut')).toMatchObject({ stop_reason: 'length' });
    expect((await answerTo(client, task, '/unknownblock')).content[0]?.type).toBe('citation_list');
    await answerTo(client, task, '/system Mind the gap\n/files 2');
    const { data } = await client.messages(task);
    expect(data.filter(({ role }) => role === 'system').map(textOf)).toEqual(['Mind the gap']);
    expect((await client.results(task)).data).toHaveLength(2);
  });

  it('fails and asks on command', async () => {
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
});

describe('a table summary', () => {
  it('agrees with the two-pass formulas for any numbers', async () => {
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

  it('leaves out columns of words and quotes names where CSV needs it', async () => {
    const source = Readable.from(['"a, b",word,gap\n1,x,\n2,3,NA\n']);
    const summary = await summarizeTable(source, ',');
    expect(summary.columns.map(({ name }) => name)).toEqual(['a, b']);
    expect(summaryCsv(summary)).toContain('"a, b",2,1.5,1,2,0.707107');
  });

  it('is empty for an empty file', async () => {
    expect(await summarizeTable(Readable.from(['']), ',')).toEqual({ rows: 0, header: [], columns: [] });
  });
});

describe('a chart', () => {
  it('hangs a negative bar below the line and stands a positive one on it', () => {
    const chart = PNG.sync.read(
      barChart([
        { label: '1', value: 1 },
        { label: '-1', value: -1 },
      ]),
    );
    const colourAt = (x: number, y: number): number[] => [
      ...chart.data.subarray((y * chart.width + x) * 4).subarray(0, 3),
    ];
    const [left, right] = [chart.width / 4 + 20, (chart.width * 3) / 4 - 20];
    const [above, below] = [chart.height / 4 + 20, (chart.height * 3) / 4 - 20];
    expect(colourAt(left, above)).not.toEqual([255, 255, 255]);
    expect(colourAt(left, below)).toEqual([255, 255, 255]);
    expect(colourAt(right, above)).toEqual([255, 255, 255]);
    expect(colourAt(right, below)).not.toEqual([255, 255, 255]);
  });

  it('can be drawn of nothing', () => {
    expect(PNG.sync.read(barChart([])).width).toBe(720);
  });
});

describe('long prose', () => {
  it('has exactly the length that was asked for', () => {
    for (const length of [0, 1, 999, 20_000]) expect(longMarkdown(length)).toHaveLength(length);
  });
});
