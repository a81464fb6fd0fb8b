import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { taskTitle } from '../../../src/relay/sending/task-title.ts';
import { plainTitle } from '../../../src/render/blocks/task-lines.ts';

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

  test.each([
    ['Compare KO vs. WT mice at day 7. Then plot it.', 'Compare KO vs. WT mice at day 7'],
    [
      'Redo the analysis of Smith et al. (2020) with our data. Send a CSV.',
      'Redo the analysis of Smith et al. (2020) with our data',
    ],
    [
      'Redo the analysis of Smith et al. 2020 again. Send a CSV.',
      'Redo the analysis of Smith et al. 2020 again',
    ],
    ['Growth curves of S. Typhimurium at 30 °C. Use R.', 'Growth curves of S. Typhimurium at 30 °C'],
    ['Keep the plates at 37 C. Then count.', 'Keep the plates at 37 C'],
    ['Growth curves of S. cerevisiae and E. coli', 'Growth curves of S. cerevisiae and E. coli'],
    ['Make a figure like Fig. 2b of the paper. Colour it.', 'Make a figure like Fig. 2b of the paper'],
    [
      'Use a normaliser, e.g. DESeq2, i.e. Its default. Then plot.',
      'Use a normaliser, e.g. DESeq2, i.e. Its default',
    ],
    ['Plot well No. 7 of the plate. Then stop.', 'Plot well No. 7 of the plate'],
    ['Stain with Cat. No. A-21202 and Ref. No. 7. Then stop.', 'Stain with Cat. No. A-21202 and Ref. No. 7'],
    ['chr1 12345 . A <DEL> . PASS SVTYPE=DEL', 'chr1 12345 . A <DEL> . PASS SVTYPE=DEL'],
    ['The answer is no. Then what?', 'The answer is no'],
    ['Give mice approx. 5 mg i.p.', 'Give mice approx. 5 mg i.p.'],
    ['What is p.Arg213*? Tell me.', 'What is p.Arg213*?'],
    ['比较两组。然后画图。', '比较两组。然后画图'],
  ])('of %j is %j', (text, title) => {
    expect(taskTitle(text)).toBe(title);
  });

  test('is the first line with words, as people wrote it', () => {
    expect(taskTitle('\n> \n---\n> C[C@@H](N)C(=O)O and HLA-B*57:01\nand so on')).toBe(
      'C[C@@H](N)C(=O)O and HLA-B*57:01',
    );
    expect(taskTitle('- __init__ and **kwargs')).toBe('__init__ and **kwargs');
    expect(taskTitle('> 50 % of cells died')).toBe('> 50 % of cells died');
    expect(taskTitle('>sp|P04637|P53_HUMAN\nMEEPQSDPSV')).toBe('>sp|P04637|P53_HUMAN');
  });

  test('keeps both colons of an emoji, and no other at its end', () => {
    expect(taskTitle('It worked :tada:')).toBe('It worked :tada:');
    expect(taskTitle('The lanes:')).toBe('The lanes');
  });

  test('is as long as a list in Slack shows, and cut at a word', () => {
    const text = 'Summarise the differences between the four cohorts that we measured during last spring';
    expect(taskTitle(text)).toBe(text);
    const long = `${text} and ${text.toLowerCase()}`;
    expect(taskTitle(long)).toBe(`${text} and summarise the differences between the four cohorts that we…`);
    expect(plainTitle(taskTitle(long))).toBe(taskTitle(long));
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
        expect(title.length).toBeLessThanOrEqual(150);
      }),
    );
  });

  test('never cuts inside a character', () => {
    expect(taskTitle('👩🏽‍🔬'.repeat(100))).toBe(`${'👩🏽‍🔬'.repeat(21)}…`);
  });
});
