import { shorten } from './graphemes.ts';
import { neutralise } from './pings.ts';
import { contextLine } from './progress.ts';
import { safeName } from './results.ts';
import { plainText, type RenderedMessage } from './slack-blocks.ts';
import * as words from './words.ts';

/** What a preview shows at most. */
const ROWS_MOST = 10;
const COLUMNS_MOST = 8;
const CELL_MOST = 40;

/** A message with a table's first rows; undefined where the text is no table. */
export function tableMessage(file: { name: string; text: string }): RenderedMessage | undefined {
  const rows = readTable(file.text);
  const [head, ...body] = rows;
  if (head === undefined || head.length < 2 || body.length === 0) return undefined;
  const columns = Math.max(...rows.map((row) => row.length));
  const shown = body.slice(0, ROWS_MOST);
  const name = safeName(file.name);
  const note = words.tableNote(
    { rows: body.length, columns },
    { rows: shown.length, columns: Math.min(columns, COLUMNS_MOST) },
  );
  const width = Math.min(columns, COLUMNS_MOST);
  const lines = [line(head, width), `|${' --- |'.repeat(width)}`, ...shown.map((row) => line(row, width))];
  return {
    text: `${name}: ${note}`,
    blocks: [
      { type: 'section', text: plainText(name) },
      { type: 'markdown', text: lines.join('\n') },
      contextLine(note),
    ],
  };
}

/** The rows of a text with cells between commas, semicolons or tabs, whichever its first line has most of. */
export function readTable(text: string): string[][] {
  const start = text.replace(/^\uFEFF/, '');
  const first = start.slice(0, 10_000).split(/\r?\n/, 1)[0] ?? '';
  const counted = [',', ';', '\t'].map((mark) => ({ mark, count: first.split(mark).length }));
  const { mark } = counted.reduce((best, one) => (one.count > best.count ? one : best));
  const cell = new RegExp(`(?:"((?:[^"]|"")*)"|([^${mark}\\r\\n]*))(${mark}|\\r?\\n|\\r|$)`, 'y');
  const rows: string[][] = [];
  let row: string[] = [];
  while (cell.lastIndex < start.length) {
    const match = cell.exec(start);
    if (match === null) return [];
    const [, quoted, plain = '', end] = match;
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === mark && cell.lastIndex < start.length) continue;
    if (end === mark) row.push('');
    if (row.length > 1 || row[0] !== '') rows.push(row);
    row = [];
  }
  return rows;
}

function line(row: readonly string[], width: number): string {
  const cells = Array.from({ length: width }, (_, index) => cellText(row[index] ?? ''));
  return `| ${cells.join(' | ')} |`;
}

function cellText(value: string): string {
  const flat = shorten(value.replace(/[\p{Cc}\s]+/gu, ' ').trim(), CELL_MOST);
  return neutralise(flat).replace(/[\\|`*_~[\]<>!]/g, (mark) => `\\${mark}`);
}
