import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type CellNumber,
  doNumbersAgree,
  machineReadable,
  numberInCell,
  plainCell,
} from '../../../src/render/messages/cell-numbers.ts';
import { anyCharacter } from '../../support/any-character.ts';

function found(cell: string): CellNumber {
  const number = numberInCell(cell);
  if (number === undefined) throw new Error(`There is no number in ${cell}.`);
  return number;
}

const agree = (one: string, other: string) => doNumbersAgree(found(one), found(other));

describe('a cell', () => {
  test.each([
    ['1.80', '1.8'],
    ['1,234', '1234'],
    ['7\u2009674\u2009220', '7674220'],
    ['1\u00a0234', '1234'],
    ['$1.8 \\pm 0.2$', '1.8'],
    ['−0.5', '-0.5'],
    ['–0.5', '-0.5'],
    ['+2', '2'],
    ['.5', '0.5'],
    ['2.5 × 10⁻⁸', '2.5e-8'],
    ['2.5×10^-8', '2.5e-8'],
    ['2.5 x 10−8', '2.5e-8'],
    ['$2.5 \\times 10^{-8}$', '2.5e-8'],
    ['2.5\\*10^-8', '2.5e-8'],
    ['2.5 × 10<sup>−8</sup>', '2.5e-8'],
    ['10⁻⁸', '1e-8'],
    ['10^3', '1e3'],
    ['1.2E-05', '1.2e-5'],
    ['**0.03**', '0.03'],
    ['0.003\\*\\*', '0.003'],
    ['0.003***', '0.003'],
    ['45 %', '45%'],
    ['2.5x', '2.5×'],
    ['`12`', '12'],
    ['1.8 ± 0.2', '1.8'],
    ['1.8 (95% CI 1.2–2.4)', '1.8'],
    ['1.8 [1.2, 2.4]', '1.8'],
    ['45% (40–50)', '45%'],
    ['&lt;0.001', '<0.001'],
    ['≤ 0.05', '<0.05'],
    ['1e-400', '1.0 × 10⁻⁴⁰⁰'],
    ['5 mg/kg', '5.0 mg/kg'],
  ])('of %s holds the number that %s does', (cell, other) => {
    const { halfStep: _, ...one } = found(cell);
    expect(one).toMatchObject({ bound: found(other).bound, unit: found(other).unit });
    expect(agree(cell, other)).toBe(true);
  });

  test.each([
    '0,500',
    '10–15',
    '10-20',
    ...['', '—', '-', 'NA', 'n/a', 'TP53', 'p.R175H', '293T', '9q31', '17p13.1', '5-HT', '007', '1.2.3'],
    ...['1.8–2.4', '1.8 to 2.4', '12/15', '2024-01-05', '1,8', '10.1038/x', '3 x 100', '~5', '1.8 (up)'],
    ...['p = 0.03', '<', '1'.repeat(61)],
  ])('of “%s” holds no plain number', (cell) => {
    expect(numberInCell(cell)).toBeUndefined();
  });

  test('of any text is read without an error, and in no time', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 80 }), (text) => {
        expect(plainCell(text).length).toBeLessThanOrEqual(text.length + 1);
        const number = numberInCell(text);
        expect(number === undefined || doNumbersAgree(number, number)).toBe(true);
      }),
    );
    for (const piece of ['1,111', '1 mg ', '(1', '1×10^', '\\', '<sup>', '**'])
      expect(numberInCell(piece.repeat(100_000))).toBeUndefined();
  });
});

test.each([
  ['2.5', '2.5'],
  ['−0.31', '-0.31'],
  ['–0.31', '-0.31'],
  ['+7', '+7'],
  ['1.5 × 10⁻³', '1.5e-3'],
  ['−2·10⁺⁸', '-2e+8'],
  ['10⁻⁵', '1e-5'],
  ['-10¹²', '-1e12'],
  ['\u2060−1', '-1'],
  ['p < 10⁻⁵', 'p < 10⁻⁵'],
  ['CO₂', 'CO₂'],
  ['3–5', '3–5'],
  ['−', '−'],
])('programs read the cell %s as %s', (cell, number) => {
  expect(machineReadable(cell)).toBe(number);
});

