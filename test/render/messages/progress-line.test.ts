import { describe, expect, test } from 'vitest';
import type { ReplyBlock } from '../../../src/render/messages/answer-text.ts';
import {
  contextLineBlock,
  doneLine,
  progressLine,
  toolSteps,
} from '../../../src/render/messages/progress-line.ts';

function call(id: string, input: unknown, name = 'run_python'): ReplyBlock {
  return { kind: 'tool_use', id, name, input };
}

function outcome(toolUseId: string, content = 'ok'): ReplyBlock {
  return { kind: 'tool_result', toolUseId, content };
}

function lineOf(blocks: ReplyBlock[], elapsedMs = 65_000): string {
  const line = progressLine(blocks, { elapsedMs, status: 'The agent is working on it…' });
  return line.elements.map(({ text }) => text).join('');
}

describe('the progress line', () => {
  test('names the status while no tool runs', () => {
    expect(lineOf([])).toBe('The agent is working on it… · 1 min');
    expect(lineOf([call('1', {}), outcome('1'), { kind: 'text', text: 'So' }])).toBe(
      'The agent is working on it… · 1 min · 1 step done',
    );
  });

  test('names the tool that was called last, and what for', () => {
    const blocks = [
      call('1', {}),
      outcome('1'),
      call('2', {}),
      outcome('2'),
      call('3', { query: 'BRCA1' }, 'searchWeb'),
    ];
    expect(lineOf(blocks)).toBe('Search Web: BRCA1 · 1 min · 2 steps done');
  });

  test('has at most 180 characters and pings nobody', () => {
    const line = lineOf([call('1', { query: `<!channel> ${'x'.repeat(500)}` }, 'long_name_'.repeat(40))]);
    expect(line.length).toBeLessThanOrEqual(185);
    expect(lineOf([call('1', { query: '<!channel> @here' })])).not.toMatch(/<!channel>|@here/);
  });

  test('does not read what earlier calls were given', () => {
    const input = {
      get query(): string {
        throw new Error('read');
      },
    };
    const blocks = [call('1', input), outcome('1'), call('2', { query: 'TP53' })];
    expect(lineOf(blocks)).toBe('Run python: TP53 · 1 min · 1 step done');
    expect(doneLine(blocks, 45_000)).toBe('2 steps in 45 s');
  });

  test('does not change with every second', () => {
    expect(lineOf([], 41_000)).toBe(lineOf([], 44_900));
  });
});

describe('what a step is about', () => {
  test.each([
    ['its words', 'print(1)', 'print(1)'],
    ['the most telling of its fields', { code: 'x = 1', description: 'Fit the model' }, 'Fit the model'],
    ['its first text where no field is known', { n: 5, gene: 'TP53' }, 'TP53'],
    ['one line', { code: '\n  import os\nos.listdir()' }, 'import os …'],
    ['nothing', { n: 5, query: '  ' }, ''],
    ['nothing without input', null, ''],
    ['nothing of a list', [1, 2], ''],
    ['a command with its arguments', { command: ['ls', '-la'], n: 1 }, 'ls -la'],
    ['its addresses', { urls: ['https://a.org', 'https://b.org'] }, 'https://a.org https://b.org'],
    ['nothing of a list of numbers', { ids: [1, 2] }, ''],
    ['without marks that turn the direction', { query: 'a\u202Ecod.exe\u0007' }, 'acod.exe'],
  ])('is %s', (_, input, about) => {
    expect(toolSteps([call('1', input)])[0]?.about).toBe(about);
  });

  test.each([
    ['run_python', 'Run python'],
    ['searchPubMed', 'Search Pub Med'],
    ['mcp__files.read', 'Mcp files read'],
    ['__', 'Tool'],
  ])('and the tool %s reads as %s', (name, shown) => {
    expect(toolSteps([call('1', {}, name)])[0]?.name).toBe(shown);
  });
});

describe('steps', () => {
  test('pair each call with its output, whatever their order', () => {
    const all = toolSteps([call('1', 'a'), call('2', 'b'), outcome('2', 'two'), outcome('9', 'stray')]);
    expect(all.map(({ input, output }) => ({ input, output }))).toEqual([
      { input: 'a', output: undefined },
      { input: 'b', output: 'two' },
      { input: '', output: 'stray' },
    ]);
    expect(all[2]?.name).toBe('Tool');
  });

  test.each([
    [{ code: 'x = 1\nprint(x)' }, 'x = 1\nprint(x)'],
    [{ query: 'TP53', limit: 5 }, 'query: TP53\nlimit: 5'],
    [{ path: 'a.py', code: 'a\nb' }, 'path: a.py\ncode:\na\nb'],
    [['a'], '[\n  "a"\n]'],
    [null, 'null'],
    [undefined, ''],
  ])('show the input %j as people can read it', (input, shown) => {
    expect(toolSteps([call('1', input)])[0]?.input).toBe(shown);
  });

  test('cut what is long, so that it fits a modal', () => {
    const [step] = toolSteps([call('1', { code: 'x'.repeat(5_000) }), outcome('1', '@here '.repeat(2_000))]);
    expect(step?.input.length).toBeLessThanOrEqual(1_200);
    expect(step?.output?.length).toBeLessThanOrEqual(1_500);
    expect(step?.output).not.toMatch(/@here/);
  });

  test('are counted at the end', () => {
    expect(doneLine([], 45_000)).toBe('Took 45 s.');
    expect(doneLine([call('1', {})], 45_000)).toBe('1 step in 45 s');
    expect(doneLine([call('1', {}), call('2', {})], 360_000)).toBe('2 steps in 6 min');
  });
});

test('a context line is plain text that pings nobody', () => {
  expect(contextLineBlock('*a* <@U1>')).toEqual({
    type: 'context',
    elements: [{ type: 'plain_text', text: '*a* <\u2060@U1>', emoji: false }],
  });
});
