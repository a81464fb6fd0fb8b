import { parseDelimitedTable } from '../delimited-tables.ts';
import { cellsOf, hasDelimiterRow } from '../markdown/markdown-node.ts';

/** Characters of an answer that are searched for tables; its messages show about as many by default. */
const MAX_ANSWER_LENGTH = 100_000;

/** The tables of an answer as rows of cells, the header first, as far as they are compared. */
export function tablesIn(answer: string): string[][][] {
  return tableRowsIn(answer).map((rows) => rows.map((cells) => cells.map(comparableText)));
}

/** The same with the cells as they are written: lines whose cells a `|` separates. */
export function tableRowsIn(answer: string): string[][][] {
  const pieces = answer.slice(0, MAX_ANSWER_LENGTH).split(/\n(?!.*\|)/);
  return pieces.filter(hasDelimiterRow).map((piece) => {
    const lines = piece.split('\n').filter((line) => line.includes('|'));
    return lines.toSpliced(1, 1).map((row) => cellsOf(row).map((cell) => cell.replaceAll('\\|', '|')));
  });
}

/** A longer file is not compared: nobody reads so many rows in an answer. */
const MAX_COMPARED_ROWS = 1_000;

/**
 * Whether one of these tables shows a delimited file whole: all columns of the file, and a row for each of its rows with the
 * same cells. Numbers may be rounded, but not in the first cell.
 */
export function isShownWhole(file: string, tables: readonly string[][][]): boolean {
  if (tables.length === 0) return false;
  const [names = [], ...rows] = parseDelimitedTable(file).map((row) => row.map(comparableText));
  if (rows.length === 0 || rows.length > MAX_COMPARED_ROWS) return false;
  // R leaves out the name of the column with the rows' names.
  const head = rows.every((row) => row.length === names.length + 1) ? ['', ...names] : names;
  return tables.some(([shownHead = [], ...shown]) => {
    const columns = head.map((name) => shownHead.indexOf(name));
    if (columns.includes(-1) || new Set(columns).size < columns.length) return false;
    const unused = Map.groupBy(shown, (row) => row[columns[0] ?? 0] ?? '');
    return rows.every((row) => {
      const alike = unused.get(row[0] ?? '') ?? [];
      const at = alike.findIndex((one) => row.every((cell, index) => shows(one[columns[index] ?? -1], cell)));
      return at !== -1 && alike.splice(at, 1).length > 0;
    });
  });
}

/** Whether the cell of an answer is that of a file, or its number rounded. */
function shows(shown = '', cell: string): boolean {
  if (shown === cell) return true;
  const [, decimals = '', exponent = '0'] = /^[+-]?\d*\.?(\d*)(?:e([+-]?\d+))?$/.exec(shown) ?? ['', ''];
  if (shown === '' || cell === '' || !/^[+-]?[\d.]+(?:e[+-]?\d+)?$/.test(cell)) return false;
  return Math.abs(Number(shown) - Number(cell)) <= 0.5001 * 10 ** (Number(exponent) - decimals.length);
}

/** Cells that differ only in case, marks of Markdown, spaces, dashes, separators of thousands and how µ is encoded read the same. */
export function comparableText(cell: string): string {
  const plain = cell.toLowerCase().replace(/[‐-―−]/g, '-');
  return plain.replaceAll('\u03bc', '\u00b5').replace(/[\s*_~`\\]|(?<=\d),(?=\d{3}(?!\d))/g, '');
}
