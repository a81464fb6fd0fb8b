import { expect, test } from 'vitest';
import { csvLine } from '../../src/render/text-format.ts';

test.each([
  '=1+1',
  '+49 40 12',
  '-x',
  '-',
  '@SUM(A1)',
  '\t=1',
  '\r=1',
  '-1-cmd',
  '=HYPERLINK("http://two.example")',
])('a cell with the text %j is not run as a formula', (text) =>
  expect(csvLine([text])).toBe(`"'${text.replaceAll('"', '""')}"`),
);

test.each(['-1.5', '+2e-3', '-1,234.5', '-1,5', '-.5', '-12%', -7, 3, 'a=b', 'p@one.org', "'=1", '', ' -'])(
  'a cell with %j stays as it is',
  (value) => expect(csvLine(['x', value])).toBe(`"x","${value}"`),
);
