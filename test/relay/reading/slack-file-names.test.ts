import { expect, test } from 'vitest';
import { fileName, slackFileName } from '../../../src/relay/reading/slack-file-names.ts';
import { slackFileSchema } from '../../../src/slack/downloadable-files.ts';

test.each([
  ['image.png', 'image.png', 'image.png'],
  ['image.png', 'image', 'image.png'],
  ['lab_plan.md', 'Lab plan', 'lab_plan.md'],
  ['re\u0301sume\u0301.csv', 'r\u00e9sum\u00e9', 're\u0301sume\u0301.csv'],
  ['image.png', 'Gel 3, left', 'Gel 3, left.png'],
  ['reads.fastq.gz', 'KO_rep1.FASTQ.gz', 'KO_rep1.FASTQ.gz'],
  ['reads.fastq.gz', 'KO_rep1', 'KO_rep1.fastq.gz'],
  ['tool.exe', 'table.csv', 'table.csv.exe'],
  ['counts.v2.csv', 'counts v2', 'counts.v2.csv'],
  ['counts.v2.csv', 'Counts for Ada.csv', 'Counts for Ada.csv'],
  ['image.png', ' ', 'image.png'],
  ['image.png', null, 'image.png'],
  [null, 'Notes', 'Notes'],
])('a file named %j with the title %j goes by the name %j', (name, title, shown) => {
  expect(slackFileName(slackFileSchema.parse({ id: 'F1', name, title }))).toBe(shown);
});

test('a file without name and title is called one', () => {
  expect(slackFileName({ id: 'F1' })).toBeUndefined();
  expect(fileName({ id: 'F1' })).toBe('a file');
  expect(fileName({ id: 'F1', mode: 'tombstone' })).toBe('a deleted file');
});
