import { describe, expect, test } from 'vitest';
import type { ContentBlock } from '../../../src/agent/content-blocks.ts';
import { answerText } from '../../../src/render/messages/answer-text.ts';

function text(said: string): ContentBlock {
  return { kind: 'text', text: said };
}

const call: ContentBlock = { kind: 'tool_use', id: 't1', name: 'run_python', input: {} };
const outcome: ContentBlock = { kind: 'tool_result', toolUseId: 't1', content: 'secret output' };

describe('the text of an answer', () => {
  test.each([
    ['no block', [], ''],
    ['tool calls alone', [call, outcome], ''],
    ['one text', [text('Hello.')], 'Hello.'],
    ['an empty text', [text('a'), text(''), text('b')], 'ab'],
    ['a seam inside a word', [text('differ'), text('ence')], 'difference'],
    ['a seam before a mark', [text('done'), text('.')], 'done.'],
    ['a seam behind white space', [text('one '), text('Two')], 'one Two'],
    ['a seam between two texts', [text('One.'), text('Two.')], 'One.\n\nTwo.'],
    ['a tool call between', [text('I look.'), call, outcome, text('found it')], 'I look.\n\nfound it'],
    ['a line end before the tool call', [text('I look.\n'), call, text('Found.')], 'I look.\n\nFound.'],
    ['white space behind the tool call', [text('I look.'), call, text('\n\nFound.')], 'I look.\n\nFound.'],
    ['a line end alone behind the tool call', [text('I'), call, text('\n'), call, text('a')], 'I\n\na'],
    ['a tool call first', [call, outcome, text('Found.')], 'Found.'],
    ['line ends of other systems', [text('a\r\nb\rc')], 'a\nb\nc'],
    ['a byte order mark', [text('\uFEFF# Title')], '# Title'],
  ] satisfies [string, ContentBlock[], string][])('with %s', (_, blocks, expected) => {
    expect(answerText(blocks)).toBe(expected);
  });

  test('joins a large number of blocks in linear time', () => {
    const said = Array.from({ length: 200_000 }, (_, index) => `${index} is one more word of it. `);
    expect(answerText(said.map(text))).toBe(said.join(''));
  });

  test.each(['thinking', 'redacted_thinking', 'Reasoning'])('leaves out a block of %s', (type) => {
    const thought: ContentBlock = { kind: 'other', type, raw: { text: 'secret thought' } };
    expect(answerText([text('I look.'), thought, text('found it')])).toBe('I look.\n\nfound it');
    expect(answerText([{ ...thought, raw: {} }])).toBe('');
  });

  test('never shows the input or output of a tool', () => {
    expect(answerText([text('a'), call, outcome, text('b')])).not.toContain('secret');
  });
});

describe('a block of an unknown type', () => {
  test('shows its text as a separate paragraph', () => {
    const other: ContentBlock = { kind: 'other', type: 'refusal', raw: { text: 'no, sorry' } };
    expect(answerText([text('Well'), other, text('so')])).toBe('Well\n\nno, sorry\n\nso');
  });

  test.each([{ text: '' }, { text: 7 }, {}])('is named in a line if it is %j', (raw) => {
    expect(answerText([{ kind: 'other', type: 'chart_v2', raw }])).toContain('“chart v2”');
  });

  test('is named as unknown if its type has no letters', () => {
    expect(answerText([{ kind: 'other', type: '<!>', raw: {} }])).toContain('“unknown”');
  });
});
