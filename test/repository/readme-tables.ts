import { readFile, writeFile } from 'node:fs/promises';
import { assumptionsTable } from '../../src/agent/assumptions.ts';
import { settingRows } from '../../src/config.ts';

const readme = new URL('../../README.md', import.meta.url);

/** The README's tables that the code can print, by the name of their marks. */
function tables(): Record<string, string> {
  const settings = settingRows().map(
    ({ name, fallback, what }) => `| \`${name}\` | ${fallback === '' ? '-' : fallback} | ${what} |`,
  );
  return {
    settings: ['| setting | default | what it is |', '|---|---|---|', ...settings, ''].join('\n'),
    assumptions: assumptionsTable(),
  };
}

/** The README as it should be: each table anew between its marks. Throws where a mark is missing. */
export function withTables(text: string): string {
  let whole = text;
  for (const [name, table] of Object.entries(tables())) {
    const begin = `<!-- ${name}: made by npm run readme -->\n`;
    const end = `<!-- end of ${name} -->`;
    const [from, to] = [whole.indexOf(begin), whole.indexOf(end)];
    if (from < 0 || to < from) throw new Error(`README.md has no marks for the table of ${name}.`);
    whole = whole.slice(0, from + begin.length) + table + whole.slice(to);
  }
  return whole;
}

/** README.md as it is. */
export async function readReadme(): Promise<string> {
  return readFile(readme, 'utf8');
}

if (import.meta.main) await writeFile(readme, withTables(await readReadme()));
