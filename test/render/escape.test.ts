import { expect, test } from 'vitest';
import { csvLine } from '../../src/render/csv-line.ts';

test.each([
  '=1+1',
  '+49-40-12',
  '-1/2',
  '@SUM(A1)',
  '+A1',
  '-$B$2+3',
  '-NH2',
  '-PI()',
  '-LOG10 (5)',
  '-2(3)',
  '-1 (A1)',
  '\t=1',
  '\r=1',
  '\t-A1',
  '＝1+1',
  '-f("text")',
  "+name|'x'!A0",
  '=HYPERLINK("http://two.example")',
])('a cell with the text %j is not run as a formula', (text) =>
  expect(csvLine([text])).toBe(`"'${text.replaceAll('"', '""')}"`),
);

const measured = [
  '-1.5',
  '+1.2e-3',
  '-5',
  '-1,234.5',
  '-1,5',
  '-.5',
  '-12%',
  -7,
  3,
  '−5',
  '-20 °C',
  '-1 to 5',
  '-0.32 (0.12)',
  '-1.2 (-2.0, -0.4)',
  '-12% (3)',
  '-1.2e-05 (3.4e-06)',
  '-0.32*** (0.12)',
];
const signs = [
  '-',
  '+',
  '--',
  '-/-',
  '+/-',
  '+/+',
  '+/+, Trp53<tm1Tyj>/J',
  '+/−',
  '-Inf',
  '-log10(padj)',
  '-log2FC',
  '-OH',
  '-ΔΔCt',
];
const words = [
  'a=b',
  'p@one.org',
  '@handle',
  '@37 °C',
  "'=1",
  '',
  ' -',
  '=',
  '- control',
  '+49 40 12',
  '\tx',
];

test.each([...measured, ...signs, ...words])('a cell with %j stays as it is', (value) =>
  expect(csvLine(['x', value])).toBe(`"x","${value}"`),
);
