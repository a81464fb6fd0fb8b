import { describe, expect, test } from 'vitest';
import { markdownToHtml } from '../../../src/render/markdown/markdown-to-html.ts';
import { withoutSignedLinks } from '../../../src/render/markdown/signed-links-in-text.ts';

const html = (text: string) => [...markdownToHtml(text)].join('');

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

  test.each([
    String.raw`{"url":"https://s3.example.org/a?b=c\u0026X-Amz-Signature=secret\u0026x=1"}`,
    String.raw`{"url":"https:\/\/s3.example.org\/a?X-Amz-Signature=secret"}`,
    "https://s3.example.org/it's.csv?X-Amz-Signature=secret",
    'https://s3.example.org/a(1).csv?sig=secret',
    '[data](https://s3.example.org/a[1].csv?sig=secret)',
    String.raw`https://s3.example.org/a?x=1&sig\=secret`,
  ])('lose their secret where they are no plain address: %s', (text) => {
    expect(withoutSignedLinks(text)).not.toContain('secret');
    expect(html(text)).not.toContain('secret');
  });

  test('leave a note in brackets, also where they are the target of a link', () => {
    const url = 'https://s3.example.org/a?sig=secret';
    expect(withoutSignedLinks(`See ${url} and [data](${url}).`)).toBe(
      'See (signed link to s3.example.org, left out) and [data] (signed link to s3.example.org, left out).',
    );
  });

  test('are not confused with others', () => {
    const text =
      'See https://doi.org/10.1000/182, and <https://example.org/?signature_of=x> again https://doi.org/10.1000/182.';
    expect(withoutSignedLinks(text)).toBe(text);
  });
});
