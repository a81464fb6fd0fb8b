import { describe, expect, test } from 'vitest';
import { checkBlocks } from '../../../sandbox/slack/block-validation.ts';
import type { ContentBlock } from '../../../src/agent/content-blocks.ts';
import {
  type DisplayedReply,
  type ReplyPhase,
  renderNextMessage,
  renderReply,
} from '../../../src/render/messages/reply-message.ts';
import { shownAnswer, splitReply } from '../../../src/render/messages/split-answer.ts';
import {
  type AnswerPart,
  AnswerSplitter,
  type PartOptions,
} from '../../../src/render/splitting/answer-splitter.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { shapeOf } from '../../support/markdown-shape.ts';

const turnId = '01a1fbfe-6e3a-7000-83e3-5e284a624414';
const phases: ReplyPhase[] = [
  'starting',
  'uploading',
  'queued',
  'working',
  'stopping',
  'done',
  'cancelled',
  'failed',
  'length',
  'delayed',
];

function state(fields: Partial<DisplayedReply> = {}): DisplayedReply {
  return { turnId, phase: 'working', blocks: [], elapsedMs: 65_000, notes: [], maxMessages: 12, ...fields };
}

/** The action ids of a reply's buttons. */
function buttons(reply: DisplayedReply): string[] {
  return renderReply(reply).flatMap(({ blocks }) =>
    blocks.flatMap((block) =>
      block.type === 'actions' ? block.elements.map((one) => one.action_id ?? '') : [],
    ),
  );
}

const tools: ContentBlock[] = [
  { kind: 'text', text: 'I will look.' },
  { kind: 'tool_use', id: 't1', name: 'run_python', input: { code: 'print(1)' } },
  { kind: 'tool_result', toolUseId: 't1', content: '1' },
  { kind: 'tool_use', id: 't2', name: 'search', input: { query: 'BRCA1 expression' } },
];

const science = {
  headings: (line: number) => `## Sample ${line}\n\nRead ${line} times, and nothing was found in it.\n\n`,
  'underlined headings': (line: number) =>
    `Sample ${line}\n---\n\nRead ${line} times, with nothing found.\n\n`,
  'rows of headings': (line: number) => `### ${'Sample of the cohort '.repeat(9)}${line}\n`,
  'headings in lists': (line: number) =>
    `- # Sample ${line}\n\n  Read ${line} times, with nothing found.\n\n`,
  HGVS: (line: number) => `NM_000059.4:c.${line}A>T, NM_007294.4:c.${line}G>C\n`,
  'rows of HGVS': (line: number) =>
    `${line === 1 ? '| a | b |\n| - | - |\n' : ''}| c.${line}A>T | c.${line}G>C |\n`,
  XML: (line: number) => `<variant id="${line}"><ref>A</ref><alt>T & C</alt></variant>\n`,
  'XML as code': (line: number) =>
    `${line === 1 ? '~~~xml\n' : ''}<v id="${line}"><a>A</a><b>&amp;</b></v>\n`,
  ampersands: () => '&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&& ',
  'a quoted mail': (line: number) => `>>> ${line} > one\n`,
};

describe.each(Object.entries(science))(
  'an answer that Slack counts as more than its characters: %s',
  (_, unit) => {
    const answer = Array.from({ length: 400 }, (_, line) => unit(line + 1)).join('');

    test('keeps its form in every message that it takes, while it grows and at its end', () => {
      const splitter = new AnswerSplitter();
      const steps = [0.1, 0.5, 1].map((part) => Math.floor(part * answer.length));
      for (const length of steps) {
        const blocks = [...tools, { kind: 'text' as const, text: answer.slice(0, length) }];
        const phase = length === answer.length ? 'done' : 'working';
        const notes = ['A file was left out: it was too large.'];
        const shown = { phase, blocks, notes, newBlocks: ['plan', 'data_table'], maxMessages: 99 } as const;
        const messages = renderReply(state(shown), splitter);
        expect(messages).toEqual(renderReply(state(shown)));
        for (const message of messages) expect(checkBlocks(message.blocks, 'message')).not.toEqual([]);
      }
    });

    test('is accepted as code, too', () => {
      const splitter = new AnswerSplitter();
      splitter.showVerbatim();
      const blocks = [{ kind: 'text' as const, text: answer }];
      for (const message of renderReply(state({ phase: 'done', blocks, maxMessages: 99 }), splitter))
        expect(checkBlocks(message.blocks, 'message')).not.toEqual([]);
    });
  },
);

test.each([
  ['code in a line', '```c.1A>T``` stands alone.\n'],
  ['code that shows a fence', '````md\n```python\n````\n'],
  ['a fence with words after it', '```\n```python\n```\n'],
])('headings count below %s', (_, code) => {
  const answer = code + science['rows of headings'](1).repeat(60);
  const blocks = [{ kind: 'text' as const, text: answer }];
  for (const message of renderReply(state({ phase: 'done', blocks })))
    expect(checkBlocks(message.blocks, 'message')).not.toEqual([]);
});

