import { describe, expect, test } from 'vitest';
import type { ContentBlock } from '../../../src/agent/content-blocks.ts';
import { contextLineBlock } from '../../../src/render/blocks/slack-blocks.ts';
import { doneLine, progressLine } from '../../../src/render/messages/tool-steps.ts';

function call(id: string, input: unknown, name = 'run_python'): ContentBlock {
  return { kind: 'tool_use', id, name, input };
}

function outcome(toolUseId: string, content = 'ok'): ContentBlock {
  return { kind: 'tool_result', toolUseId, content };
}

function lineOf(blocks: ContentBlock[], elapsedMs = 65_000): string {
  const line = progressLine(blocks, { elapsedMs, status: 'The agent is working on it…' });
  return contextLineBlock(line)
    .elements.map((element) => ('text' in element ? element.text : ''))
    .join('');
}

describe('the progress line', () => {
  test('names the status while no tool runs', () => {
    expect(lineOf([])).toBe('The agent is working on it… · 1 min');
    expect(lineOf([call('1', {}), outcome('1'), { kind: 'text', text: 'So' }])).toBe(
      'The agent is working on it… · 1 min · 1 step done',
    );
  });

  test('names the last tool call and its purpose', () => {
    const blocks = [
      call('1', {}),
      outcome('1'),
      call('2', {}),
      outcome('2'),
      call('3', { query: 'BRCA1' }, 'searchWeb'),
    ];
    expect(lineOf(blocks)).toBe('Search web: BRCA1 · 1 min · 2 steps done');
  });

  test('has at most 180 characters and pings nobody', () => {
    const line = lineOf([call('1', { query: `<!channel> ${'x'.repeat(500)}` }, 'long_name_'.repeat(40))]);
    expect(line.length).toBeLessThanOrEqual(185);
    expect(lineOf([call('1', { query: '<!channel> @here' })])).not.toMatch(/<!channel>|@here/);
  });

  test('does not read the input of earlier calls', () => {
    const input = {
      get query(): string {
        throw new Error('read');
      },
    };
    const blocks = [call('1', input), outcome('1'), call('2', { query: 'TP53' })];
    expect(lineOf(blocks)).toBe('Run Python: TP53 · 1 min · 1 step done');
    expect(doneLine(blocks, 45_000)).toBe('2 steps in 45 s');
  });

  test('says of no run with a step behind it that it just started', () => {
    expect(lineOf([], 4_000)).toBe('The agent is working on it… · just started');
    expect(lineOf([call('1', {}), outcome('1'), { kind: 'text', text: 'So' }], 4_000)).toBe(
      'The agent is working on it… · 1 step done',
    );
  });

  test('does not change with every second', () => {
    expect(lineOf([], 41_000)).toBe(lineOf([], 44_900));
  });
});

describe('the line of a finished reply', () => {
  test('counts the steps', () => {
    expect(doneLine([], 45_000)).toBe('Took 45 s');
    expect(doneLine([], 45_000, null)).toBe('Took 45 s · default model');
    expect(doneLine([call('1', {})], 45_000, 'max')).toBe('1 step in 45 s · Max model');
    expect(doneLine([call('1', {})], 45_000)).toBe('1 step in 45 s');
    expect(doneLine([call('1', {}), call('2', {})], 360_000)).toBe('2 steps in 6 min');
  });
});
