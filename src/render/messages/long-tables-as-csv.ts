import { decodeString } from 'micromark-util-decode-string';
import type { ContentBlock } from '../../agent/content-blocks.ts';
import { csvFile, csvLine } from '../csv-line.ts';
import { cellsOf, hasDelimiterRow, MAX_TABLE_COLUMNS, openFenceAfter } from '../markdown/markdown-node.ts';
import { unicodeFormula } from '../markdown/unicode-math.ts';
import { firstOfTable } from '../strings/index.ts';
import { answerText } from './answer-text.ts';
import { machineReadable } from './cell-numbers.ts';
import { cellText, linkText } from './tables.ts';

/** An answer with the first rows of its long tables. */
export interface ShortenedAnswer {
  text: string;
  /** Where a long table would not fit below what stands before it (characters). */
  breaks: readonly number[];
  /** Its tables with more rows or columns than Slack shows, each as CSV. */
  tables: readonly string[];
}

/** Of a table with at most so many rows, all are shown. */
const MAX_ROWS = 100;
/** Characters of a table's first rows: they fit one message. */
const MAX_PREVIEW_LENGTH = 8_000;
/** Characters from which on a message has no room for more. */
const FULL_MESSAGE_LENGTH = 8_700;
/** Characters of one table's cells that are parsed, in one slice of the render queue; further cells lose the usual marks alone. */
const MAX_PARSED = 20_000;
const BLOCK_START = /^ {0,3}(?:[-+*] |\d{1,9}[.)] |>|#{1,6} |`{3}|~{3})/;
const HEADING_AT_END = /(?<=^|\n)#{1,6} [^\n]*\n\s*$/;

const shortened = new WeakMap<readonly ContentBlock[], { isFinal: boolean; answer: ShortenedAnswer }>();

/**
 * The answer of these blocks with the first 100 rows of each longer table, as far as they fit one message, and a note
 * below them. While it grows, it has one row fewer, as Markdown does, and no note below a table that may still grow.
 */
export function withShortTables(blocks: readonly ContentBlock[], isFinal: boolean): ShortenedAnswer {
  const known = shortened.get(blocks);
  if (known?.isFinal === isFinal) return known.answer;
  const answer = shorten(answerText(blocks), isFinal);
  shortened.set(blocks, { isFinal, answer });
  return answer;
}

function shorten(text: string, isFinal: boolean): ShortenedAnswer {
  const answer = { text: '', breaks: [] as number[], tables: [] as string[] };
  const lines = text.split('\n');
  const most = isFinal ? MAX_ROWS : MAX_ROWS - 1;
  if (!hasDelimiterRow(text)) return { ...answer, text };
  let from = 0;
  const lastLine = lines.findLastIndex((line) => line !== '');
  for (const { start, end } of tablesOf(lines)) {
    const rows = lines.slice(start + 2, end);
    const mayGrow = !isFinal && end > lastLine;
    const isLong = rows.length > (mayGrow ? most : MAX_ROWS);
    if (isFinal && (isLong || rows.some((row) => cellsOf(row).length > MAX_TABLE_COLUMNS)))
      answer.tables.push(csvOf([lines[start] ?? '', ...rows]));
    if (!isLong) continue;
    const count = rowsThatFit(rows, most);
    const preview = lines.slice(start, start + 2 + count).join('\n');
    for (const line of lines.slice(from, start)) answer.text += `${line}\n`;
    if (answer.text.length - (answer.breaks.at(-1) ?? 0) + preview.length > FULL_MESSAGE_LENGTH) {
      const heading = HEADING_AT_END.exec(answer.text.slice(-500))?.[0] ?? '';
      answer.breaks.push(answer.text.length - heading.length);
    }
    answer.text += mayGrow ? preview : `${preview}\n\n${firstOfTable(count, rows.length, 'rows')}\n`;
    from = end;
  }
  // The same string takes no memory of its own.
  if (from === 0) return { ...answer, text };
  answer.text += lines.slice(from).join('\n');
  return { ...answer, breaks: answer.breaks.filter((at) => at > 0) };
}

function rowsThatFit(rows: readonly string[], most: number): number {
  let length = 0;
  const first = rows.slice(0, most).findIndex((row) => {
    length += row.length + 1;
    return length > MAX_PREVIEW_LENGTH;
  });
  return first === -1 ? most : Math.max(1, first);
}

/** The lines of tables outside of code, quotes and lists: from `start` up to `end`. */
function* tablesOf(lines: readonly string[]): Generator<{ start: number; end: number }> {
  let fence = '';
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    fence = openFenceAfter(fence, line);
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

/** The rows of a table as CSV, without the marks of its Markdown. */
function csvOf(rows: readonly string[]): string {
  const count = { characters: 0 };
  const textOf = (cell: string) =>
    machineReadable(count.characters > MAX_PARSED ? withoutUsualMarks(cell) : cellText(cell, count));
  return csvFile(rows.map((row) => `${csvLine(cellsOf(row).map(textOf))}\r\n`).join(''));
}

/** Bold, struck and code text. Stars beside a word or a bracket are powers, arguments and levels of significance. */
const USUAL_MARKS =
  /(?<![\p{L}\p{N}*(,])\*\*(?![\s*])([^*]{1,500})(?<!\s)\*\*(?![\p{L}\p{N}*])|~~([^~]{1,500})~~|`([^`]{1,500})`/gu;
const LINK = /\[([^[\]]{0,500})\]\(<?(https?:[^\s()<>]{1,2000})>?\)/g;

/** A cell without marks that are never data. */
function withoutUsualMarks(cell: string): string {
  return cell
    .replace(LINK, (_, text: string, url: string) => linkText({ text, url }))
    .replace(USUAL_MARKS, '$1$2$3')
    .replace(
      /(?<![\p{L}\p{N}$])\$(?!\s)[^$]{1,500}(?<!\s)\$(?![\p{L}\p{N}$])/gu,
      (span) => unicodeFormula(span) ?? span,
    )
    .replace(/\\[|*_~]|&#?\w+;/g, (mark) => decodeString(mark));
}
