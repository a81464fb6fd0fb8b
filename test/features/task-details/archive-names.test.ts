import { expect, test } from 'vitest';
import {
  archiveName,
  entryName,
  plainEntryName,
  toAscii,
} from '../../../src/features/task-details/archive-names.ts';

test.each([
  ['counts.csv', 'counts.csv'],
  ['Größe β.tsv', 'Gro_e.tsv'],
  ['β-actin_rep1.fastq.gz', 'actin_rep1.fastq.gz'],
  ['图.png', 'file.png'],
  ['日本語', 'file'],
  ['../../etc/passwd', 'etc_passwd'],
  ['a..b.csv', 'a.b.csv'],
  ['.bashrc', 'file.bashrc'],
  ['con.csv', 'con_.csv'],
  ['aux.qc.norm.v2.csv', 'aux_.qc.norm.v2.csv'],
  ['com¹.csv', 'com1_.csv'],
  ['ro-crate-metadata.json', 'ro-crate-metadata_.json'],
  ['Run metadata.JSON', 'Run_metadata_.JSON'],
  ['metadata.json.txt', 'metadata.json.txt'],
  ['C:\\data\\x.txt', 'C_data_x.txt'],
  ['name. ', 'name'],
  ['', 'unnamed_file'],
  [`${'long '.repeat(40)}.csv`, `${'long_'.repeat(12).slice(0, -1)}.csv`],
])('a file named %j is %j in a record, which every notebook reads', (name, plain) => {
  expect(plainEntryName(name === '' ? 'unnamed file' : name, new Set())).toBe(plain);
  expect(plain).toMatch(/^[A-Za-z0-9][A-Za-z0-9._-]*$/);
});

test('files of one name get numbers, whatever the case of their letters', () => {
  const [plain, any] = [new Set(['record.html']), new Set<string>()];
  const names = ['a.csv', 'A.csv', 'record.html', 'ä.csv'];
  expect(names.map((name) => plainEntryName(name, plain))).toEqual([
    ...['a.csv', 'A-2.csv', 'record-2.html', 'a-3.csv'],
  ]);
  expect(names.map((name) => entryName(name, any))).toEqual([
    ...['a.csv', 'A (2).csv', 'record.html', 'ä.csv'],
  ]);
});

test.each([
  ['results/plate 1.csv', 'results_plate 1.csv'],
  ['a:b?.csv', 'a_b_.csv'],
  ['con.csv', 'con_.csv'],
  ['aux.qc.norm.v2.csv', 'aux_.qc.norm.v2.csv'],
  ['com¹.csv', 'com¹_.csv'],
  ['conout$', 'conout$_'],
  ['nul .csv', 'nul_ .csv'],
  ['con report.csv', 'con report.csv'],
  ['console.csv', 'console.csv'],
  ['plate 7. ', 'plate 7'],
  ['<@U1> & @channel.csv', '_@U1_ & @channel.csv'],
  ['', 'unnamed file'],
])('a file named %j is %j among those of an answer, which every file system takes', (name, entry) => {
  expect(entryName(name, new Set())).toBe(entry);
});

test('files with one long name have entries that file systems take, with their endings', () => {
  for (const stem of ['x'.repeat(300), '测'.repeat(200)]) {
    const names = new Set<string>();
    const entries = Array.from({ length: 12 }, () => entryName(`${stem}.vcf.gz`, names));
    expect(Math.max(...entries.map((entry) => Buffer.byteLength(entry)))).toBeLessThanOrEqual(255);
    expect(entries.every((entry) => entry.endsWith('.vcf.gz'))).toBe(true);
    expect(new Set(entries).size).toBe(12);
  }
});

test('an archive is named by its words, a record by those with ASCII letters', () => {
  expect(archiveName('files-2026-11-20-Größe, der “Schafe”/羊!')).toBe(
    'files-2026-11-20-Größe-der-Schafe-羊',
  );
  expect(archiveName(`task-record-2026-11-20-${toAscii('Größe der 羊')}`)).toBe(
    'task-record-2026-11-20-Gro-e-der',
  );
  expect(archiveName(`task-record-2026-11-20-${toAscii('羊')}`)).toBe('task-record-2026-11-20');
});
