import { expect, test } from 'vitest';
import { fileType } from '../../src/render/file-types.ts';

test.each([
  ['counts.csv.gz', 'text/csv', 'application/gzip'],
  ['figure.png.gz', 'image/png', 'application/gzip'],
  ['calls.vcf', 'text/x-vcard', 'text/plain'],
  ['calls.vcf.bgz', 'text/x-vcard', 'application/gzip'],
  ['6VXX.pdb', 'application/vnd.palm', 'chemical/x-pdb'],
  ['peaks.bed', 'application/vnd.realvnc.bed', 'text/plain'],
  ['atlas.h5ad', 'application/octet-stream', 'application/x-hdf5'],
  ['Table S1.CSV', 'application/vnd.ms-excel', 'text/csv'],
  ['reads.BAM', 'text/plain', 'application/octet-stream'],
  ['notes.docx', 'application/msword', 'application/msword'],
  ['README', 'text/plain', 'text/plain'],
  ['x.constructor', 'a/b', 'a/b'],
])('%s, announced as %s, is %s', (name, announced, type) => {
  expect(fileType(name, announced)).toBe(type);
});
