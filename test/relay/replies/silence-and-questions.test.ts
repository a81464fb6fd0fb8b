import { expect, test } from 'vitest';
import type { ContentBlock } from '../../../src/agent/content-blocks.ts';
import {
  endsWithQuestion,
  silentAfterMs,
  waitsFor,
} from '../../../src/relay/replies/silence-and-questions.ts';
import { withinMs } from '../../support/busy-machine.ts';

const call: ContentBlock = { kind: 'tool_use', id: 't1', name: 'look_up', input: {} };
const result: ContentBlock = { kind: 'tool_result', toolUseId: 't1', content: 'Which one?' };
const text = (words: string): ContentBlock => ({ kind: 'text', text: words });

test.each<[string, ContentBlock[], ReturnType<typeof waitsFor>]>([
  ['nothing before it has written', [], undefined],
  ['nothing after a statement', [text('Is it this? No.')], undefined],
  ['an answer to a question', [text('Which one?')], 'question'],
  ['an answer to a question in bold, with a line below', [text('**Which "one?"**\n')], 'question'],
  ['an answer to a question in another script', [text('どちらですか？')], 'question'],
  ['a tool', [text('Which one?'), call], 'tool'],
  ['nothing after a call without an id', [{ ...call, id: '' }], undefined],
  ['nothing after a tool, whatever it says', [text('Which one?'), call, result], undefined],
  ['an answer to a question after a tool', [call, result, text('Which one?')], 'question'],
])('the agent waits for %s', (_what, blocks, expected) => {
  expect(waitsFor(blocks)).toBe(expected);
});

test.each([
  ['Both plates look alike. Which of them is the control?', true],
  ['Shall I fit all of them?\n', true],
  ['Would you like the plot, too (or **only the table**)?', true],
  ['1. Which strain?\n2. Which dose?', true],
  ['Let me know if you want more.', false],
  ['All are fitted. Is there anything else I can do?', false],
  ['Let me know. Do you have any further questions?', false],
  ['I read three papers:\n1. Smith: “Is p53 a target?”', false],
  ['You asked:\n> Which one?', false],
  ['Does this help? And which file should I use?', true],
  ['SELECT * FROM sheep;', false],
  ['Ποιο από τα δύο;', true],
])('whether “%s” asks the reader something: %s', (words, asks) => {
  expect(endsWithQuestion([text(words)])).toBe(asks);
});

test('a long line without an end is looked through in no time', () => {
  const startedAt = performance.now();
  expect(endsWithQuestion([text('any questions '.repeat(20_000))])).toBe(false);
  expect(performance.now() - startedAt).toBeLessThan(withinMs(1_000));
});

test('a run that may be waiting for a person counts as silent sooner than one with a tool at work', () => {
  const limits = { silenceMs: 120_000, waitingMs: 30_000 };
  const limitsOf = (asked: typeof limits) =>
    (['tool', undefined, 'question'] as const).map((waiting) => silentAfterMs(waiting, asked));
  expect(limitsOf(limits)).toEqual([120_000, 30_000, 3_000]);
  expect(limitsOf({ ...limits, silenceMs: 1_000 })).toEqual([1_000, 1_000, 1_000]);
});
