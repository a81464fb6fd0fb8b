import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { listOf } from '../../calls/json.ts';
import { optional } from '../../slack/field-schemas.ts';
import { type ParsedBlock, type ParsedInline, type ParsedTable, textPiece } from './parsed-blocks.ts';
import { NO_LABELS, parseInline, parseRichText } from './rich-text-parser.ts';

/** Tables with more rows go to the agent as a file only. */
const MAX_ROWS_IN_TEXT = 50;
/** Larger tables do not go to the agent as files. */
const MAX_TABLE_CELLS = 50_000;

/** Whether a table's text only names the file that holds it. */
export function isInFileOnly(table: ParsedTable): boolean {
  return table.file !== undefined && table.rows.length > MAX_ROWS_IN_TEXT && !isTooLarge(table);
}

/** Whether a table is too large to go to the agent as a file. */
export function isTooLarge({ rows, columns }: ParsedTable): boolean {
  return rows.length * columns > MAX_TABLE_CELLS;
}

/** The tables among the blocks, in reading order. */
export function tablesAmong(blocks: readonly ParsedBlock[]): ParsedTable[] {
  return blocks.flatMap((block) => {
    if (block.kind === 'table') return [block];
    return block.kind === 'quoted_blocks' ? tablesAmong(block.blocks) : [];
  });
}

/** The blocks without the tables among them. */
export function withoutTables(blocks: readonly ParsedBlock[]): ParsedBlock[] {
  return blocks.flatMap((block): ParsedBlock[] => {
    if (block.kind === 'quoted_blocks') return [{ ...block, blocks: withoutTables(block.blocks) }];
    return block.kind === 'table' ? [] : [block];
  });
}

/** The blocks with a file name for each table: `table-1.csv` for the one with the number 1. */
export function withTableFiles(blocks: readonly ParsedBlock[], first: number): ParsedBlock[] {
  let number = first;
  const named = (block: ParsedBlock): ParsedBlock => {
    if (block.kind === 'quoted_blocks') return { ...block, blocks: block.blocks.map(named) };
    if (block.kind !== 'table') return block;
    const table = { ...block, file: `table-${number++}.csv` };
    return isInFileOnly(table) ? { ...table, firstRows: () => [] } : table;
  };
  return blocks.map(named);
}

/** The number of the table in a file that `withTableFiles` has named; 0 for a file of any other name. */
export function tableNumber(fileName: string): number {
  return Number(/^table-(\d{1,9})\.csv$/.exec(fileName)?.[1] ?? 0);
}

const ROWS_AT_ONCE = 200;

const tableSchema = z.looseObject({
  type: z.enum(['table', 'data_table']),
  rows: listOf(z.array(z.unknown())),
});
const plainCellSchema = z.looseObject({
  type: z.enum(['raw_text', 'raw_number']),
  text: optional(z.string().min(1)),
  value: optional(z.union([z.string(), z.number()])),
});

/** Parses a block that is a table; undefined for any other. Never throws. */
export function parseTable(raw: unknown): ParsedTable | undefined {
  const rows = tableSchema.safeParse(raw).data?.rows.filter((row) => row.length > 0) ?? [];
  if (rows.length === 0) return undefined;
  const columns = rows.reduce((most, row) => Math.max(most, row.length), 0);
  // Cells are parsed once, because a message is read many times.
  let parsed: ParsedInline[][][] | undefined;
  const firstRows = () => {
    parsed ??= rows.slice(0, MAX_ROWS_IN_TEXT).map((row) => row.map(parseCell));
    return parsed;
  };
  return { kind: 'table', rows, columns, firstRows };
}

/** The cells of all rows. Lets others work meanwhile. */
export async function cellsOf({ rows, columns }: ParsedTable): Promise<ParsedInline[][][]> {
  const cells: ParsedInline[][][] = [];
  for (const row of rows) {
    if (cells.length % ROWS_AT_ONCE === ROWS_AT_ONCE - 1) await setImmediate();
    cells.push(Array.from({ length: columns }, (_, column) => parseCell(row[column])));
  }
  return cells;
}

/** A cell's content, of plain or of rich text; a number as it is written. */
export function parseCell(raw: unknown): ParsedInline[] {
  const plain = plainCellSchema.safeParse(raw).data;
  if (plain !== undefined) return [textPiece(plain.text ?? String(plain.value ?? ''))];
  const lines = parseRichText(raw, NO_LABELS)?.flatMap(linesOf);
  if (lines === undefined) return parseInline(raw, NO_LABELS);
  return lines.flatMap((line, index) => (index === 0 ? line : [textPiece('\n'), ...line]));
}

/** A block's lines: paragraphs, items, and cells of a table's first rows. */
export function linesOf(block: ParsedBlock): (readonly ParsedInline[])[] {
  if (block.kind === 'paragraph' || block.kind === 'quoted_lines') return [block.content];
  if (block.kind === 'list') return [...block.items];
  if (block.kind === 'quoted_blocks') return block.blocks.flatMap(linesOf);
  if (block.kind === 'table') return block.firstRows().flat();
  return block.kind === 'code' ? [[textPiece(block.text)]] : [];
}
