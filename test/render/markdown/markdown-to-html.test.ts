import { describe, expect, test } from 'vitest';
import { markdownToHtml } from '../../../src/render/markdown/markdown-to-html.ts';

const html = (text: string) => [...markdownToHtml(text)].join('');
/** On one line, at the beginning of an item, and with what would begin further code. */
const CODE = [
  '```pip install x```',
  '1. ```sh\n   ls\n   ```',
  '- ~~~\n  a\n  ~~~',
  '-  ```sh\n   ls\n   ```',
  '```md\n```py\nx\n```',
];

describe('Markdown as HTML', () => {
  test('runs nothing and loads nothing', () => {
    const page = html(
      '<script>alert(1)</script> ![cells](https://example.org/a.png) [go](javascript:alert(1))',
    );
    expect(page).toContain('&lt;script&gt;');
    expect(page).toContain('[cells]');
    expect(page).toContain('[go](javascript:alert(1))');
    expect(page).not.toMatch(/<script|<img|<a/);
  });

  test('shows an address of e-mail with a dot in its name once', () => {
    expect(html('ada.b@uni.example')).toBe('<p><a href="mailto:ada.b@uni.example">ada.b@uni.example</a></p>');
  });

  test('has headings of one level, tables, and marks of finished tasks', () => {
    const page = html('# One\n\n### Three\n\n- [x] done\n- [ ] open\n\n| a |\n| --- |\n| 1 |');
    expect(page).toContain('<h4>One</h4>');
    expect(page).toContain('<h4>Three</h4>');
    expect(page).toContain('☑ done');
    expect(page).toContain('☐ open');
    expect(page).toContain('<td>1</td>');
  });

  test('keeps scripts and italics that are written in HTML', () => {
    expect(html('<I>Trp53</I><sup>-/-</sup> <i>a*b*</i>')).toBe(
      '<p><i>Trp53</i><sup>-/-</sup> &lt;i&gt;a*b*&lt;/i&gt;</p>',
    );
  });

  test('emphasizes in scripts without spaces, and labels, what an answer does', () => {
    expect(html('这是**重点。**后面，**「重要」**的。`**「x」**y`')).toBe(
      '<p>这是<strong>重点。</strong>后面，<strong>「重要」</strong>的。<code>**「x」**y</code></p>',
    );
    expect(html('**Note:**text，**结论：**TP53')).toBe(
      '<p><strong>Note:</strong>text，<strong>结论：</strong>TP53</p>',
    );
    expect(html('[a](https://x.org/基因*.csv)')).not.toContain('%EF%B7%91');
  });

  test('strikes words through by the tag that all notebooks keep', () => {
    expect(html('Use ~~5 mg~~ 2 mg.')).toBe('<p>Use <s>5 mg</s> 2 mg.</p>');
  });

  test('counts as the answer does where its numbers skip some, and each list for itself', () => {
    expect(html('3. a\n7. b\n8. c').replaceAll('\n', '')).toBe(
      '<ol start="3"><li value="3">a</li><li value="7">b</li><li value="8">c</li></ol>',
    );
    expect(html('1. a\n   1. x\n   1. y\n1. b\n- c')).not.toContain('value');
  });

  test('shows signs at the beginning of an item as they are, also in code', () => {
    expect(html('- - strand')).toContain('<li>- strand</li>');
    expect(html('- ```\n  - - a\n  ```')).toContain('<code>- - a\n</code>');
    expect(html('1.  x\n\n    ```\n    > a\n    >sp|b\n    - + c\n    ```')).toContain(
      '&gt; a\n&gt;sp|b\n- + c\n<',
    );
  });

  test('keeps every line of code that is longer than a piece in code', () => {
    const lines = Array.from({ length: 4_000 }, (_, at) => `x${at} = ${at}\n`);
    const pieces = [...markdownToHtml(`Before\n\n\`\`\`py\n${lines.join('\n')}\`\`\`\n\n**After**`)];
    expect(pieces.length).toBeGreaterThan(5);
    const page = pieces.join('');
    expect([...page.matchAll(/x\d+ = \d+/g)]).toHaveLength(4_000);
    expect(page.replace(/<pre>.*?<\/pre>/gs, '')).not.toContain('x1');
    expect(page).toContain('<strong>After</strong>');
  });

  test.each(CODE)('is no code behind %j', (code) => {
    const words = Array.from({ length: 900 }, (_, at) => `Word ${at} of many.\n\n`).join('');
    const page = html(`${code}\n\n${words}`);
    expect(page.match(/Word \d+ of/g)).toHaveLength(900);
    expect(page.replace(/<pre>.*?<\/pre>/gs, '').match(/Word \d+ of/g)).toHaveLength(900);
  });

  test('keeps the line ends of code and formulas that follow the text of an item', () => {
    const page = html(
      '1. Run\n   ```sh\n   wc -l a.vcf\n\n   ls\n   ```\n2. Fit\n   $$\n   \\frac{a}{b}\n   = c\n   $$',
    );
    expect(page).toContain('>wc -l a.vcf\n\nls\n</code>');
    expect(page).toContain('>$$\n\\frac{a}{b}\n= c\n$$\n</code>');
  });

  test('keeps the words of a line that is longer than a piece', () => {
    const words = html('alignments '.repeat(3_000))
      .replace(/<[^>]*>/g, ' ')
      .match(/\S+/g);
    expect(new Set(words)).toEqual(new Set(['alignments']));
  });

  test('keeps rows in tables and items in their lists where they are longer than a piece', () => {
    const rows = Array.from({ length: 900 }, (_, at) => `| G${at} | ${at / 1_000} |\n`);
    const table = html(`| gene | p |\n| --- | --- |\n${rows.join('')}\nEnd`);
    expect([...table.matchAll(/<td>G\d+<\/td>/g)]).toHaveLength(900);
    expect(table).not.toContain('|');
    // The first 398 rows fill a piece.
    expect(
      html(`| gene | p |\n| --- | --- |\n${rows.slice(0, 398).join('')}\nEnd`).split('<thead>'),
    ).toHaveLength(2);
    const items = Array.from(
      { length: 90 },
      (_, at) => `- Wash ${at} ${'and dry '.repeat(9)}\n\n  - spin\n\n        rpm ${at}\n\n`,
    );
    const list = html(items.join('')).replaceAll('\n', '');
    expect(list.split(/<\/p><ul><li>(?:<p>)?spin/)).toHaveLength(91);
    expect(list.split('<pre><code>')).toHaveLength(91);
  });

  test('counts the items of a list on where it is longer than most', () => {
    const items = Array.from({ length: 60 }, () => `1. ${'Wash and dry. '.repeat(6)}\n`);
    expect(html(items.join('')).split('<ol>')).toHaveLength(2);
  });

  test('is never far longer than its text, and takes no time for what is crafted', () => {
    const row = (cell: string) => `|${cell.repeat(1_300)}\n`;
    expect(html(row('a|') + row('-|') + '|\n'.repeat(1_300)).length).toBeLessThan(20_000);
    expect(html(`|a|b|\n|-|-|\n${'|1|2|\n'.repeat(50)}`)).toContain('<td>2</td>');
    // Each piece of the code would begin and end with so many marks.
    const fence = '`'.repeat(7_990);
    expect([...markdownToHtml(`${fence}\n${'a\n'.repeat(6_000)}`)].length).toBeLessThan(40);
    expect([...markdownToHtml('a\n=\n'.repeat(2_000))].length).toBeGreaterThan(8);
  });
});
