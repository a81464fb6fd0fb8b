import { expect, test } from 'vitest';
import { parseJson } from '../../src/calls/json.ts';
import { withinMs } from '../support/busy-machine.ts';

test.each([
  ['\uFEFF{"a":1}', { a: 1 }],
  ['{"a":NaN,"b":[-Infinity,Infinity],"c":-NaN}', { a: null, b: [null, null], c: null }],
  ['{"NaN":"NaN","say \\"NaN\\"":NaN}', { NaN: 'NaN', 'say "NaN"': null }],
  ['{"path":"C:\\\\","n":NaN}', { path: 'C:\\', n: null }],
  [' null\r\n', null],
  ['NaN', null],
  [
    '{"id":9007199254740993,"a":[-12345678901234567890]}',
    { id: '9007199254740993', a: ['-12345678901234567890'] },
  ],
  [
    '{"id":9007199254740991,"b":1e30,"c":"12345678901234567890"}',
    { id: 9007199254740991, b: 1e30, c: '12345678901234567890' },
  ],
  ['[0.50000000000000000,1000000000000000000.5]', [0.5, 1e18]],
  ['{"a":NaNs}', undefined],
  ['{"a":"NaN', undefined],
  ['{"a":NaN "b"}', undefined],
  ['<html>Infinity</html>', undefined],
  ['', undefined],
])('%j is read as %j', (text, value) => {
  expect(parseJson(text)).toEqual(value);
});

test.each([
  ['escapes', '"a":"', '\\"'],
  ['texts', '"a', '",NaN,"'],
])('a torn text with many %s is given up at once', (_, start, piece) => {
  const began = performance.now();
  expect(parseJson(`{"n":NaN,${start}${piece.repeat(100_000)}`)).toBeUndefined();
  expect(performance.now() - began).toBeLessThan(withinMs(15_000));
});

test('many bare numbers among many texts are read in time linear to their number', () => {
  const text = JSON.stringify(Array.from({ length: 50_000 }, () => 'a "quoted" text')).replaceAll(
    ',',
    ',NaN,',
  );
  const began = performance.now();
  expect(parseJson(text)).toHaveLength(99_999);
  expect(performance.now() - began).toBeLessThan(withinMs(10_000));
});
