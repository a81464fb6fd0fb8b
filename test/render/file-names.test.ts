import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { freeName, nameParts, storedName } from '../../src/render/file-names.ts';
import { anyCharacter } from '../support/any-character.ts';

describe('the name of a file for storages', () => {
  test.each([
    ['run 18.csv', 'run 18.csv'],
    ['Größe <1> & "so" 测试 😀.csv', 'Größe <1> & "so" 测试 😀.csv'],
    ['../../etc/passwd', '.._.._etc_passwd'],
    ['C:\\data\\a.csv', 'C:_data_a.csv'],
    ['a\u0000b\nc.csv', 'a b c.csv'],
    ['abc\u202Evsc.exe', 'abcvsc.exe'],
    ['plate 7. ', 'plate 7'],
    ['..', 'file-F1'],
    ['  ', 'file-F1'],
    ['\u200B\u2060', 'file-F1'],
    ['', 'file-F1'],
  ])('is, of %j, %j', (name, stored) => {
    expect(storedName(name, 'file-F1')).toBe(stored);
  });

  test.each([
    [`${'😀'.repeat(300)}.fastq`, /^😀+\.fastq$/u],
    [`${'n'.repeat(300)}.vcf.gz`, /^n{248}\.vcf\.gz$/],
    [`${'n'.repeat(300)}.bam.bai`, /^n{247}\.bam\.bai$/],
    [`${'n'.repeat(300)} 0.05.csv`, /^n{251}\.csv$/],
    ['测'.repeat(300), /^测{85}$/],
  ])('is cut and keeps its endings (%j)', (name, stored) => {
    expect(storedName(name, 'file')).toMatch(stored);
    expect(Buffer.byteLength(storedName(name, 'file'))).toBeLessThanOrEqual(255);
  });

  test('is short and visible, without path separators, whatever the name is', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 400 }), (name) => {
        const stored = storedName(name, 'file');
        expect(Buffer.byteLength(stored)).toBeLessThanOrEqual(255);
        expect(stored).not.toMatch(/[\p{Cc}/\\]|[. ]$|^[\p{Cf}\s]*$/u);
      }),
    );
  });
});

test.each([
  ['reads.fastq.gz', 'reads', '.fastq.gz'],
  ['alpha 0.05.csv', 'alpha 0.05', '.csv'],
  ['report', 'report', ''],
  ['p < 0.', 'p < 0.', ''],
])('%j has the ending of its kind', (name, stem, ending) => {
  expect(nameParts(name)).toEqual([stem, ending]);
});

test('names that some file system takes for one get numbers, too', () => {
  const names = new Set<string>();
  const given = [
    '\u00b5RNA.csv',
    '\u03bcRNA.csv',
    'e\u0301.txt',
    '\u00e9.txt',
    'ΟΔΟΣ.txt',
    'οδος.txt',
    'οδοσ.txt',
  ];
  expect(given.map((name) => freeName(name, names))).toEqual([
    ...['\u00b5RNA.csv', '\u03bcRNA (2).csv', 'e\u0301.txt', '\u00e9 (2).txt'],
    ...['ΟΔΟΣ.txt', 'οδος (2).txt', 'οδοσ (3).txt'],
  ]);
});

test('files of one name get numbers before their endings', () => {
  const names = new Set<string>();
  const given = ['image.png', 'Image.png', 'image.png', 'image (2).png', 'a.vcf.gz', 'a.vcf.gz'];
  expect(given.map((name) => freeName(name, names))).toEqual([
    ...['image.png', 'Image (2).png', 'image (3).png', 'image (2) (2).png', 'a.vcf.gz', 'a (2).vcf.gz'],
  ]);
});
