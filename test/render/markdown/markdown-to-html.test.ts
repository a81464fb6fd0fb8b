import { describe, expect, test } from 'vitest';
import { markdownToHtml } from '../../../src/render/markdown/markdown-to-html.ts';
import { withoutSignedLinks } from '../../../src/render/markdown/signed-links.ts';

const html = (text: string) => [...markdownToHtml(text)].join('');

describe('Markdown as HTML', () => {
  test('runs nothing and loads nothing', () => {
    const page = html(
      '<script>alert(1)</script> ![cells](https://example.org/a.png) [go](javascript:alert(1))',
    );
    expect(page).toContain('&lt;script&gt;');
    expect(page).toContain('[cells]');
    expect(page).toContain('<a>go</a>');
    expect(page).not.toMatch(/<script|<img|javascript:/);
  });

  test('has headings of one level, tables, and marks of finished tasks', () => {
    const page = html('# One\n\n### Three\n\n- [x] done\n- [ ] open\n\n| a |\n| --- |\n| 1 |');
    expect(page).toContain('<h4>One</h4>');
    expect(page).toContain('<h4>Three</h4>');
    expect(page).toContain('☑ done');
    expect(page).toContain('☐ open');
    expect(page).toContain('<td>1</td>');
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
});

describe('signed links', () => {
  test.each([
    'https://s3.example.org/a.csv?X-Amz-Date=1&X-Amz-Signature=secret',
    'https://s3.example.org/a.csv?x=1&Signature=secret',
    'https://bot.example.org/results/abc-def.secretsecretsecretsecret',
    'https://s3.example.org/a?access_token=secret',
  ])('are left out: %s', (url) => {
    for (const text of [url, `<${url}>`, `[data](${url})`, `{"url":"${url}"}`, `(${url})`]) {
      expect(withoutSignedLinks(text)).not.toContain('secret');
      expect(html(text)).not.toContain('secret');
    }
  });

  test('are not confused with others', () => {
    const text =
      'See https://doi.org/10.1000/182, and <https://example.org/?signature_of=x> again https://doi.org/10.1000/182.';
    expect(withoutSignedLinks(text)).toBe(text);
  });
});
