import type { Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { describe, expect, test } from 'vitest';
import { AnswerSplitter } from '../../../src/render/splitting/answer-splitter.ts';
import { displayedText, splitAnswer } from '../../support/answer-parts.ts';
import { markdownOf } from '../../support/markdown-shape.ts';

/** What is shown of a growing text. */
function shown(text: string): string {
  return splitAnswer(text, { final: false }).map(markdownOf).join('');
}

describe('a growing text', () => {
  test.each([
    ['**bold', '**bold**'],
    ['**bold*', '**bold**'],
    ['**bold**', '**bold**'],
    ['some *slanted and **bold wor', 'some *slanted and **bold wor***'],
    ['a ~~struck', 'a ~~struck~~'],
    ['call `print(', 'call `print(`'],
    ['call `', 'call'],
    ['see [the pa', 'see'],
    [
      `got \`{\n  "a": "*_x_*"${',\n  "b": 1'.repeat(90)}`,
      `got \`{\n  "a": "*_x_*"${',\n  "b": 1'.repeat(90)}\``,
    ],
    ['see [the paper](https://exa', 'see'],
    ['see [the paper](https://example.org)', 'see [the paper](https://example.org)'],
    ['see ![plot](https://exa', 'see'],
    ['ו**מודג', 'ו**מודג**'],
    ['l**a', 'l\\*\\*a'],
    ['word~~bol', 'word~~bol~~'],
    ['x**2 and a*b', 'x\\*\\*2 and a\\*b'],
    ['~20,000 genes, 5~10', '\\~20,000 genes, 5\\~10'],
    ['~ batch + condition', '~ batch + condition'],
    ['CYP2C19*2/*17 and', 'CYP2C19\\*2/\\*17 and'],
    ['**HLA-B*57:01 and', '**HLA-B\\*57:01 and**'],
    ['C[C@@H](N) and', 'C[C@@H\\](N) and'],
    ['>sp|P04637|P53_HUMAN\nMEEP', '\\>sp|P04637|P53_HUMAN\nMEEP'],
    ['> quoted', '> quoted'],
    ['run ``git `x` ', 'run ``git `x``'],
    ['shown [[1', 'shown'],
    ['shown [[1]](https://exa', 'shown'],
    ['shown [[1]](https://example.org)', 'shown [[1]](https://example.org)'],
    ['see [arr[0]', 'see'],
    ['see [arr[0]](https://g', 'see'],
    ['see [`src/a.t', 'see'],
    ['see [`src/a.ts`](https://g', 'see'],
    ['see ![a *b* `c', 'see'],
    ['see [x](https://e.x/a (ti', 'see'],
    ['see [x](https://e.x/a (title)', 'see'],
    ['see a[0] and `co', 'see a[0] and `co`'],
    ['see a[0] and more', 'see a[0] and more'],
    ['see https://example.org/par', 'see'],
    ['first\n\n##', 'first'],
    ['first\n\n-', 'first'],
    ['first\n\n1.', 'first'],
    ['first\n\n```', 'first'],
    ['first\n\n```py', 'first'],
    ['```py\nprint(1)', '```py\nprint(1)\n```'],
    ['```py\nprint(1)\n``', '```py\nprint(1)\n```'],
    ['- item\n  ```py\n  print(1)', '- item\n  ```py\n  print(1)\n  ```'],
    ['> ```py\n> print(1)', '> ```py\n> print(1)\n> ```'],
    ['text\n\n| a | b |', 'text'],
    ['text\n\n| a | b |\n|--', 'text'],
    ['text\n\n| a | b |\n|---|---|\n| 1 | 2', 'text\n\n| a | b |\n|---|---|'],
    ['text\n\n| a | b |\n|---|---|\n| 1 | 2 |\n', 'text\n\n| a | b |\n|---|---|\n| 1 | 2 |'],
    ['3. Ada\n7. Bo', '3. Ada\n7) Bo'],
    ['3. Ada\n7. Bo\n   - x', '3. Ada\n7) Bo\n   - x'],
    ['3. Ada\n7. Bo\n9. Cy', '3\\. Ada\n7\\. Bo\n9\\. Cy'],
    ['the rate a |', 'the rate a |'],
    ['P(A | B) and `a | b` in', 'P(A | B) and `a | b` in'],
    ['gene | p\n--', 'gene | p'],
    ['gene | p\n---|---', 'gene | p'],
    ['gene | p\n---|---\nA | 0.1\n', 'gene | p\n---|---\nA | 0.1'],
    ['text\n\n$$\nx = 1\n', 'text'],
    ['text\n\n$$\nx = 1\n$', 'text'],
    ['see htt', 'see'],
    ['https://example.org/a, htt', 'https://example.org/a,'],
    ['结果见htt', '结果见'],
    ['1. One\n   - [2', '1. One'],
    ['SO4^', 'SO4'],
    ['Ca^{2', 'Ca'],
    ['see ![a plot](plots/heat map (1', 'see'],
    ['see www', 'see'],
    ['see <https://example.org/a>', 'see'],
    ['in Δ*lac', 'in Δ'],
    ['A **(x', 'A'],
    ['A **(x)**', 'A'],
    ['A **(x)**y', 'A **(x)**y'],
    ['A **(x)**y and more', 'A **(x)**y and more'],
    ['A **(x)** and', 'A **(x)** and'],
    ['A **Note:**', 'A **Note:**'],
    ['rates of 5 * 6 and x_1', 'rates of 5 * 6 and x_1'],
    ['an array[0] of a &am', 'an array[0] of a'],
    ['a finished paragraph with a lone * mark\n\nnext', 'a finished paragraph with a lone * mark\n\nnext'],
  ])('%j is shown as %j', (text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  // A few paragraphs at a time: each character is a step, which parses all before it.
  test.each([
    [
      'words, marks and links',
      [
        '# Result of *the* search',
        'We found **three genes** that matter: `BRCA1`, _TP53_ and ~~BRCA9~~ [EGFR](https://example.org/egfr "a title").',
        'Shown [[1]](https://example.org/1), [arr[0]](https://example.org/a), [`src/a.ts`](https://example.org/b) and [x](https://example.org/c (a title)).',
      ],
    ],
    [
      'lists and quotes',
      [
        '- first **item with `code` inside**\n- second [link](https://example.org/a_(b))\n  - nested *slanted*\n\n1. one\n2. two',
        '> quoted **text**\n> and `more`',
      ],
    ],
    [
      'tables and code',
      [
        '| gene | p |\n|:--|--:|\n| **A** | 0.01 |\n| [B](https://example.org) | `0.02` |',
        '```python\nx = a[0] * b["k"]  # **not bold**\n```',
        'Done: see https://example.org/x_y_z for ***all*** of it.',
      ],
    ],
  ])('of %s never shows raw marks, and never removes what it showed', (_, paragraphs) => {
    const answer = paragraphs.join('\n\n');
    const splitter = new AnswerSplitter();
    let before = '';
    for (let at = 1; at <= answer.length; at += 1) {
      const parts = splitter.parts(answer.slice(0, at), { final: false });
      for (const part of parts) expect(rawMarks(markdownOf(part))).toEqual([]);
      const now = displayedText(parts);
      expect(answer.startsWith(now)).toBe(true);
      before = now;
    }
    expect(before.length).toBeGreaterThan(answer.length - 20);
  });
});

/** Texts of a Markdown in which a mark shows as a character. */
function rawMarks(markdown: string): string[] {
  const found: string[] = [];
  const walk = (node: Nodes) => {
    // A link's text may hold brackets.
    if (node.type === 'link') return;
    if (node.type === 'text' && /[*`[\]|~#]|^- /.test(node.value)) found.push(node.value);
    if ('children' in node) node.children.forEach(walk);
  };
  walk(fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }));
  return found;
}

const paragraph =
  'A sentence about **genes** and `code`, with a [link](https://example.org/paper) and more words. ';
const mixed =
  `## A heading\n\n${paragraph.repeat(4)}\n\n- an item\n- another item\n\n| a | b |\n|---|---|\n${'| 1 | two |\n'.repeat(8)}\n\`\`\`py\n${'x = 1\n'.repeat(20)}\`\`\`\n\n`.repeat(
    100,
  );

/** Answers of one block, which is parsed again with each step. */
const blocks: Record<string, string> = {
  'one block of code': `\`\`\`py\n${'result = compute(value, 1)\n'.repeat(4_000)}`,
  'one list': '- an item with **bold** and some words\n'.repeat(3_000),
  'one table': `| a | b |\n|---|---|\n${'| some words | 12.5 |\n'.repeat(5_000)}`,
  'one paragraph': paragraph.repeat(1_100),
  'one paragraph without spaces': '这是**重点。**后面的文字，还有更多。'.repeat(5_000),
  'one nested list': `- top\n${'  - an item with **bold** words\n    - and one more\n'.repeat(2_000)}`,
  'one item of paragraphs': `1. top\n\n${'   A paragraph with **bold** words.\n\n'.repeat(3_000)}`,
  'one quote': '> A paragraph with **bold** words in a quote.\n>\n'.repeat(2_200),
  'code in a list': `- step\n  \`\`\`py\n${'  result = compute(value, 1)\n'.repeat(4_000)}`,
  'one table that is too wide': `|${'c|'.repeat(24)}\n|${'-|'.repeat(24)}\n${`|${'c|'.repeat(24)}\n`.repeat(2_000)}`,
};

/** What is parsed of an answer that grows by 500 characters a step, against the same at once. */
function costOfGrowing(whole: string, steps: number): number {
  const text = whole.slice(0, steps * 500);
  const once = new AnswerSplitter();
  const atOnce = once.parts(text, { final: true });
  const grown = new AnswerSplitter();
  for (let step = 1; step < steps; step += 1) grown.parts(text.slice(0, step * 500), { final: false });
  expect(grown.parts(text, { final: true })).toEqual(atOnce);
  return grown.parsed.characters / once.parsed.characters;
}

describe('an answer of 15,000 characters that grows in 30 steps', () => {
  test('costs at most four times its rendering at once', () => {
    expect(costOfGrowing(mixed, 30)).toBeLessThan(4);
  });

  test.each(Object.entries(blocks))('costs at most ten times its rendering at once: %s', (_, whole) => {
    expect(costOfGrowing(whole, 30)).toBeLessThan(10);
  });
});

test('an answer that exceeds the wanted messages makes only these, and makes them alike', () => {
  const text = `| a | b |\n|---|---|\n${'| 1 | 2 |\n'.repeat(10_000)}`;
  const few = new AnswerSplitter();
  const parts = few.parts(text, { final: true, most: 3 });
  expect(parts).toHaveLength(4);
  expect(parts).toEqual(splitAnswer(text.slice(0, 6_000)).slice(0, 4));
  expect(few.parsed.characters).toBeLessThan(text.length / 5);
});

test('a row that is too wide does not change the messages before its own', () => {
  const narrow = `| a | b |\n|---|---|\n${'| 1 | 2 |\n'.repeat(250)}`;
  const text = `${narrow}${'| x '.repeat(30)}|\n`;
  expect(splitAnswer(text).slice(0, 2)).toEqual(splitAnswer(narrow).slice(0, 2));
  expect(displayedText(splitAnswer(text))).toBe(text.trimEnd());
});
