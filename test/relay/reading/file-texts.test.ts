import { expect, test } from 'vitest';
import {
  emailText,
  fileName,
  slackFileName,
  transcriptBlocks,
} from '../../../src/relay/reading/file-texts.ts';
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

const email = (fields: Record<string, unknown>) =>
  emailText(slackFileSchema.parse({ id: 'F1', mode: 'email', name: 'meow', ...fields }));

test('an e-mail has a head of what is known of it, each on one line', () => {
  const to = [{ address: 'a@b.example', name: '', original: '' }, { name: 'no address' }];
  const fields = {
    subject: 'Run 7\nBcc: x',
    plain_text: 'It worked.\n\n',
    to,
    cc: null,
    headers: { date: 7 },
  };
  expect(email(fields)).toEqual({
    name: 'Run 7 Bcc: x',
    text: 'Subject: Run 7 Bcc: x\nTo: a@b.example\n\nIt worked.\n',
  });
});

test('an e-mail without words, and any other file, has no text of its own', () => {
  expect(email({ plain_text: ' ' })).toBeUndefined();
  expect(email({ mode: 'hosted', plain_text: 'words' })).toBeUndefined();
  expect(email({ plain_text: 'words' })?.name).toBe('meow');
});

test('a transcript says whose it is, and whether Slack has more of it', () => {
  const said = (content: string, more: object = {}) =>
    JSON.stringify(
      transcriptBlocks([{ name: 'clip.m4a', transcription: { preview: { content, ...more } } }]),
    );
  expect(said('Hello')).toContain("[Slack's transcript of clip.m4a: Hello]");
  expect(said('Hello', { has_more: true })).toContain('Hello…]');
  expect(said(' ')).toBe('[]');
});
