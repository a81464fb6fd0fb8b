import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkBlocks } from '../../../sandbox/slack/block-validation.ts';
import { visibleText } from '../../../sandbox/slack/visible-text.ts';
import { questionPost } from '../../../src/features/start/question-post.ts';
import { type StartFormContent, startFormView } from '../../../src/features/start/start-form-view.ts';
import { noticeModal } from '../../../src/render/blocks/modal.ts';
import { WORD_JOINER } from '../../../src/render/markdown/pings.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { anyCharacter } from '../../support/any-character.ts';

const plain: StartFormContent = {
  metadata: { id: '01920000-0000-7000-8000-000000000001' },
  question: { text: '', optional: false },
  isTaskStarted: false,
  chosen: {},
  files: [],
  offers: { noFallback: false, autoMode: false, planMode: false },
  usedSkills: [],
  prompts: [],
};
const allOffers = { noFallback: true, autoMode: true, planMode: true };

/** A view as Slack takes it. */
function shown(form: Partial<StartFormContent>): string {
  const view = startFormView({ ...plain, ...form });
  for (const text of [view.title, view.submit, view.close]) expect(text?.text.length).toBeLessThanOrEqual(24);
  expect(view.private_metadata?.length).toBeLessThanOrEqual(3_000);
  return JSON.stringify(checkBlocks(view.blocks, 'modal'));
}

const ids = (form: Partial<StartFormContent>) =>
  startFormView({ ...plain, ...form }).blocks.flatMap((block) =>
    block.type === 'input' ? [block.block_id] : [],
  );

describe('the form that starts a task', () => {
  test('offers only the choices that the service supports', () => {
    expect(ids({})).toEqual(['question', 'title', 'model', 'skill', 'files']);
    expect(ids({ channel: { chosen: undefined }, offers: allOffers })).toEqual([
      'channel',
      'question',
      'title',
      'model',
      'skill',
      'files',
      'fallback',
      'mode',
    ]);
    expect(ids({ offers: { ...allOffers, noFallback: false, autoMode: false } })).toContain('mode');
    expect(shown({ offers: { ...plain.offers, planMode: true } })).not.toContain('Go ahead');
  });

  test('offers prompts above the question, which may then be left out', () => {
    const prompts = [{ title: 't'.repeat(75), line: 'l'.repeat(75), prompt: 'p'.repeat(1_000) }];
    expect(ids({ prompts }).slice(0, 2)).toEqual(['prompt', 'question']);
    const blocks = startFormView({ ...plain, prompts }).blocks.filter(({ type }) => type === 'input');
    expect(blocks.slice(0, 2)).toMatchObject([{ optional: true }, { optional: true }]);
    expect(shown({ prompts })).not.toContain(strings.startForm.optionalQuestion);
    expect(shown({})).toContain('"optional":false');
  });

  test('says how large its files may be', () => {
    expect(shown({})).toContain('at most 10 MB');
    expect(shown({ isTaskStarted: true })).toContain('at most 10 MB');
  });

  test('leaves out what is fixed once the task has started', () => {
    expect(ids({ isTaskStarted: true, offers: allOffers })).toEqual(['question', 'skill', 'files']);
  });

  test('shows the earlier choices that are still possible', () => {
    const chosen = {
      title: 'A title',
      model: 'max',
      skill: 'sumary',
      noFallback: true,
      mode: 'plan' as const,
    };
    const text = shown({ chosen, offers: allOffers, question: { text: 'what?', optional: false } });
    for (const value of ['A title', 'sumary', 'what?']) expect(text).toContain(`"initial_value":"${value}"`);
    expect(text).toMatch(/"initial_option":\{"text":\{[^}]*"Max"/);
    expect(text).toMatch(/"initial_option":\{"text":\{[^}]*"Plan first"/);
    expect(text).toContain('"initial_options"');
    expect(shown({ chosen: { model: 'ultra' } })).toMatch(/"initial_option":\{"text":\{[^}]*"Default"/);
  });

  test.each([
    ['U1', 'Weekly <!channel> for <@U1> asks: why?'],
    [undefined, 'Weekly <!channel> asks: why?'],
  ])(
    "names a workflow's step by its label, in one line that notifies nobody (person: %s)",
    (person, said) => {
      const label = 'Weekly\n\u202e<!channel>';
      const step = { person, label, quote: undefined, choices: {}, files: [] };
      const post = questionPost({ ...step, question: 'why?' });
      const shown = visibleText(checkBlocks(post.blocks, 'message')).replaceAll(WORD_JOINER, '');
      expect(shown.replace('\n', ' ')).toBe(said);
      expect(JSON.stringify(post.blocks)).not.toContain('<!channel>');
      expect(post.text).not.toContain('<@U1>');
      expect(post.text).not.toContain('<!channel>');
    },
  );

  test('names the choices of a step in one line', () => {
    const choices = { model: 'a\n\u202emodel', skill: 'a\u2028skill' };
    expect(strings.chosenOptions(choices, ['a\nfile'])).toBe('Model a model · skill a skill · with a file');
  });

  test('has the message that it is about in its text, below the question', () => {
    const about = { person: 'U1', quote: 'Lane 4 is *empty*.', choices: {}, files: [] };
    expect(questionPost({ ...about, question: 'Why?' }).text).toBe('<@U1> asks: Why?\nLane 4 is *empty*.');
    const firstLink = 'https://lab.slack.com/archives/C1/p1';
    expect(questionPost({ ...about, question: '', firstLink }).text).toBe(
      `<@U1> asks about this message:\nLane 4 is *empty*.\n${strings.askedFirst(firstLink)}`,
    );
  });

  test('fits Slack, whatever its content', () => {
    const text = fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 40 }),
      fc.constantFrom('', ' ', 'T'.repeat(300), '🙂'.repeat(4_000), '<!channel> <@U1>', '\n'.repeat(400)),
    );
    const forms = fc.record({
      channel: fc.constantFrom({ chosen: undefined }, { chosen: 'C1' }),
      note: fc.option(text, { nil: undefined }),
      quote: fc.option(text, { nil: undefined }),
      question: fc.oneof(fc.constant('long' as const), fc.record({ text, optional: fc.boolean() })),
      fixed: fc.boolean(),
      chosen: fc.record({ title: text, model: text, skill: text, noFallback: fc.boolean() }),
      files: fc.array(text, { maxLength: 30 }),
      offers: fc.constantFrom(plain.offers, allOffers),
    });
    fc.assert(
      fc.property(forms, (form) => {
        const sayable = form.note === undefined || /\S/.test(form.note) ? form : { ...form, note: 'note' };
        shown(sayable);
        // In inputs stands what was typed, letter by letter.
        const around = startFormView({ ...plain, ...sayable }).blocks.filter(({ type }) => type !== 'input');
        expect(JSON.stringify(around)).not.toContain('<!channel>');
      }),
      { numRuns: 60 },
    );
  });

  test('has notices that fit too', () => {
    for (const sentence of Object.values(strings.startForm).filter((said) => typeof said === 'string'))
      expect(checkBlocks(noticeModal(strings.startForm.heading, sentence).blocks, 'modal')).toHaveLength(1);
  });
});

