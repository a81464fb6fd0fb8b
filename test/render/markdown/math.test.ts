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
    ['\\[x_q * y_q * z\\]', '\\[x_q * y_q * z\\]'],
    ['$p_{adj}$', '$p_{adj}$'],
    ['<sub>a*b*</sub>', '<sub>a*b*</sub>'],
    ['$$\\frac{a}_{b} + }_{c}$$', '$$\\frac{a}_{b} + }_{c}$$'],
    ['**$x_q$**', '$x_q$'],
    ['$\\$5 = x$', '$\\$5 = x$'],
  ])('%s within a line is shown verbatim', (formula, value) => {
    expect(codeIn(shown(`So ${formula} holds.`))).toEqual([value]);
  });

  test.each([
    ['dollars', '$$\ny = a\n  + b \\\\\n- c\n$$'],
    ['brackets', '\\[\nx_q\n= y\n\\]'],
    ['brackets on lines of text', '\\[ x_q\n+ y \\]'],
    ['words', '\\begin{align*}\na &= b_q \\\\\nc &= d_q\n\\end{align*}'],
    ['words within brackets', '\\[\n\\begin{aligned}\na &= b_q\n\\end{aligned}\n\\]'],
    ['words on one line', '\\begin{align} a &= b \\\\ c &= d \\end{align}'],
  ])('on lines of its own between %s keeps its lines', (_, formula) => {
    expect(codeIn(shown(`Before\n${formula}\nafter.`))).toEqual([formula]);
    const inItem = `- item\n${formula.replace(/^/gm, '  ')}\n- next`;
    expect(codeIn(shown(inItem))).toEqual([formula]);
  });

  test('between words ends where its line does, and stays within the formula that its paragraph began', () => {
    const one = '\\begin{align} a &= b \\end{align} so.';
    expect(codeIn(shown(`${one}\nMore **text**.`))).toEqual([one]);
    const inner = '\n\\begin{aligned}\na &= b_q\n\\end{aligned}\n';
    for (const formula of [`\\[${inner}\\]`, `\\(${inner}\\)`, `$$${inner}$$`])
      expect(codeIn(shown(`It is ${formula}\nhere.`))).toEqual([formula]);
  });

  test('without an end stays within its paragraph', () => {
    expect(codeIn(shown('$$ x\ny\n\nand **so** on'))).toEqual(['$$ x\ny']);
  });

  test('in a table stays in its cell', () => {
    const table = '| a | b |\n| --- | --- |\n| \\(x_q\\) | $5 |';
    expect(shown(table)).toBe(table.replace('\\(x_q\\)', '`\\(x_q\\)`'));
  });

  test.each([
    ['So $p < 10^{-9}$, **$x_1$** and \\(a*b*c\\).', 'So p < 10⁻⁹, **x₁** and a∗b∗c.'],
    ['10^{-9} to 3 \\times 10^{8}, \\alpha and \\log_2', '10⁻⁹ to 3 × 10⁸, α and log₂'],
    [
      'mass \\[m = 3\\,g\\] and so \\[L = (a + b)\n \\cdot \\lambda\\] here',
      'mass m = 3 g and so L = (a + b) · λ here',
    ],
    ['CO<sub>2</sub> and Ca<sup>2+</sup>', 'CO₂ and Ca²⁺'],
    ['$$\nE = mc^2\n$$', 'E = mc²'],
    [
      '> it is $$\n> a = 1\n> $$\n> and \\[\n> b = 2\n> \\]\n>\n> $$\n> c = 3\n> $$',
      '> it is a = 1\n> and b = 2\n>\n> c = 3',
    ],
    ['So it is: $$\nE = mc^2\n$$\nas shown.\n$$\na = 1\n$$', 'So it is: E = mc²\nas shown.\na = 1'],
    ['$$\nx\n>= 5\n$$', 'x >= 5'],
    ['> $$\n> x\n> > 3\n> $$', '> x > 3'],
    ['`$$` is\n$$\na = 1\n$$', '`$$` is\na = 1'],
    ['- so $$\n  a = 1\n  $$\n- a $$\n- b\n  $$\n  b = 2\n  $$', '- so a = 1\n- a $$\n- b\n  b = 2'],
    ['TGF$\\beta$1, $\\alpha$5$\\beta$1, Na$_v$1.7 and CD4$^+$ T', 'TGFβ1, α5β1, Naᵥ1.7 and CD4⁺ T'],
    ['$\\sim$10%, p$<$0.05, n$=$3, 3$\\times$10$^6$', '∼10%, p<\u20600.05, n\u2060=3, 3×10⁶'],
    ["OR $2$ ($1.5$–$3$), $n-1$, $f(x)$, $5'$-UTR", 'OR 2 (1.5–3), n−1, f(x), 5′-UTR'],
    ['one<br>two<br/><BR />three', 'one  \ntwo  \nthree'],
    ['one<br>- two', 'one  \n\u2060- two'],
    ['one<br>\ntwo', 'one  \ntwo'],
    ['<br>one<br>', 'one'],
    ['# one<br>two', '# one / two'],
    ['| a |\n| --- |\n| b<br>c <br> $x_1$<br> |', '| a |\n| --- |\n| b / c / x₁ |'],
    ['[$x_1$](https://example.org)', '[x₁](https://example.org)'],
    ['![Volcano plot](./figures/volcano_2.png)', 'Figure: volcano_2.png, below'],
    [
      '![a](my%20plot*.png "t") and ![b](my plot.svg)',
      'Figure: my plot\\*.png, below and Figure: my plot.svg, below',
    ],
    ['![x](https://example.org/a.png)', '![x](https://example.org/a.png)'],
    ['![x](//example.org/a.png)', '![x\\]\u2060(//example.org/a.png)'],
    ['<!$x_1$>', '<\u2060!`$x_1$`>'],
    ['@<i>channel</i>, h<i>ttps</i>://a', '@`<i>channel</i>`, h<i>ttps</i>://a'],
    ['@\\(channel\\)', '@`\\(channel\\)`'],
    ['Recall@$k$ and pass@\\(k\\)', 'Recall@k and pass@k'],
  ])('or a like mark in %j is shown as %j', (text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  test.each([
    'It costs $5 and $10, or 5$ and 10$.',
    'A rate of $5/$10, $1-$2, ($5), $/g–$/L, 5 $ (or 10 $) and $A$1:$B$2.',
    'Set $HOME and $PATH.',
    'As in \\[1\\] and \\[2\\].\n\\[1, 2\\]',
    'Groups \\[dose=5, arm=A\\] and \\[K\\]',
    'Run `echo $x_1$` and `\\(x\\)`, `<br>` and `![a](b.png)`.',
    'SAMPLE_$i.bam, $gene_name, TP53_mut, x^2 and 2^10',
    'C:\\alpha\\beta, \\nu/x and \\frac{1}{2}',
    'a < b and <sub> alone, ![1] and wow![note][1]',
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
    ['so\n\\begin{al', 'so'],
    ['so\n\n\\begin{align}\na &= b', 'so'],
    ['so\n\n\\begin{align}\na &= b\n\\end{align}', 'so\n\n```\n\\begin{align}\na &= b\n\\end{align}\n```'],
    ['so\n\n$$\n\\begin{aligned}\na\n\\end{aligned}', 'so'],
    ['so\n\\begin{align}\n\\begin{aligned}\na\n\\end{aligned}', 'so'],
    ['it is $$\nE = mc^2\n$', 'it is'],
    ['p$<', 'p'],
    ['TGF$\\beta$', 'TGF'],
    ['TGF$\\beta$1', 'TGFβ1'],
    ['so\n\n$$\nx_q\n$$', 'so\n\n```\n$$\nx_q\n$$\n```'],
    ['so $5 and', 'so $5 and'],
    ['so $10^{-9}', 'so'],
    ['so $10', 'so'],
    ['so $10^{-9}$', 'so'],
    ['so $10^{-9}$ and', 'so 10⁻⁹ and'],
    ['so 10^{-', 'so 10'],
    ['10$\\mu', '10'],
    ['10$\\mu$', '10'],
    ['10$\\mu$m', '10μm'],
    ['so 10^{-9}', 'so 10⁻⁹'],
    ['so \\alp', 'so'],
    ['CO<sub>2', 'CO'],
    ['CO<sub>2</su', 'CO'],
    ['the <i>E. co', 'the'],
    [`the <b>${'x'.repeat(199)}`, 'the'],
    ['the <i>E. coli</i>', 'the E. coli'],
    ['a<br', 'a'],
    ['so ![a](b.pn', 'so'],
    ['so ![a](b.png)', 'so Figure: b.png, below'],
  ])('that grows, %j, is shown as %j', (text, expected) => {
    expect(shown(text, false)).toBe(expected);
  });
});
