import { describe, expect, test } from 'vitest';
import { checkBlocks } from '../../../sandbox/slack/block-validation.ts';
import {
  commandAnswer,
  messageOfForm,
  type StartFormValues,
} from '../../../src/features/start/start-form-submission.ts';
import { parseMessage } from '../../../src/relay/reading/message-parser.ts';
import { readableText } from '../../../src/relay/reading/message-to-markdown.ts';

const offers = { noFallback: true, autoMode: true, planMode: true };
const empty: StartFormValues = {
  channel: undefined,
  question: '',
  choices: {},
  files: [],
};
const names = new Map<string, string>();
const file = (id: string) => ({ id, name: `${id}.csv` });

test.each([1, 3_000, 4_000])('a command that is refused gives its question of %i characters back', (most) => {
  const { text, blocks } = commandAnswer('Not here.', 'w'.repeat(most));
  checkBlocks(blocks, 'message');
  expect(text).toBe('Not here.');
  // Not as if the bot said it.
  expect(blocks.at(-1)).toMatchObject({ elements: [{ type: 'rich_text_quote' }] });
  expect(JSON.stringify(blocks)).toContain('w'.repeat(Math.min(most, 2_999)));
});

describe('the message of a submitted form', () => {
  test.each(['plain', '*not bold* _nor_ this', 'a < b && c > d <@U1> <!here>', '- one\n- two\n\n```x```'])(
    'says to the agent what was typed, letter by letter: %s',
    (question) => {
      const words = messageOfForm({ ...empty, question }, null, offers);
      expect(readableText(parseMessage(words), names, 'UBOT')).toBe(question);
    },
  );

  test('takes fields and flags, and fields win', () => {
    const question = '--model max --skill one --auto --title "By flag" what?';
    const choices = { model: 'fast', title: 'By field' };
    const words = messageOfForm({ ...empty, question, choices }, null, offers);
    expect(words.choices).toEqual({ model: 'fast', skill: 'one', mode: 'auto', title: 'By field' });
    expect(words.text).toBe('what?');
  });

  test('makes no choices if nothing is filled in, so that flags of the message do not count again', () => {
    const source = { text: '--model ultra what?', files: [file('F1')] };
    const words = messageOfForm({ ...empty, question: undefined }, source, offers);
    expect(words).toMatchObject({ text: '--model ultra what?', choices: {} });
  });

  test('includes the files of the message and those of the form, each once', () => {
    const source = { text: 'what?', files: [file('F1'), file('F2')] };
    const words = messageOfForm(
      { ...empty, question: 'what?', files: [file('F2'), file('F3')] },
      source,
      offers,
    );
    expect(words.files).toMatchObject([{ id: 'F1' }, { id: 'F2' }, { id: 'F3' }]);
  });

  test('keeps the message that it is about', () => {
    const about = { text: 'Run 7', user: 'U1' };
    const words = messageOfForm({ ...empty, question: 'why?' }, { text: '', about }, offers);
    expect(words).toMatchObject({ text: 'why?', about });
    expect(messageOfForm(empty, { text: '', about }, offers)).toMatchObject({ text: '', about });
  });
});
