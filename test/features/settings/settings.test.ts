import { expect, test } from 'vitest';
import {
  formatBotList,
  parseBotList,
  SETTING_KEYS,
  SETTINGS,
} from '../../../src/features/settings/settings.ts';
import { readPages } from '../../repository/docs-checks.ts';

test.each([
  ['', null],
  ['  ', null],
  ['None', []],
  ['B012', ['B012']],
  ['B012, B034  B012', ['B012', 'B034']],
  ['the other bot', undefined],
  ['none, B012', undefined],
  ['U012', undefined],
  [Array.from({ length: 51 }, (_, index) => `B${index}`).join(), undefined],
])('a list of bots typed as %j is read as %j', (typed, bots) => {
  expect(parseBotList(typed)).toEqual(bots);
});

test.each([[null], [[]], [['B012']], [['B012', 'B034']]])('the list %j reads back as it is shown', (bots) => {
  expect(parseBotList(formatBotList(bots))).toEqual(bots);
});

test('the guide for scientists explains each setting', () => {
  const guide = readPages().get('docs/for-scientists.md');
  for (const key of SETTING_KEYS) expect(guide).toContain(`| **${SETTINGS[key].words.label}** |`);
});
