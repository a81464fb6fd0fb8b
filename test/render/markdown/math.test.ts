import type { Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { describe, expect, test } from 'vitest';
import { displayedText, splitAnswer } from '../../support/answer-parts.ts';
import { markdownOf } from '../../support/markdown-shape.ts';

function shown(text: string, final = true): string {
  const parts = splitAnswer(text, { final });
  expect(text.startsWith(displayedText(parts))).toBe(true);
  return parts.map(markdownOf).join('');
}

/** All code in a Markdown text, as a reader that knows no formulas sees it. */
function codeIn(markdown: string): string[] {
  const found: string[] = [];
  const walk = (node: Nodes) => {
    if (node.type === 'code' || node.type === 'inlineCode') found.push(node.value);
    if ('children' in node) node.children.forEach(walk);
  };
  walk(fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }));
  return found;
}

describe('a formula', () => {
  test.each([
    ['\\(e^{i\\pi}+1=0\\)', '\\(e^{i\\pi}+1=0\\)'],
    ['\\[x_1 * y_2 * z\\]', '\\[x_1 * y_2 * z\\]'],
    ['$a*b*c$', '$a*b*c$'],
    ['$n$', '$n$'],
    ['$$\\frac{a}_{b} + }_{c}$$', '$$\\frac{a}_{b} + }_{c}$$'],
    ['**$x_1$**', '$x_1$'],
    ['$\\$5 = x$', '$\\$5 = x$'],
  ])('%s within a line is shown verbatim', (formula, value) => {
    expect(codeIn(shown(`So ${formula} holds.`))).toEqual([value]);
  });

  test.each([
    ['dollars', '$$\ny = a\n  + b \\\\\n- c\n$$'],
    ['brackets', '\\[\nx_1\n= y\n\\]'],
    ['brackets on lines of text', '\\[ x\n+ y \\]'],
  ])('on lines of its own between %s keeps its lines', (_, formula) => {
    expect(codeIn(shown(`Before\n${formula}\nafter.`))).toEqual([formula]);
    const inItem = `- item\n${formula.replace(/^/gm, '  ')}\n- next`;
    expect(codeIn(shown(inItem))).toEqual([formula]);
  });

  test('without an end stays within its paragraph', () => {
    expect(codeIn(shown('$$ x\ny\n\nand **so** on'))).toEqual(['$$ x\ny']);
  });

  test('in a table stays in its cell', () => {
    const table = '| a | b |\n| --- | --- |\n| \\(x_1\\) | $5 |';
    expect(shown(table)).toBe(table.replace('\\(x_1\\)', '`\\(x_1\\)`'));
  });

  test.each([
    'It costs $5 and $10, or 5$ and 10$.',
    'Set $HOME and $PATH.',
    'As in \\[1\\] and \\[2\\].',
    'Run `echo $x_1$` and `\\(x\\)`.',
    '```sh\n$$\nx\n$$\n```',
    'A lone $$ mark, and \\( one more.',
  ])('is not found in %j', (text) => {
    expect(shown(text)).toBe(text);
  });

  test.each([
    ['so \\(x_1', 'so'],
    ['so \\[ x', 'so'],
    ['so $x_', 'so'],
    ['so\n\n$$\nx\n- y', 'so'],
    ['so\n\n$$\nx\n$$', 'so\n\n```\n$$\nx\n$$\n```'],
    ['so $5 and', 'so $5 and'],
  ])('that grows, %j, is shown as %j', (text, expected) => {
    expect(shown(text, false)).toBe(expected);
  });
});