test('whom it answers stands above the first message, or below the last if the first has no room', () => {
  const askers = 'Replying to Ada';
  const text = `${'A line of the answer. '.repeat(4)}\n`.repeat(200);
  const blocks: ContentBlock[] = [{ kind: 'text', text }];
  const line = (words: string) => ({ type: 'context', elements: [{ type: 'plain_text', text: words }] });
  for (const phase of phases) {
    const [first, ...more] = renderReply(state({ phase, blocks, askers }));
    expect(first?.blocks[0]).toMatchObject(line(askers));
    expect(first?.blocks.slice(1)).toEqual(renderReply(state({ phase, blocks }))[0]?.blocks);
    expect(JSON.stringify(more)).not.toContain(askers);
  }
  const steps = renderReply(state({ blocks: tools, askers, newBlocks: ['plan'] }));
  expect(steps[0]?.blocks.map(({ type }) => type).slice(0, 2)).toEqual(['context', 'plan']);
  expect(steps[0]?.simpler?.message.blocks[0]).toMatchObject(line(askers));
  const many = `Replying to ${'Ada, '.repeat(180)}`;
  const crowded = renderReply(state({ phase: 'done', blocks, askers: many }));
  expect(crowded[0]?.blocks[0]).not.toMatchObject({ type: 'context' });
  expect(JSON.stringify(crowded.at(-1))).toContain('Replying to Ada, Ada');
});

test('comments in code do not count as headings', () => {
  const code = `\`\`\`python\n${'# Reads the table of wells that the plate reader wrote\nplate = read_table_of_wells\n'.repeat(300)}\`\`\`\n`;
  const [first] = new AnswerSplitter().parts(code, { final: true });
  expect(first?.source[1]).toBeGreaterThan(9_000);
});

