import { describe, expect, test } from 'vitest';
import * as strings from '../../../src/render/strings/strings.ts';

const limits = {
  maxFileBytes: 2e9,
  maxMessageBytes: 4e9,
  maxMessageFiles: 3,
  allowedTypes: ['.csv', 'image/*'],
  refusedTypes: [],
};

describe('the words for a file that was left out', () => {
  test('name its size and the most that is taken, where they are known', () => {
    const file = { name: 'a.bam', reason: 'too_large' };
    expect(strings.fileMissing(file)).toBe('“a.bam” was left out: it is too large.');
    expect(strings.fileMissing({ ...file, sizeBytes: 3e9, limits })).toBe(
      '“a.bam” was left out: it is too large (3 GB). The most I can take is 2 GB.',
    );
  });

  test.each([
    ['too_many', 'there are too many files in one message. The most I can take is 3.'],
    ['message_full', 'the files of this message are too large together. The most I can take is 4 GB.'],
    ['type_refused', 'files of this type are not passed on here. These are passed on: .csv, image/*.'],
  ])('name the limit that was hit: %s', (reason, said) => {
    expect(strings.fileMissing({ name: 'a.bam', reason, limits })).toBe(`“a.bam” was left out: ${said}`);
  });

  test("hold the service's own words", () => {
    const file = { name: 'a.bam', reason: 'service_refused' };
    expect(strings.fileMissing({ ...file, detail: 'no such\nformat' })).toBe(
      '“a.bam” was left out: the agent service did not accept it: “no such format”.',
    );
  });

  test.each(['toString', '__proto__', 'never heard of'])(
    'say that the download failed for the reason %s',
    (reason) => {
      expect(strings.fileMissing({ name: 'a\nb', reason })).toMatch(
        /^“a b” was left out: it could not be downloaded/,
      );
    },
  );
});

describe('words of the service', () => {
  test.each([strings.failed, strings.rejected, strings.unreadable])(
    'in %o are put into the sentence, on one line and cut',
    (sentence) => {
      expect(sentence('')).toMatch(/^[^“]*\. \S/);
      expect(sentence('too\n busy')).toContain(': “too busy”. ');
      expect(sentence('Sorry!')).toContain(': “Sorry!” ');
      expect(sentence('x'.repeat(9_000)).length).toBeLessThan(800);
    },
  );
});

describe('sentences with numbers', () => {
  test.each([
    [strings.resultsHeading(1, 1, 1), '1 file from the agent'],
    [strings.resultsHeading(60, 48, 60), '60 files from the agent, 48 to 60'],
    [strings.stepsDone(0, 2_000), 'Took 2 s.'],
    [strings.stepsDone(1, 2_000), '1 step in 2 s'],
    [strings.askerLine('U1', 'done', 60_000), '<@U1> the answer is ready (it took 1 min).'],
    [strings.askerLine(undefined, 'failed', 60_000), 'This did not work (it took 1 min).'],
    [strings.cancelled(''), 'Stopped.'],
    [strings.cancelled('Ada'), 'Stopped by Ada.'],
  ])('%s', (said, expected) => {
    expect(said).toBe(expected);
  });
});

test('buttons fit Slack, which takes 75 characters', () => {
  for (const label of Object.values(strings.buttons)) expect(label.length).toBeLessThanOrEqual(75);
});
