import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../../', import.meta.url);
const mostBytes = 200_000;

test("the README's pictures are there, as PNG, and small enough to load at once", () => {
  const readme = readFileSync(new URL('README.md', root), 'utf8');
  const pictures = [...readme.matchAll(/docs\/pictures\/[\w-]+\.png/g)].map(([path]) => path);
  expect(pictures.length).toBeGreaterThan(0);
  const wrong = pictures.filter((path) => {
    const bytes = readFileSync(new URL(path, root));
    return bytes.subarray(1, 4).toString() !== 'PNG' || bytes.length > mostBytes;
  });
  expect(wrong).toEqual([]);
});
