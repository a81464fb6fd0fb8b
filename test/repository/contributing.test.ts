import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const packages = z.record(z.string(), z.string()).default({});
const schema = z.looseObject({
  dependencies: packages,
  devDependencies: packages,
  optionalDependencies: packages,
});

test('gives a reason for each dependency in CONTRIBUTING.md, and for no other', () => {
  const { dependencies, devDependencies, optionalDependencies } = schema.parse(
    JSON.parse(read('package.json')),
  );
  const [, table = ''] = read('CONTRIBUTING.md').split('| package | why |');
  const rows = table.split('\n').filter((row) => row.startsWith('| `'));
  const explained = rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name),
  );
  const used = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies });
  expect(new Set(explained)).toEqual(new Set(used));
});
