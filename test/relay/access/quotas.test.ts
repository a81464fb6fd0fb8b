import { expect, test } from 'vitest';
import { toldWaitMs } from '../../../src/relay/access/quotas.ts';
import * as strings from '../../../src/render/strings/index.ts';

test.each([
  [-5, '1 s'],
  [1, '1 s'],
  [59_001, '1 min'],
  [60_001, '2 min'],
  [779_000, '13 min'],
  [3_599_000, '1 h'],
])('a quota that has room in %d ms sends nobody back before that: in %s', (ms, shown) => {
  const sentence = strings.quotaReached({ limit: 'hourPerson', most: 60, waitMs: toldWaitMs(ms) });
  expect(sentence).toMatch(new RegExp(`send it again in ${shown}\\.$`));
});
