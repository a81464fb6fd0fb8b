import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { misspeltFlag, parseFlags } from '../../../src/relay/reading/typed-choices.ts';

const none = { noFallback: false, autoMode: false, planMode: false };
const all = { noFallback: true, autoMode: true, planMode: true };
const read = (text: string, offered = none) => parseFlags(text, offered);

describe('flags at the beginning of a message', () => {
  test.each([
    ['--model max what is it?', { model: 'max' }, 'what is it?'],
    ['--model=max what is it?', { model: 'max' }, 'what is it?'],
    ['  --skill summary\nwhat is it?', { skill: 'summary' }, 'what is it?'],
    ['--title "The first run" look', { title: 'The first run' }, 'look'],
    ["--title 'It isn't so' look", { title: "It isn't so" }, 'look'],
    ['--title “The first run” look', { title: 'The first run' }, 'look'],
    ['—title „The first run“ look', { title: 'The first run' }, 'look'],
    ['—model max —skill summary go', { model: 'max', skill: 'summary' }, 'go'],
    ['––model max go', { model: 'max' }, 'go'],
    ['—Model Max go', { model: 'max' }, 'go'],
    ['--model fast --model max go', { model: 'max' }, 'go'],
    ['--skill skl_1 --title "A" --model ultra go', { skill: 'skl_1', title: 'A', model: 'ultra' }, 'go'],
    ['--model max', { model: 'max' }, ''],
  ])('%s', (text, choices, rest) => {
    expect(read(text)).toEqual({ choices, text: rest });
  });

  test.each([
    ['--verbose --model max go'],
    ['--model'],
    ['--model --skill x'],
    ['--title "never closed'],
    ['--title ""'],
    ['---model max go'],
    ['-model max go'],
    ['what does --model max do?'],
    ['`--model max` is what?'],
    ['--modelmax go'],
    ['— and so it goes'],
    ['--no-fallback go'],
    ['--plan go'],
    ['-- model max'],
    [''],
  ])('is text where it is no flag: %s', (text) => {
    expect(read(text)).toEqual({ choices: {}, text });
  });

  test('leave an unknown flag after known ones as text', () => {
    expect(read('--model max --verbose go')).toEqual({ choices: { model: 'max' }, text: '--verbose go' });
  });

  test('are accepted without a value where they are supported', () => {
    const { choices, text } = read('--no-fallback --auto --skill s go', all);
    expect({ choices, text }).toEqual({
      choices: { noFallback: true, mode: 'auto', skill: 's' },
      text: 'go',
    });
    expect(read('--plan=yes go', all).choices).toEqual({});
  });

  test('cut a title that is too long, and make it one line', () => {
    const { choices } = read(`--title "${'long\u0007  title '.repeat(100)}" go`);
    expect(choices.title).toHaveLength(300);
    expect(choices.title).toMatch(/^long title long title /);
  });
});

test.each([
  ['--modl max', 'model'],
  ['--modle max', 'model'],
  ['--titel "x"', 'title'],
  ['--skills summary', 'skill'],
  ['--pan', undefined],
  ['--demo', undefined],
  ['--model max', undefined],
])('in %s the flag that is meant is %s', (text, meant) => {
  expect(misspeltFlag(text, none)?.meant).toBe(meant);
});

describe('any text', () => {
  test('loses nothing but flags and the space around them', () => {
    const bits = fc.constantFrom(
      '--',
      '—',
      'model',
      'skill',
      'title',
      ' ',
      '=',
      '"',
      '“',
      '”',
      "'",
      '\n',
      'max',
    );
    const texts = fc
      .array(fc.oneof(bits, fc.string({ maxLength: 4 })), { maxLength: 14 })
      .map((all) => all.join(''));
    fc.assert(
      fc.property(texts, (text) => {
        const { choices, text: rest } = read(text, all);
        expect(text.endsWith(rest)).toBe(true);
        expect(Object.keys(choices).length > 0 || rest === text).toBe(true);
      }),
    );
  });

  test('is read the same with the flags put before it', () => {
    const word = fc.stringMatching(/^[a-z][a-z0-9_]{0,12}$/);
    const dash = fc.constantFrom('--', '—', '–', '––');
    const quotes = fc.constantFrom(['"', '"'], ['“', '”'], ['„', '“'], ["'", "'"], ['‘', '’']);
    const said = fc.string().filter((text) => !/^[\s\-\u2013\u2014\u2212]/.test(text));
    fc.assert(
      fc.property(word, word, word, dash, quotes, said, (model, skill, title, mark, [open, close], text) => {
        const typed = `${mark}model ${model} ${mark}skill=${skill} ${mark}title ${open}${title} x${close} ${text}`;
        const choices = { model, skill, title: `${title} x` };
        expect(read(typed)).toEqual({ choices, text: text.trimStart() });
      }),
    );
  });

  test('of any length is read at once', () => {
    const began = process.threadCpuUsage();
    for (const text of ['--title "'.repeat(10_000), `--title ${'"a '.repeat(30_000)}`, ' '.repeat(100_000)])
      read(text);
    expect(process.threadCpuUsage(began).user / 1_000).toBeLessThan(1_000);
  });
});
