import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

/** The sections of the security review whose items promise something. */
const SECTIONS = [
  'Storage and encryption',
  'Access',
  'Retention and deletion',
  'Logs and audit trail',
  'Dependencies and SBOM',
];

/** Links to files of tests: their words, and the file's path. */
function testLinks(text: string, page: string): { title: string; path: string }[] {
  return [...text.matchAll(/\[([^\]]+)\]\(([^)\s]*test\/[^)\s]+\.test\.ts)\)/g)].map(
    ([, title = '', target = '']) => ({
      title: title.replace(/\s+/g, ' '),
      path: posix.join(posix.dirname(page), target),
    }),
  );
}

/** Whether a file has a test of this very title. */
function hasTest({ title, path }: { title: string; path: string }): boolean {
  if (!existsSync(new URL(path, root))) return false;
  const code = read(path).replaceAll("\\'", "'").replaceAll(/\(\s+/g, '(');
  return [`'${title}'`, `"${title}"`, `\`${title}\``].some((quoted) => code.includes(`(${quoted}`));
}

/** What a page promises, each with what proves it. */
function promises(page: string, text: string): { promise: string; links: ReturnType<typeof testLinks> }[] {
  const section = (name: string) => new RegExp(`\n## ${name}\n([\\s\\S]*?)(?=\n## )`).exec(text)?.[1] ?? '';
  const found =
    page === 'SECURITY.md'
      ? (section('Threats and defences').match(/^\| .*\|$/gm) ?? []).slice(1)
      : SECTIONS.flatMap((name) => section(name).split(/^- /m).slice(1));
  return found.map((promise) => ({ promise, links: testLinks(promise, page) }));
}

describe.each(['SECURITY.md', 'docs/security-review.md'])('%s', (page) => {
  const text = read(page);

  test('promises nothing without a test of the name that it gives', () => {
    const all = promises(page, text);
    expect(all.length).toBeGreaterThan(page === 'SECURITY.md' ? 20 : 15);
    expect(all.filter(({ links }) => links.length === 0).map(({ promise }) => promise)).toEqual([]);
    expect(all.flatMap(({ links }) => links).filter((link) => !hasTest(link))).toEqual([]);
  });

  test('has as many tests as sentences that promise something', () => {
    if (page !== 'SECURITY.md') return;
    const short = promises(page, text).filter(({ promise, links }) => {
      const defence = promise.split(' | ')[1] ?? '';
      return links.length < defence.split(/[.;] /).length;
    });
    expect(short.map(({ promise }) => promise)).toEqual([]);
  });
});

test('a promise without a test, and one whose test has another name, are found', () => {
  const section =
    '\n## Access\n\n- **A.** It holds.\n- **B.** ([no such title](../test/config/environment-and-secret-files.test.ts)).\n\n## End\n';
  const [one, other] = promises('docs/security-review.md', section);
  expect(one?.links).toEqual([]);
  expect(other?.links.map(hasTest)).toEqual([false]);
});
