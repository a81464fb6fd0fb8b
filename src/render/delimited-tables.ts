import { parse } from 'csv-parse/sync';

/** Characters of a text that tell how its cells are separated. */
const MAX_HEAD = 10_000;

/** Whether a text is a table whose cells tabs separate: its first lines have as many tabs as the first one, and at least one. */
export function isTabSeparated(text: string): boolean {
  const beginning = text.length > MAX_HEAD ? text.slice(0, MAX_HEAD).replace(/[^\r\n]*$/, '') : text;
  const lines = beginning.split(/\r\n?|\n/, 20).filter((line) => line.trim() !== '');
  const [first = 0, ...others] = lines.map((line) => line.split('\t').length);
  // R leaves out the name of the column with the rows' names.
  return (
    others.length > 0 &&
    first + (others[0] ?? 0) > 2 &&
    others.every((count) => count === first || count === first + 1)
  );
}

/** What separates the cells of a text: the comma, semicolon or tab that its first line with any, comments aside, has most of. */
export function delimiterOf(text: string): string {
  const lines = text.slice(0, MAX_HEAD).match(/^.*[,;\t].*$/gm) ?? [];
  const first = lines.find((line) => !line.startsWith('#')) ?? lines[0] ?? '';
  return [',', ';', '\t'].reduce((a, b) => (first.split(b).length > first.split(a).length ? b : a));
}

/** The rows of a text whose cells a delimiter separates. */
export function parseDelimitedTable(text: string, delimiter = delimiterOf(text)): string[][] {
  try {
    return parse(text.replace(SEPARATOR_LINE, ''), {
      delimiter,
      record_delimiter: ['\r\n', '\n', '\r'],
      bom: true,
      relax_quotes: true,
      relax_column_count: true,
      skip_empty_lines: true,
    });
  } catch {
    return [];
  }
}

/** The first line by which Excel is told what separates cells. */
const SEPARATOR_LINE = /^\ufeff?sep=[,;\t](?:\r?\n|\r|$)/i;