describe('two numbers', () => {
  test.each([
    ['1.8', '1.80', true],
    ['1.8', '1.84', 'rounded'],
    ['1.8', '1.86', false],
    ['1.80', '1.84', false],
    ['100', '100.9', true],
    ['100', '102', false],
    ['1', '2', false],
    ['2', '1.6', false],
    ['2e-8', '2.4e-8', 'rounded'],
    ['10⁻⁸', '1e-8', true],
    ['0', '0.000', true],
    ['0.000', '0.0004', 'rounded'],
    ['0', '1e-300', 'rounded'],
    ['0', '0.4', false],
    ['1e-300', '1e-301', false],
    ['1e-400', '1e-500', false],
    ['1e-400', '1.001e-400', true],
    ['1e400', '1e-400', false],
    ['-0.5', '0.5', false],
    ['<0.001', '0.0004', 'rounded'],
    ['0.0004', '< 0.001', 'rounded'],
    ['<0.001', '0.02', false],
    ['>100', '250', 'rounded'],
    ['>100', '50', false],
    ['<2.2e-16', '2.2e-16', 'rounded'],
    ['<0.001', '<0.001', true],
    ['<0.001', '<0.01', undefined],
    ['<0.001', '>0.001', undefined],
    ['45%', '0.45', undefined],
    ['5 mg', '5 g', undefined],
    ['<0.001', '0.0012', false],
    ['<0.05', '0.054', false],
    ['5%', '5.4%', 'rounded'],
    ['5%', '6%', false],
    ['1.8 ± 0.2 mg', '1800 ± 200 µg', undefined],
    ['1.8 ± 0.2 mg', '1.8 mg ± 0.1', true],
    ['12 (10–14) h', '720 (600–840) min', undefined],
    ['12 (34%)', '12 (34.3%)', true],
  ] as const)('%s and %s: %s', (one, other, expected) => {
    expect(agree(one, other)).toBe(expected);
    expect(agree(other, one)).toBe(expected);
  });

  const size = fc.tuple(fc.integer({ min: 1_000, max: 9_999 }), fc.integer({ min: -320, max: 300 }));

  test('agree however they are written', () => {
    const superscript = (text: string) =>
      text.replace(/[-\d]/g, (sign) => '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'.charAt('-0123456789'.indexOf(sign)));
    fc.assert(
      fc.property(size, fc.boolean(), ([digits, exponent], isNegative) => {
        const mantissa = (isNegative ? -digits : digits) / 1_000;
        const written = [
          `${mantissa}e${exponent}`,
          `${mantissa.toFixed(5)}E${exponent < 0 ? '' : '+'}${exponent}`,
          `${String(mantissa).replace('-', '−')} × 10${superscript(String(exponent))}`,
          `${String(mantissa).replace('-', '–')}×10^${exponent}`,
          `$${mantissa} \\times 10^{${exponent}}$`,
        ];
        for (const one of written) for (const other of written) expect(agree(one, other)).toBe(true);
      }),
    );
  });

  test('agree if one is the other rounded, and differ beyond 1 % where both are exact', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -1e6, max: 1e6, noNaN: true }),
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 0, max: 4 }),
        fc.double({ min: 0.011, max: 10, noNaN: true }),
        (value, decimals, fewer, change) => {
          const rounded = Number(value.toFixed(decimals + fewer)).toFixed(decimals);
          expect(agree(rounded, value.toFixed(decimals + fewer))).toBeTruthy();
          const exact = (number: number) => number.toExponential(12);
          const isNothing = Math.abs(value) < 1e-9;
          expect(isNothing || agree(exact(value), exact(value * (1 + change)))).toBe(isNothing);
        },
      ),
    );
  });
});