describe('the post that starts a thread', () => {
  test('names the asker and quotes the question verbatim', () => {
    const post = questionPost({
      person: 'U1',
      question: 'is *this* <!channel> & that?',
      quote: undefined,
      choices: { model: 'max', skill: 'summary', noFallback: true, mode: 'plan' },
      files: ['a.csv', 'b\nc.csv'],
    });
    const text = JSON.stringify(checkBlocks(post.blocks, 'message'));
    expect(text).toContain('"user_id":"U1"');
    expect(text).toContain('is *this* ');
    expect(text).toContain('Model Max · no other model · skill summary · plan first · with a.csv, b c.csv');
    expect(text).not.toContain('<!channel>');
    expect(post.text).toMatch(
      /^<@U1> asks: is \*this\* .*&amp; that\?\nModel Max · .* with a\.csv, b c\.csv$/,
    );
    expect(post.text).not.toContain('<!channel>');
  });

  test('fits Slack, whatever its content', () => {
    const text = fc.constantFrom('', ' ', 'x'.repeat(300), '🙂'.repeat(9_000), '&'.repeat(9_000), '@channel');
    const row = fc.array(text, { minLength: 1, maxLength: 30 });
    const tables = fc.array(fc.array(row, { minLength: 1, maxLength: 3 }), { maxLength: 3 });
    fc.assert(
      fc.property(text, text, text, row, tables, (question, quote, title, files, tables) => {
        const post = questionPost({
          person: 'U1',
          label: title || undefined,
          question,
          quote,
          choices: { title, skill: title },
          files,
          tables,
        });
        checkBlocks(post.blocks, 'message');
        expect(Buffer.byteLength(post.text)).toBeLessThan(4_000);
      }),
    );
  });
});
