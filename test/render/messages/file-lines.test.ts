import { describe, expect, test } from 'vitest';
import {
  fileNoteLines,
  fileProgressLines,
  fileProgressSentence,
} from '../../../src/render/messages/file-lines.ts';

const limits = {
  maxFileBytes: 1e9,
  maxMessageBytes: 2e9,
  maxMessageFiles: 9,
  allowedTypes: [],
  refusedTypes: [],
};

describe('while files are sent', () => {
  test('each has a line with its name, size and state', () => {
    const lines = fileProgressLines(
      [
        { state: 'moving', name: 'big.bam', sizeBytes: 400e6, sentBytes: 171e6 },
        { state: 'moving', name: 'small.csv', sizeBytes: 4e3, sentBytes: 2e3 },
        { state: 'waiting', name: 'next.csv', sizeBytes: 5e3 },
        { state: 'processing', name: 'new\nfi\u202Ele' },
        { state: 'over', outcome: { name: 'done.csv', sizeBytes: 6e3, reason: null } },
        { state: 'over', outcome: { name: 'old.csv', reason: 'deleted' } },
      ],
      limits,
    );
    expect(lines).toEqual([
      '“big.bam” (400 MB): 40 %',
      '“small.csv” (4 KB): sending',
      '“next.csv” (5 KB): waiting',
      '“new file”: Slack is still processing it',
      '“done.csv” (6 KB): sent',
      '“old.csv” was left out: it was deleted. If the agent needs it, share it again.',
    ]);
  });

  test('the percentage ends at 100', () => {
    const file = { state: 'moving', name: 'a', sizeBytes: 10e6, sentBytes: 11e6 } as const;
    expect(fileProgressLines([file], limits)).toEqual(['“a” (10 MB): 100 %']);
  });

  test('a sentence counts the files that are done', () => {
    const over = { state: 'over', outcome: { name: 'a', reason: null } } as const;
    expect(fileProgressSentence([over, { state: 'waiting', name: 'b' }])).toContain('1 of 2');
  });
});

test('files whose long names differ at their ends can be told apart', () => {
  const names = ['R1', 'R2'].map((read) => `${'2026-11-28_liver_biopsy_'.repeat(5)}${read}.fastq.gz`);
  const lines = fileProgressLines(
    names.map((name) => ({ state: 'waiting', name })),
    limits,
  );
  expect(lines.map((line) => /…\S*_(R\d\.fastq\.gz)”/.exec(line)?.[1])).toEqual([
    'R1.fastq.gz',
    'R2.fastq.gz',
  ]);
});

describe('after files were sent', () => {
  const left = { name: 'a.csv', reason: 'empty' };

  test('one line names each file that was left out, with what to do about it', () => {
    const others = [
      { name: 'run.exe', reason: 'type_refused' },
      { name: 'huge.csv', reason: 'too_large', sizeBytes: 2_000_000_000 },
    ];
    const lines = fileNoteLines([left, { name: 'fine.csv', reason: null }, ...others], limits);
    expect(lines).toEqual([
      "“a.csv” was left out: it's empty (0 bytes). Check it and share it again.",
      "“run.exe” was left out: I don't send files of this type here. Share it as another type.",
      expect.stringMatching(
        /^“huge\.csv” was left out: it's too large \(2 GB\)\. Share a part of at most .*B\.$/,
      ),
    ]);
  });

  test('a file whose link was sent is not missing', () => {
    const lines = fileNoteLines([{ name: 'plan', reason: 'external' }], limits);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('gets the link');
  });
});
