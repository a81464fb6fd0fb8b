import { describe, expect, test } from 'vitest';
import * as strings from '../../../src/render/strings/index.ts';

const limits = {
  maxFileBytes: 2e9,
  maxMessageBytes: 4e9,
  maxMessageFiles: 3,
  allowedTypes: ['.csv', 'image/*'],
  refusedTypes: [],
};

test('the choice that lets steps of workflows ask says whom it lets in', () => {
  const hint = strings.settings.allow_workflow_steps.description;
  expect(hint).toContain('every workflow of the workspace');
  // The longest description of an option (https://docs.slack.dev/reference/block-kit/composition-objects/option-object).
  expect(hint.length).toBeLessThanOrEqual(75);
});

test('the note on a message that waits stays true after a stop, which nobody can write into it', () => {
  expect(strings.messageQueued).toMatch(/when it's done\. If somebody stops it, your message waits\.$/);
});

describe('the sentence for a file that was left out', () => {
  test('names its size and the limit, if they are known', () => {
    const file = { name: 'a.bam', reason: 'too_large' };
    expect(strings.fileMissing(file)).toBe("“a.bam” was left out: it's too large. Share a part of it.");
    expect(strings.fileMissing({ ...file, sizeBytes: 3e9, limits })).toBe(
      "“a.bam” was left out: it's too large (3 GB). Share a part of at most 2 GB.",
    );
  });

  test.each([
    [
      'too_many',
      'there are too many files in one message, quoted ones included. Share it again in another message. The limit is 3.',
    ],
    [
      'message_full',
      'the files in this message, quoted ones included, are too large together. Share it again in another message. The limit is 4 GB.',
    ],
    ['type_refused', "I don't send files of this type here. Share it as one of these: .csv, image/*."],
  ])('names the limit that was exceeded: %s', (reason, said) => {
    expect(strings.fileMissing({ name: 'a.bam', reason, limits })).toBe(`“a.bam” was left out: ${said}`);
  });

  test.each([
    ['missing_scope', /^I'm not allowed to read files here\. .* files:read /],
    ['hidden_by_plan', /^this workspace's plan hides it\./],
    ['canvas', /^it's a canvas, .* share the export\.$/],
    ['list', /^it's a list, .* Export it as CSV /],
    ['post', /^it's a post, .* Copy its text /],
  ])('says why Slack does not give it, and what to do: %s', (reason, said) => {
    const [before, why] = strings.fileMissing({ name: 'a.bam', reason }).split(' was left out: ');
    expect(before).toBe('“a.bam”');
    expect(why).toMatch(said);
  });

  test('quotes what the service said', () => {
    const file = { name: 'a.bam', reason: 'service_refused' };
    expect(strings.fileMissing({ ...file, detail: 'no such\nformat' })).toBe(
      '“a.bam” was left out: the agent service rejected it: “no such format”.',
    );
  });

  test.each(['toString', '__proto__', 'unheard of'])(
    'says that the download failed for the reason %s',
    (reason) => {
      expect(strings.fileMissing({ name: 'a\nb', reason })).toMatch(
        /^“a b” was left out: I couldn't download it/,
      );
    },
  );
});

describe('what the service said', () => {
  test.each([strings.agentFailed, strings.messageRejected, strings.answerUnreadable])(
    'stands in the sentence of %o, on one line and shortened',
    (sentence) => {
      expect(sentence('')).toMatch(/^[^“]*\. \S/);
      expect(sentence('too\n busy')).toContain(': “too busy”. ');
      expect(sentence('\u001b[1mtoo\u202e busy\u2066')).toContain(': “[1mtoo busy”. ');
      expect(sentence('Sorry!')).toContain(': “Sorry!” ');
      expect(sentence('x'.repeat(9_000)).length).toBeLessThan(800);
    },
  );
});

describe('sentences with numbers', () => {
  test.each([
    [strings.resultsHeading(1, 1, 1), '1 file from the agent'],
    [strings.resultsHeading(60, 48, 60), '60 files from the agent, 48 to 60'],
    [strings.stepsDone(0, 2_000), 'Took 2 s'],
    [strings.stepsDone(1, 2_000), '1 step in 2 s'],
    [strings.endMention('U1', 'done', 60_000), '<@U1>, the answer is ready (it took 1 min).'],
    [strings.endMention(undefined, 'failed', 60_000), "This didn't work (it took 1 min)."],
    [strings.endMention('U1', 'cancelled', 60_000), '<@U1>, the agent was stopped (after 1 min).'],
    [strings.usage.figures.minutes(1), '1 minute of work'],
    [strings.usage.figures.filesIn(2), '2 files in'],
    [strings.stopped(''), 'Stopped.'],
    [strings.stopped('Ada'), 'Stopped by Ada.'],
  ])('%s', (said, expected) => {
    expect(said).toBe(expected);
  });
});

test('button labels have at most 75 characters, as Slack requires', () => {
  for (const { label } of Object.values(strings.buttons)) expect(label.length).toBeLessThanOrEqual(75);
});
