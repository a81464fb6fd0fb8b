import type { Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { describe, expect, test } from 'vitest';
import { displayedText, splitAnswer } from '../../support/answer-parts.ts';
import { markdownOf } from '../../support/markdown-shape.ts';

/** What a reader that follows the standard shows as emphasised, and whether it shows a raw mark. */
function read(markdown: string): { emphasised: string[]; raw: boolean } {
  const emphasised: string[] = [];
  let raw = false;
  const textOf = (node: Nodes): string =>
    'value' in node ? node.value : 'children' in node ? node.children.map(textOf).join('') : '';
  const walk = (node: Nodes) => {
    if (/^(?:strong|emphasis|delete)$/.test(node.type))
      emphasised.push(textOf(node).replaceAll('\u2060', ''));
    if (node.type === 'text' && /[*~]/.test(node.value)) raw = true;
    if ('children' in node) node.children.forEach(walk);
  };
  walk(fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }));
  return { emphasised, raw };
}

function shown(text: string, final = true): string {
  const parts = splitAnswer(text, { final });
  expect(text.startsWith(displayedText(parts))).toBe(true);
  return parts.map(markdownOf).join('');
}

describe('emphasis', () => {
  test.each([
    ['这是**重点。**后面', ['重点。']],
    ['これは**「強調」**です', ['「強調」']],
    ['请看**[链接](https://x.org)**后', ['链接']],
    ['前面**「重点」**后面**重点。**后面**b**x', ['「重点」', '重点。', 'b']],
    ['也**甲**。**乙**丙', ['甲', '乙']],
    ['这个~~「错」~~对的*「斜」*了', ['「错」', '「斜」']],
    ['총계**(합계)**는', ['(합계)']],
    ['**结论：**TP53 突变，**p值：**0.05，见**图：**https://x.org', ['结论：', 'p值：', '图：']],
    ['**A组**、**B组**：**C**、**D**（**E**）', ['A组', 'B组', 'C', 'D', 'E']],
    ['**基因：***TP53* and **Gene:***KRAS*', ['基因：', 'TP53', 'Gene:', 'KRAS']],
    ['**Note:**text with **IC50:**5 nM (**x**), **Dose: **3.', ['Note:', 'IC50:', 'x', 'Dose: ']],
    ['שלום **עולם!** טוב', ['עולם!']],
    ['*مرحبا* بك', ['مرحبا']],
    ['**bold**, *slanted* and ***both***', ['bold', 'slanted', 'both', 'both']],
  ])('in %s is found', (text, emphasised) => {
    expect(read(shown(text))).toEqual({ emphasised, raw: false });
  });

  test.each([
    '5*(3+2)',
    'snake_case_name',
    '2 ** 3 ** 4',
    'a * b',
    'f(x:**2, y:**2)',
    '甲2.3**（n=3），乙4.5**。',
    '总分*（a+b）*2',
    '注：**表示P<0.01，***表示P<0.001',
    '注：*P<0.05，**P<0.01，***P<0.001。',
    '对照组（**P<0.01），模型组（**P<0.01）',
    '与对照组比较：**P＜0.01；与模型组比较：**P＜0.01',
    'x（2）**2 + y（3）**2',
    '**P < 0.01 vs control; vs model: **P < 0.01',
  ])('is not found in %s', (text) => {
    expect(shown(text)).toBe(text);
  });

  test('in scripts without spaces never shows raw marks while the text grows', () => {
    const text = '这是**重点。**后面的**「文字」**和~~「错」~~对，*斜*体。**注：**TP53。';
    for (let at = 1; at <= text.length; at += 1)
      expect(read(shown(text.slice(0, at), false)).raw).toBe(false);
  });
});