describe('a reply', () => {
  test.each(phases)('in the phase %s never has more blocks than Slack allows in one message', (phase) => {
    for (let headings = 46; headings <= 50; headings += 1) {
      const heading: ContentBlock = { kind: 'text', text: '# A heading\n\n'.repeat(headings) };
      const blocks = [...tools, heading];
      for (const message of renderReply(state({ phase, blocks, notes: ['A file was left out.'] }))) {
        const counts = message.blocks.map((block) =>
          block.type === 'markdown' ? shapeOf(block.text).blocks : 1,
        );
        expect(counts.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(50);
      }
    }
  });

  test('has a Stop button while it grows, and only the button that helps at its end', () => {
    expect(buttons(state({ phase: 'starting' }))).toEqual(['stop']);
    expect(buttons(state({ phase: 'working', blocks: tools }))).toEqual(['stop']);
    expect(buttons(state({ phase: 'delayed' }))).toEqual(['stop']);
    expect(buttons(state({ phase: 'done' }))).toEqual([]);
    expect(buttons(state({ phase: 'stopping' }))).toEqual(['stop']);
    expect(buttons(state({ phase: 'cancelled' }))).toEqual(['retry']);
    expect(buttons(state({ phase: 'length' }))).toEqual(['continue']);
    expect(buttons(state({ phase: 'failed' }))).toEqual(['retry']);
  });

  test('has a menu beside its buttons once it is answered', () => {
    const answered: ContentBlock[] = [...tools, { kind: 'text', text: 'An answer.' }];
    const menuOf = (phase: ReplyPhase) =>
      renderReply(state({ phase, blocks: answered }))
        .flatMap(({ blocks }) => blocks)
        .flatMap((block) => (block.type === 'actions' ? block.elements : []))
        .find(({ type }) => type === 'overflow');
    for (const phase of ['done', 'length'] as const)
      expect(menuOf(phase)).toMatchObject({
        action_id: 'menu',
        options: [{ value: `ask_again/${turnId}` }, { value: `save_record/${turnId}` }],
      });
    for (const phase of ['working', 'failed', 'cancelled'] as const) expect(menuOf(phase)).toBeUndefined();
  });

  test('with tool calls has a Steps button once it has ended', () => {
    expect(buttons(state({ phase: 'done', blocks: tools }))).toEqual(['steps', 'menu']);
    for (const phase of ['failed', 'cancelled'] as const)
      expect(buttons(state({ phase, blocks: tools }))).toEqual(['retry', 'steps']);
    expect(buttons(state({ phase: 'working', blocks: tools }))).toEqual(['stop']);
    const stray: ContentBlock[] = [{ kind: 'tool_result', toolUseId: 't9', content: 'out' }];
    expect(buttons(state({ phase: 'done', blocks: stray }))).toEqual(['steps']);
  });

  test('says what the agent is doing and how much is done, and has one line at its end', () => {
    const working = JSON.stringify(renderReply(state({ blocks: tools })));
    expect(working).toContain('Search: BRCA1 expression · 1 min · 1 step done');
    expect(JSON.stringify(renderReply(state({ phase: 'done', blocks: tools })))).toContain(
      '2 steps in 1 min',
    );
  });

  test.each([3_000, 4_000, 12_000, 120_000])('of %i characters is shown whole', (length) => {
    const line = 'Line of an answer, with a little **weight**.\n\n';
    const text = line
      .repeat(Math.ceil(length / line.length))
      .slice(0, length)
      .trimEnd();
    const reply = state({ phase: 'done', blocks: [{ kind: 'text', text }], maxMessages: 1_000 });
    const messages = renderReply(reply);
    expect(messages.length).toBeLessThanOrEqual(Math.ceil(length / 9_000) + 1);
    const shown = messages.flatMap(({ blocks }) =>
      blocks.map((block) => (block.type === 'markdown' ? block.text : '')),
    );
    expect(shown.join('').replaceAll(/\s/g, '')).toBe(text.replaceAll(/\s/g, ''));
    for (const { blocks } of messages) expect(checkBlocks(blocks, 'message').length).toBeGreaterThan(0);
  });

  test('that exceeds its messages leaves the rest for a file', () => {
    const text = 'Another line of a long answer.\n\n'.repeat(2_000);
    const reply = state({ phase: 'done', blocks: [{ kind: 'text', text }], maxMessages: 3 });
    expect(renderReply(reply).length).toBeLessThanOrEqual(4);
    expect(text.endsWith(splitReply(reply).rest?.content ?? '-')).toBe(true);
    expect(JSON.stringify(renderReply(reply))).toContain(strings.restInFile);
    expect(JSON.stringify(renderReply({ ...reply, phase: 'working' }))).toContain(
      'The answer is still growing, with 64,000 characters so far.',
    );
  });
});

test('a finished answer is parsed in small slices, its tables too, and then no more', () => {
  const row = `|${' 12 |'.repeat(25)}\n`;
  const table = `${row}|${' - |'.repeat(25)}\n${row.repeat(60)}`;
  const text = `${table}\nSome words.\n\n`.repeat(8);
  const reply = state({ phase: 'done', blocks: [{ kind: 'text', text }], newBlocks: ['data_table'] });
  const splitter = new AnswerSplitter();
  let slices = 0;
  for (let isMore = true; isMore; slices += 1) {
    const before = splitter.parsed.characters;
    isMore = renderNextMessage(reply, splitter);
    expect(splitter.parsed.characters - before).toBeLessThan(40_000);
  }
  const parsed = splitter.parsed.characters;
  const messages = renderReply(reply, splitter);
  expect(shownAnswer(reply).tables.length).toBeGreaterThan(1);
  splitReply(reply, splitter);
  expect(splitter.parsed.characters).toBe(parsed);
  expect(slices).toBeGreaterThan(messages.length);
});

describe('an answer whose Markdown cannot be rendered', () => {
  class Broken extends AnswerSplitter {
    override parts(text: string, options: PartOptions): AnswerPart[] {
      if (this.isVerbatim) return super.parts(text, options);
      throw new RangeError('Maximum call stack size exceeded');
    }
  }
  const text = `${'A line with `code`, <!channel> and 👩‍👩‍👧 in it.\n'.repeat(400)}The end.`;
  const reply = state({ phase: 'done', blocks: [{ kind: 'text', text }] });

  test('is shown verbatim at the end, with everything below it', () => {
    const messages = renderReply(reply, new Broken());
    for (const { blocks } of messages) checkBlocks(blocks, 'message');
    const shown = messages.flatMap(({ blocks }) =>
      blocks.map((block) => (block.type === 'markdown' ? block.text.slice(4, -4) : '')),
    );
    expect(shown.join('').replaceAll('\u2060', '')).toBe(text);
    expect(shown.join('')).not.toContain('<!channel>');
    expect(JSON.stringify(messages.at(-1))).toContain('1 min');
  });

  test('leaves the rest for a file if it exceeds its messages', () => {
    const rest = splitReply({ ...reply, maxMessages: 2 }, new Broken()).rest;
    expect(text.endsWith(rest?.content.slice(rest.openerLength) ?? '-')).toBe(true);
  });

  test('is shown verbatim once it has cost too much, even while it grows', () => {
    const growing = { ...reply, phase: 'working' } as const;
    const splitter = new AnswerSplitter();
    expect(JSON.stringify(renderReply(growing, splitter))).not.toContain('```');
    splitter.parsed.characters = 10_000_000;
    splitter.dropCache();
    while (renderNextMessage(growing, splitter)) expect(splitter.parsed.characters).toBe(10_000_000);
    const messages = renderReply(growing, splitter);
    expect(JSON.stringify(messages[0])).not.toContain('```');
    expect(JSON.stringify(messages.at(-1))).toContain('```');
    expect(renderReply({ ...growing, maxMessages: 2 }, splitter)).toHaveLength(2);
  });

  test('is rendered again while it grows', () => {
    expect(() => renderReply({ ...reply, phase: 'working' }, new Broken())).toThrow(RangeError);
  });

  test('is not rendered without end if not even verbatim works', () => {
    class Hopeless extends AnswerSplitter {
      override closePart(): boolean {
        throw new RangeError('Maximum call stack size exceeded');
      }
    }
    const splitter = new Hopeless();
    const slices = [1, 2].map(() => renderNextMessage(reply, splitter));
    expect(slices).toEqual([true, false]);
  });
});
