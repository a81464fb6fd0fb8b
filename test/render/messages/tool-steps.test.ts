import { describe, expect, test } from 'vitest';
import type { ContentBlock } from '../../../src/agent/content-blocks.ts';
import { toolSteps } from '../../../src/render/messages/tool-steps.ts';
import { wholeValue } from '../../../src/render/messages/tool-values.ts';

function call(id: string, input: unknown, name = 'run_python'): ContentBlock {
  return { kind: 'tool_use', id, name, input };
}

function outcome(toolUseId: string, content = 'ok'): ContentBlock {
  return { kind: 'tool_result', toolUseId, content };
}

describe('the summary of a step', () => {
  test.each([
    ['its text', 'print(1)', 'print(1)'],
    ['its most descriptive field', { code: 'x = 1', description: 'Fit the model' }, 'Fit the model'],
    ['its first text if no field is known', { n: 5, gene: 'TP53' }, 'TP53'],
    ['one line', { code: '\n  import os\nos.listdir()' }, 'import os …'],
    ['nothing', { n: 5, query: '  ' }, ''],
    ['nothing without input', null, ''],
    ['nothing for a list', [1, 2], ''],
    ['a command with its arguments', { command: ['ls', '-la'], n: 1 }, 'ls -la'],
    ['its addresses', { urls: ['https://a.org', 'https://b.org'] }, 'https://a.org https://b.org'],
    ['nothing for a list of numbers', { ids: [1, 2] }, ''],
    ['without direction marks', { query: 'a\u202Ecod.exe\u0007' }, 'acod.exe'],
  ])('is %s', (_, input, about) => {
    expect(toolSteps([call('1', input)])[0]?.summary).toBe(about);
  });

  test.each([
    ['run_python', 'Run Python', 'Ran Python'],
    ['searchPubMed', 'Search PubMed', 'Searched PubMed'],
    ['pubmed_search', 'Search PubMed', 'Searched PubMed'],
    ['mcp__pubmed__search_articles', 'Search PubMed articles', 'Searched PubMed articles'],
    ['mcp__files.read', 'Read files', 'Read files'],
    ['get-gene-info', 'Get gene info', 'Got gene info'],
    ['classify_variants', 'Classify variants', 'Classified variants'],
    ['code_interpreter', 'code_interpreter', 'code_interpreter'],
    ['blastp', 'blastp', 'blastp'],
    ['a\u202Eb\u0007', 'ab', 'ab'],
    ['__', 'Tool', 'Tool'],
  ])('names the tool %s as %s, and as %s once it is done', (name, shown, done) => {
    expect(toolSteps([call('1', {}, name)])[0]?.name).toBe(shown);
    expect(toolSteps([call('1', {}, name), outcome('1', 'Error: no such table')])[0]?.name).toBe(shown);
    expect(toolSteps([call('1', {}, name), outcome('1')])[0]?.name).toBe(done);
  });
});

describe('the steps of an answer', () => {
  test('pair each call with its output, whatever their order', () => {
    const all = toolSteps([call('1', 'a'), call('2', 'b'), outcome('2', 'two'), outcome('9', 'stray')]);
    expect(all.map(({ input, output }) => ({ input, output }))).toEqual([
      { input: 'a', output: undefined },
      { input: 'b', output: 'two' },
      { input: '', output: 'stray' },
    ]);
    expect(all[2]?.name).toBe('Tool');
  });

  test('pair no call with the output of another one where neither has an id', () => {
    const all = toolSteps([call('', 'a'), outcome('', 'one'), call('', 'b'), outcome('', 'two')]);
    expect(all.map(({ input, output }) => ({ input, output }))).toEqual([
      { input: 'a', output: undefined },
      { input: '', output: 'one' },
      { input: 'b', output: undefined },
      { input: '', output: 'two' },
    ]);
  });

  test.each([
    [{ code: 'x = 1\nprint(x)' }, 'x = 1\nprint(x)'],
    [{ query: 'TP53', limit: 5 }, 'query: TP53\nlimit: 5'],
    [{ path: 'a.py', code: 'a\nb' }, 'path: a.py\ncode:\na\nb'],
    [['a', 2], '- a\n- 2'],
    [null, ''],
    [{ filter: { gene: 'TP53' }, rows: [] }, 'filter: gene: TP53\nrows: '],
    [
      {
        found: [
          { gene: 'TP53', p: 0.01 },
          { gene: 'MYC', fold: -2 },
        ],
        note: 'ok',
      },
      'found:\ngene  p     fold\nTP53  0.01\nMYC         -2\nnote: ok',
    ],
    [undefined, ''],
  ])('show the input %j in readable form', (input, shown) => {
    expect(toolSteps([call('1', input)])[0]?.input).toBe(shown);
  });

  test.each([
    ['{"rows": 30, "columns": 4}', 'rows: 30\ncolumns: 4'],
    [
      JSON.stringify(Array.from({ length: 25 }, (_, n) => ({ n }))),
      expect.stringMatching(/^n\n0\n[\s\S]*\n…$/),
    ],
    ['[not JSON', '[not JSON'],
    ['{"rows": [{"gene": "TP53"}, {"gene": "MY', 'rows:\ngene\nTP53\n…'],
    ['gene,fold\nTP53,2', 'gene,fold\nTP53,2'],
  ])('show the output %j in readable form', (output, shown) => {
    expect(toolSteps([call('1', {}), outcome('1', output)])[0]?.output).toEqual(shown);
  });

  test('are shown whole where nothing may be left out, unless they are nested too deeply', () => {
    const genes = Array.from({ length: 25 }, (_, n) => ({ gene: `G${n}`, p: n }));
    expect(wholeValue(JSON.stringify(genes)).split('\n')).toHaveLength(26);
    const found = [{ title: 'A title of more than thirty characters', year: 2020 }];
    expect(wholeValue({ found })).toBe(`found:\n- title: ${found[0]?.title}\n  year: 2020`);
    expect(wholeValue('{"rows": [{"gene": "TP53"}, {"gene": "MY')).toBe(
      '{"rows": [{"gene": "TP53"}, {"gene": "MY',
    );
    for (const deep of [30, 50_000].map((levels) => '['.repeat(levels) + ']'.repeat(levels)))
      expect(wholeValue(deep)).toBe(deep);
  });

  test('shorten long input and output so that they fit a modal', () => {
    const [step] = toolSteps([call('1', { code: 'x'.repeat(5_000) }), outcome('1', '@here '.repeat(2_000))]);
    expect(step?.input.length).toBeLessThanOrEqual(1_200);
    expect(step?.output?.length).toBeLessThanOrEqual(1_500);
    expect(step?.output).not.toMatch(/@here/);
  });
});
