import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { listOf } from '../../calls/json.ts';
import { optional } from '../../slack/field-schemas.ts';
import { decodeEntities, parseMrkdwn } from './mrkdwn-parser.ts';
import {
  MAX_ROWS_IN_TEXT,
  type ParsedBlock,
  type ParsedInline,
  type ParsedTable,
  textPiece,
} from './parsed-blocks.ts';
import { NO_LABELS, parseInline, parseRichText } from './rich-text-parser.ts';

/** Rows of a file that are parsed at once. */
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
  return { kind: 'table', rows, columns, firstRows: () => firstRowsOf(raw, rows) };
}

/** The first rows of tables, by their blocks: a message is read many times. */
const parsedRows = new WeakMap<object, ParsedInline[][][]>();

function firstRowsOf(raw: unknown, rows: readonly unknown[][]): ParsedInline[][][] {
  const block = Object(raw);
  const known = parsedRows.get(block);
  if (known !== undefined) return known;
  const parsed = rows.slice(0, MAX_ROWS_IN_TEXT).map((row) => row.map(parseCell));
  parsedRows.set(block, parsed);
  return parsed;
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

function linesOf(block: ParsedBlock): (readonly ParsedInline[])[] {
  if (block.kind === 'paragraph' || block.kind === 'quote') return [block.content];
  if (block.kind === 'list') return [...block.items];
  if (block.kind === 'quoted') return block.blocks.flatMap(linesOf);
  return block.kind === 'code' ? [[textPiece(block.text)]] : [];
}

/** What a writer wrote: rich text and tables in their order; where there is no rich text, `text` and then the tables. */
export function parseContent(blocks: readonly unknown[], text: string): ParsedBlock[] {
  const labels = labelsIn(text);
  const written: ParsedBlock[] = [];
  let hasRichText = false;
  for (const raw of blocks) {
    const richText = parseRichText(raw, labels);
    hasRichText ||= richText !== undefined;
    const table = richText === undefined ? parseTable(raw) : undefined;
    written.push(...(richText ?? []), ...(table === undefined ? [] : [table]));
  }
  return hasRichText ? written : [...parseMrkdwn(text), ...written];
}

function labelsIn(text: string): Map<string, string> {
  const labels = new Map<string, string>();
  for (const [, id, label] of text.matchAll(/<(?:[@#]|!subteam\^)([A-Z0-9]+)\|([^<>|]+)>/g)) {
    if (id !== undefined && label !== undefined) labels.set(id, decodeEntities(label));
  }
  return labels;
}

const textualBlockSchema = z.looseObject({
  type: z.string().catch(''),
  text: z.unknown().optional(),
  fields: z.unknown().optional(),
  elements: z.unknown().optional(),
});

/** The text of blocks that apps write: sections, headers, contexts. */
function textsIn(raw: unknown): string[] {
  if (typeof raw === 'string') return raw.trim() === '' ? [] : [raw];
  if (Array.isArray(raw)) return raw.flatMap(textsIn);
  const parsed = textualBlockSchema.safeParse(raw);
  if (!parsed.success || parsed.data.type === 'actions') return [];
  return [parsed.data.text, parsed.data.fields, parsed.data.elements].flatMap(textsIn);
}

/** All that blocks say, in their order: rich text, tables, and the text of blocks that apps write. */
export function parseEveryBlock(blocks: readonly unknown[]): ParsedBlock[] {
  return blocks.flatMap((block) => {
    const written = parseContent([block], '');
    return written.length > 0 ? written : parseMrkdwn(textsIn(block).join('\n\n'));
  });
}
