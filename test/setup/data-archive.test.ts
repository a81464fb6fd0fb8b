import { expect, test } from 'vitest';
import { progressOf } from '../../setup/data-archive.ts';

test('a long copy says how far it is, for every 100 MB', () => {
  const lines: string[] = [];
  const onBytes = progressOf('Saved', 250_000_000, (line) => lines.push(line));
  for (let chunk = 0; chunk < 25; chunk += 1) onBytes(10_000_000);
  expect(lines).toEqual(['Saved 100 of 250 MB so far.', 'Saved 200 of 250 MB so far.']);
});
