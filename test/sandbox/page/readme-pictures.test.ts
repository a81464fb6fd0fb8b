import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../../', import.meta.url);
const folder = 'docs/pictures/';
/** Of each kind: how its files begin, and the most bytes that still load at once. */
const kinds = { png: ['\x89PNG', 200_000], gif: ['GIF89a', 2_000_000] } as const;

const pages = ['README.md', ...readdirSync(new URL('docs/', root)).map((name) => `docs/${name}`)].filter(
  (path) => path.endsWith('.md'),
);
const shown = pages.flatMap((page) => {
  const text = readFileSync(new URL(page, root), 'utf8');
  return [...text.matchAll(/\bpictures\/([\w-]+\.\w+)/g)].map(([, name = '']) => name);
});

test('the pictures of the README and the docs are of their kind, and small enough to load at once', () => {
  expect(shown.length).toBeGreaterThan(0);
  const wrong = shown.filter((name) => {
    const [start, mostBytes] = kinds[name.endsWith('.gif') ? 'gif' : 'png'];
    const bytes = readFileSync(new URL(`${folder}${name}`, root));
    return bytes.subarray(0, start.length).toString('latin1') !== start || bytes.length > mostBytes;
  });
  expect(wrong).toEqual([]);
});

test('each picture in the repository is on a page', () => {
  expect([...new Set(shown)].toSorted()).toEqual(readdirSync(new URL(folder, root)).toSorted());
});
