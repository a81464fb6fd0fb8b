import type { ContentBlock } from '../../agent/content-blocks.ts';
import { hasDelimiterRow, MAX_TABLE_ROWS } from '../markdown/markdown-node.ts';
import { firstRows } from '../strings/index.ts';
import { csvLine } from '../text-format.ts';
import { answerText } from './answer-text.ts';

/** A table of an answer with more rows than one message shows, as the agent wrote its lines. */
export interface LongTable {
  /** Its header and the row below that. */
  head: readonly string[];
  rows: readonly string[];
}

/** An answer with the first rows of its long tables. */
export interface ShortenedAnswer {
  text: string;
  /** Where a long table would not fit below what stands before it (characters). */
  breaks: readonly number[];
  tables: readonly LongTable[];
}

/** Of a table with at most so many rows, all are shown. */
const MAX_ROWS = 100;
/** Characters of a table's first rows: they fit one message. */
const MAX_PREVIEW_LENGTH = 8_000;
/** Characters from which on a message has no room for more. */
const FULL_MESSAGE_LENGTH = 8_700;
const BLOCK_START = /^ {0,3}(?:[-+*] |\d{1,9}[.)] |>|#{1,6} |`{3}|~{3})/;

const shortened = new WeakMap<readonly ContentBlock[], Map<string, ShortenedAnswer>>();

/**
 * The answer of these blocks with the first 100 rows of each longer table, as far as they fit one message, and a note
 * below them. While it grows, it has one row fewer, as Markdown does, and no note below a table that may still grow.
 */
export function withShortTables(
  blocks: readonly ContentBlock[],
  options: { isFinal: boolean; isSortable: boolean },
): ShortenedAnswer {
  const known = shortened.get(blocks) ?? new Map<string, ShortenedAnswer>();
  shortened.set(blocks, known);
  const key = JSON.stringify(options);
  const answer = known.get(key) ?? shorten(answerText(blocks), options);
  known.set(key, answer);
  return answer;
}

function shorten(text: string, { isFinal, isSortable }: { isFinal: boolean; isSortable: boolean }) {
  const answer: { text: string; breaks: number[]; tables: LongTable[] } = { text, breaks: [], tables: [] };
  if (!hasDelimiterRow(text)) return answer;
  const lines = text.split('\n');
  const most = isFinal && isSortable ? MAX_ROWS : MAX_TABLE_ROWS - 1;
  let shown = '';
  let from = 0;
  for (const { start, end } of tablesOf(lines)) {
    const [head, rows] = [lines.slice(start, start + 2), lines.slice(start + 2, end)];
    const mayGrow = !isFinal && lines.slice(end).join('\n') === '';
    if (rows.length <= (mayGrow ? most : MAX_ROWS)) continue;
    const count = rowsThatFit(rows, most);
    const preview = [...head, ...rows.slice(0, count)].join('\n');
    shown += lines
      .slice(from, start)
      .map((line) => `${line}\n`)
      .join('');
    if (shown.length - (answer.breaks.at(-1) ?? 0) + preview.length > FULL_MESSAGE_LENGTH)
      answer.breaks.push(headingAbove(shown));
    shown += preview;
    if (!mayGrow) shown += `\n\n${firstRows(count, rows.length)}\n`;
    answer.tables.push({ head, rows });
    from = end;
  }
  if (answer.tables.length === 0) return answer;
  return {
    ...answer,
    text: shown + lines.slice(from).join('\n'),
    breaks: answer.breaks.filter((at) => at > 0),
  };
}

function rowsThatFit(rows: readonly string[], most: number): number {
  let length = 0;
  const first = rows.slice(0, most).findIndex((row) => {
    length += row.length + 1;
    return length > MAX_PREVIEW_LENGTH;
  });
  return first === -1 ? most : Math.max(1, first);
}

/** Where the heading begins with which a text ends; its end if it ends with none. */
function headingAbove(text: string): number {
  return /(?:^|\n)(?=#{1,6} [^\n]*\n\s*$)/.exec(text.slice(-500))?.index === undefined
    ? text.length
    : text.lastIndexOf('\n#') + 1;
}

/** The lines of tables outside of code, quotes and lists: from `start` up to `end`. */
function* tablesOf(lines: readonly string[]): Generator<{ start: number; end: number }> {
  let fence = '';
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
    if (fence === '') fence = mark;
    else if (mark.startsWith(fence)) fence = '';
    if (fence !== '' || !isRow(line) || !isDelimiterRow(lines[at + 1] ?? '', line)) continue;
    let end = at + 2;
    while (end < lines.length && isRow(lines[end] ?? '')) end += 1;
    yield { start: at, end };
    at = end - 1;
  }
}

function isRow(line: string): boolean {
  return line.includes('|') && !BLOCK_START.test(line) && !/^(?: {4}|\t)/.test(line);
}

function isDelimiterRow(line: string, head: string): boolean {
  return /^ {0,3}\|?[ \t]*:?-+:?[ \t|:-]*$/.test(line) && cellsOf(line).length === cellsOf(head).length;
}

function cellsOf(row: string): string[] {
  const inner = row.trim().replace(/^\||(?<!\\)\|$/g, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim());
}

/** Marks around a whole cell, which its text does not need. */
const FORMATTED = /^(\*{1,3}|_{1,3}|~~|`{1,3})(?=\S)(.*\S)\1$/;

/** A long table as CSV. */
export function longTableCsv({ head: [names = ''], rows }: LongTable): string {
  const textOf = (cell: string) =>
    cell
      .replace(FORMATTED, '$2')
      .replace(/<br ?\/?>/gi, ' / ')
      .replace(/\\([!-/:-@[-`{-~])/g, '$1');
  return [names, ...rows].map((row) => `${csvLine(cellsOf(row).map(textOf))}\r\n`).join('');
}
