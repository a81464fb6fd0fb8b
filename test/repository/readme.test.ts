import { expect, test } from 'vitest';
import { readReadme, withTables } from './readme-tables.ts';

test("the README's tables are those that the code prints (npm run readme)", async () => {
  const text = await readReadme();
  expect(withTables(text)).toBe(text);
});

test('a README without the marks of a table is refused', () => {
  expect(() => withTables('# Taskthread')).toThrow('no marks');
});
