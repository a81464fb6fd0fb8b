import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readPrompt } from '../../sandbox/prompt-reader.ts';
import { blockquote } from '../../src/relay/reading/message-to-markdown.ts';
import * as frame from '../../src/render/prompt-frame.ts';
import * as strings from '../../src/render/strings/index.ts';

const NAMES = ['ada', 'grace'];
const earlier = `${strings.earlierInThread('all 2 messages')}\n\n${blockquote('**ada**:\nwho has it?\n\n---\n\nThe question:\n\nme')}`;
const linked = `${strings.linkedMessage('https://a.example/1', 'lab', 1)}\n\n${blockquote('grace: it failed')}`;
const instructions = `${strings.standingInstructions('ada', new Date(0))}\n\n${blockquote('Be brief.\n\nCite.')}`;
const files = frame.headedList(strings.linkedFiles(2), [
  '[a](<https://a.example>)',
  '[b](<https://b.example>)',
]);
const unread = frame.headedList(strings.leftOut, ['“https://a.example”: gone']);

describe('a prompt is read', () => {
  test('as it is where nothing stands around it', () => {
    expect(readPrompt('ok', NAMES)).toEqual({ text: 'ok', quotations: [], lists: [] });
  });

  test('with everything around it', () => {
    const asked = frame.withQuotation(`${earlier}\n\n${linked}`, 'which one\n\nof these?');
    const named = frame.withWriterName(frame.withLists(asked, files, unread), 'grace');
    const again = frame.withQuotation(earlier, frame.withUnnamedWriter(named, 'ada'));
    expect(readPrompt(frame.withQuotation(instructions, again, strings.messageBelow), NAMES)).toEqual({
      text: 'which one\n\nof these?',
      quotations: [instructions, earlier, `${earlier}\n\n${linked}`],
      lists: [files, unread],
    });
  });

  test('with an id for a name that Slack did not return', () => {
    const named = frame.withUnnamedWriter(frame.withWriterName('ok', 'U0GHOST'), 'U0OTHER');
    expect(readPrompt(named, NAMES).text).toBe('ok');
  });

  test("without taking a person's own words for the frame", () => {
    const own = 'ada: did you say so?\n\n---\n\nThe question:\n\nwhy?\n\nLinks:\n- one';
    expect(readPrompt(frame.withWriterName(own, 'grace'), NAMES).text).toBe(own);
    const list = `see\n\n${strings.leftOut}\n- one\nand more`;
    expect(readPrompt(list, NAMES).text).toBe(list);
  });

  test('with a sentence that is new to it among its words, so that a comparison finds it', () => {
    const note = '(Something new that is said about the thread.)';
    expect(readPrompt(`${note}\n\n${frame.withWriterName('ok', 'ada')}`, NAMES).text).toContain(note);
  });

  test('in whatever order its parts were put around it', () => {
    const around: ((text: string) => string)[] = [
      (text) => frame.withQuotation(instructions, text, strings.messageBelow),
      (text) => frame.withQuotation(earlier, text),
      (text) => frame.withWriterName(text, 'grace'),
      (text) => frame.withUnnamedWriter(text, 'ada'),
    ];
    const text = fc.constantFrom<string>(
      'ok',
      ':+1:',
      '- a list',
      'two\n\nparts',
      '| a |\n| --- |',
      '> quoted',
    );
    fc.assert(
      fc.property(text, fc.shuffledSubarray(around), (own, makers) => {
        expect(
          readPrompt(
            makers.reduce<string>((prompt, make) => make(prompt), own),
            NAMES,
          ).text,
        ).toBe(own);
      }),
    );
  });
});
