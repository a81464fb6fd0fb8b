import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { serviceFileName } from '../../../src/relay/sending/file-upload.ts';
import { anyCharacter } from '../../support/any-character.ts';

test.each([
  ['run 18.csv', 'run 18.csv'],
  ['Größe <1> & "so" 测试 😀.csv', 'Größe <1> & "so" 测试 😀.csv'],
  ['../../etc/passwd', '.._.._etc_passwd'],
  ['C:\\data\\a.csv', 'C:_data_a.csv'],
  ['a\u0000b\nc.csv', 'a b c.csv'],
  ['abc\u202Evsc.exe', 'abcvsc.exe'],
  ['..', 'file-F1'],
  ['  ', 'file-F1'],
])('%j is named %j at the service', (name, sent) => {
  expect(serviceFileName(name, 'F1')).toBe(sent);
});

test('a file without a name is named after its id', () => {
  expect(serviceFileName(undefined, 'F1')).toBe('file-F1');
});

test('a name of 300 characters is cut and keeps its extension', () => {
  const name = serviceFileName(`${'😀'.repeat(300)}.fastq`, 'F1');
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
  expect(name).toMatch(/^😀+\.fastq$/u);
});

test('any name becomes short and visible, without path separators', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 400 }), (name) => {
      const sent = serviceFileName(name, 'F1');
      expect(Buffer.byteLength(sent)).toBeLessThanOrEqual(255);
      expect(sent).not.toMatch(/[\p{Cc}/\\]/u);
      expect(sent.trim()).not.toBe('');
    }),
  );
});
