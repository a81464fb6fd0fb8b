import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { taskTitle } from '../../../src/relay/sending/thread-task.ts';

const count = (text: string) => [...new Intl.Segmenter('en').segment(text)].length;

describe("a task's title", () => {
  test('is the first sentence of the question', () => {
    expect(taskTitle('Which genes are up in the treated mice? Use the attached table.')).toBe(
      'Which genes are up in the treated mice?',
    );
    expect(taskTitle('Plot the counts per week. Then send a CSV.')).toBe('Plot the counts per week');
  });

  test('continues after a greeting and does not end at a number or an abbreviation', () => {
    expect(taskTitle('Hi. Compare both groups')).toBe('Hi. Compare both groups');
    expect(taskTitle('Use a cut-off of 0.05 for genes, e.g. with edgeR')).toBe(
      'Use a cut-off of 0.05 for genes, e.g. with edgeR',
    );
  });

  test("is the first line with words, without Markdown's markers", () => {
    expect(
      taskTitle('\n> \n---\n## **Compare** `a_b` with [the paper](https://example.org)\nand so on'),
    ).toBe('Compare a_b with the paper');
    expect(taskTitle('```python\nprint(1)\n```')).toBe('print(1)');
    expect(taskTitle('- [ ] _first_ ~~item~~')).toContain('first item');
  });

  test('keeps both colons of an emoji, and no other at its end', () => {
    expect(taskTitle('It worked :tada:')).toBe('It worked :tada:');
    expect(taskTitle('The lanes:')).toBe('The lanes');
  });

  test('is cut at a word', () => {
    const title = taskTitle(
      'Summarise the differences between the four cohorts that we measured during last spring',
    );
    expect(title).toBe('Summarise the differences between the four cohorts that we measured during last…');
  });

  test('lists the file names when there is no text', () => {
    expect(taskTitle('', ['counts.csv', 'samples.tsv'])).toBe('counts.csv, samples.tsv');
    expect(taskTitle(' \n', [])).toBe('New question');
  });

  test('is one short whole line for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), fc.array(fc.string()), (text, files) => {
        const title = taskTitle(text, files);
        expect(title.trim()).toBe(title);
        expect(title).not.toBe('');
        expect(title).not.toMatch(/[\n\r]/);
        expect(title.isWellFormed()).toBe(true);
        expect(count(title)).toBeLessThanOrEqual(80);
      }),
    );
  });

  test('never cuts inside a character', () => {
    expect(taskTitle('👩🏽‍🔬'.repeat(100))).toBe(`${'👩🏽‍🔬'.repeat(79)}…`);
  });
});
