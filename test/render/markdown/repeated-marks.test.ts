import { describe, expect, test } from 'vitest';
import { AnswerSplitter } from '../../../src/render/splitting/answer-splitter.ts';
import { displayedText } from '../../support/answer-parts.ts';

/** More marks than one message has (characters). */
const LENGTH = 3_700;
/** What costs a parser of Markdown a walk through all that stands before it. */
const shapes = [
  'a\n-\n',
  '_a*',
  '\\(',
  'a_b ',
  '[a](',
  '![',
  '`a',
  '**a',
  '$a',
  '|a|\n',
  '- a\n',
  '> a\n',
  '# a\n',
  '1. a\n',
  'a@b.c ',
  '~a~b',
];

// By the square of its length such an answer takes a minute and more, in which the process does nothing else.
describe('an answer that repeats one mark', () => {
  test.each(shapes)('%j is shown whole within the time limit', (shape) => {
    const answer = shape.repeat(LENGTH / shape.length).trimEnd();
    const splitter = new AnswerSplitter();
    expect(splitter.parts(answer, { final: false }).length).toBeGreaterThan(0);
    expect(displayedText(splitter.parts(answer, { final: true }))).toBe(answer);
  });
});
