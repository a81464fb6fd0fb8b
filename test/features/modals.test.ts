import { expect, test } from 'vitest';
import { parsePage } from '../../src/features/modals.ts';

test('a page button names its list and page', () => {
  expect(parsePage('own/12')).toEqual({ list: 'own', page: 12 });
  expect(parsePage('/0')).toEqual({ list: '', page: 0 });
  for (const odd of ['', 'own', 'own/', 'own/-1', 'own/1/2', "o'wn/1"])
    expect(parsePage(odd)).toBeUndefined();
});
