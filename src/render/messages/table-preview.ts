import { parse } from 'csv-parse/sync';
import { contextLineBlock, type RenderedMessage, sectionBlock } from '../blocks/slack-blocks.ts';
import { neutralizePings } from '../markdown/pings.ts';
import * as strings from '../strings/index.ts';
import { shorten } from '../text/graphemes.ts';
import { displayedFileName } from './result-list.ts';

/** Limits of a preview. */
const MAX_ROWS = 10;
const MAX_COLUMNS = 8;
const MAX_CELL_LENGTH = 40;

/** A message with a table's first rows; undefined if the text is no table. */
export function tablePreviewMessage(file: { name: string; text: string }): RenderedMessage | undefined {
  const rows = parseDelimitedTable(file.text);
  const [head, ...body] = rows;
  if (head === undefined || head.length < 2 || body.length === 0) return undefined;
  const columns = Math.max(...rows.map((row) => row.length));
  const shown = body.slice(0, MAX_ROWS);
  const name = displayedFileName(file.name);
  const note = strings.tableSize(
    { rows: body.length, columns },
    { rows: shown.length, columns: Math.min(columns, MAX_COLUMNS) },
  );
  const width = Math.min(columns, MAX_COLUMNS);
  const lines = [
    tableRow(head, width),
    `|${' --- |'.repeat(width)}`,
    ...shown.map((row) => tableRow(row, width)),
  ];
  return {
    text: `${name}: ${note}`,
    blocks: [sectionBlock(name), { type: 'markdown', text: lines.join('\n') }, contextLineBlock(note)],
  };
}

/** The rows of a text that separates cells by commas, semicolons or tabs, whichever its first line has most of. */
export function parseDelimitedTable(text: string): string[][] {
  const first = text.slice(0, 10_000).split(/\r?\n/, 1)[0] ?? '';
  const counted = [',', ';', '\t'].map((delimiter) => ({ delimiter, count: first.split(delimiter).length }));
  const { delimiter } = counted.reduce((best, one) => (one.count > best.count ? one : best));
  try {
    return parse(text, {
      delimiter,
      bom: true,
      relax_quotes: true,
      relax_column_count: true,
      skip_empty_lines: true,
    });
  } catch {
    return [];
  }
}

function tableRow(row: readonly string[], width: number): string {
  const cells = Array.from({ length: width }, (_, index) => cellText(row[index] ?? ''));
  return `| ${cells.join(' | ')} |`;
}

function cellText(value: string): string {
  const flat = shorten(value.replace(/[\p{Cc}\s]+/gu, ' ').trim(), MAX_CELL_LENGTH);
  return neutralizePings(flat).replace(/[\\|`*_~[\]<>!]/g, (mark) => `\\${mark}`);
}
