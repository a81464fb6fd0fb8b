import { expect, test } from 'vitest';
import * as strings from '../../../src/render/strings/index.ts';
import { possibleTexts } from './possible-texts.ts';

const MOST_WORDS = 20;
const MOST_COMMAS = 2;

/** A sentence ends with its mark, or with its line; what stands in brackets or after a colon belongs to it. */
function longSentences(text: string): string[] {
  return text.split(/(?<=[.!?…][”)]*)\s+|\n/).filter((sentence) => {
    const words = sentence.split(/\s+/).filter((word) => /[\p{L}\d]/u.test(word));
    const commas = sentence.match(/,(?!\d)/g) ?? [];
    return words.length > MOST_WORDS || commas.length > MOST_COMMAS;
  });
}

test('a sentence of 21 words, or with three commas, is too long', () => {
  const words = 'word '.repeat(MOST_WORDS).trim();
  expect(longSentences(`${words}. ${words}!\n${words}`)).toEqual([]);
  expect(longSentences(`Short. One ${words}.`)).toEqual([`One ${words}.`]);
  expect(longSentences('One, two, three of 5,000.')).toEqual([]);
  expect(longSentences('One, two, three, four.')).toEqual(['One, two, three, four.']);
});

test('the texts include those that are put together from others', () => {
  const texts = new Set(possibleTexts().map(({ text }) => text));
  expect(texts.size).toBeGreaterThan(500);
  for (const said of [
    strings.fileMissing({ name: 'X', reason: 'unseen' }),
    strings.reviewFailed(''),
    strings.channelSettingsFailed.rejected(''),
  ])
    expect([...texts]).toContain(said);
});

test.each([
  ['src/render/strings', undefined],
  ['the pages in the browser', ['listeners/oauth-pages.ts', 'operate/result-link-pages.ts']],
])('no sentence of %s has more than 20 words or two commas', (_, files) => {
  const long = possibleTexts(files).flatMap(({ file, text }) =>
    longSentences(text).map((sentence) => `${file}: ${sentence}`),
  );
  expect([...new Set(long)]).toEqual([]);
});

test('a list or a reason that is filled in leaves a sentence short', () => {
  const names = ['Ada', 'Grace', 'Lise'];
  const said = [
    strings.operatorLimits({ channels: [], directMessages: false, groupMessages: false }),
    strings.inAnswerTo(names),
    strings.filesReceived(names),
    ...Object.values(strings.questionRefusals).map((why) => strings.questionNotPosted('X', why, 'X')),
  ];
  expect(said.flatMap(longSentences)).toEqual([]);
});
