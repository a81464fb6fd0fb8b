import type * as types from '@slack/types';
import { decodeString } from 'micromark-util-decode-string';
import { markdownBlocks, type SlackBlock } from '../blocks/slack-blocks.ts';
import { figureWords } from '../markdown/figures.ts';
import { literalMarks } from '../markdown/literal-marks.ts';
import {
  hasDelimiterRow,
  isTableTooWide,
  lineEnd,
  lineStart,
  MAX_TABLE_COLUMNS,
  type MarkdownNode,
} from '../markdown/markdown-node.ts';
import { isParsedEnough, type ParseCounter, parseMarkdown } from '../markdown/parse-markdown.ts';
import { isSignedLink } from '../markdown/signed-links-in-text.ts';
import { unicodeFormula } from '../markdown/unicode-math.ts';
import { labelNote } from '../markdown/unsafe-links.ts';
import type { AnswerPart } from '../splitting/answer-splitter.ts';
import { openerOf } from '../splitting/segments.ts';
import { firstOfTable, tableCaption } from '../strings/index.ts';
import { numberInCell } from './cell-numbers.ts';

/** A table of at most so many rows is read at a glance. */
const MAX_PLAIN_ROWS = 10;
/** Rows of one table, beside its header (https://docs.slack.dev/reference/block-kit/blocks/data-table-block). */
const MAX_ROWS = 100;
const PAGE_SIZE = 10;
/** What a cell with nothing beside its number holds: neither an error, an interval, a bound nor a unit but per cent. */
const NUMBER_ALONE = /^[\d.,\s×x·⋅*^e⁺⁻⁰¹²³⁴-⁹+−–%-]+$/i;
const LINK = /^\[[\s\S]*\]\(\s*<?(https?:[^\s<>]+?)>?(?:\s+["'(][\s\S]*)?\s*\)$/;
const STYLES: Readonly<Record<string, types.RichTextStyleable['style']>> = {
  strong: { bold: true },
  emphasis: { italic: true },
  delete: { strike: true },
};

type Style = NonNullable<types.RichTextStyleable['style']>;
type Cell = types.RawTextElement | types.RawNumberElement | types.RichTextBlock;

/** A table of a part that Slack shows in another form than Markdown, and the range of the part's text that it replaces. */
interface FoundTable {
  table: types.DataTableBlock;
  from: number;
  to: number;
  columns: number;
  /** Nothing follows it in the part. */
  isLast: boolean;
}

/**
 * The part's blocks with its first long table as one that people sort, filter and page through. Undefined without such a
 * table, or if it has what only Markdown shows. `continues`: the next part goes on where this one ends, perhaps in a
 * table. `hasFile`: a file has the columns that Slack does not show.
 */
export function blocksWithDataTable(
  part: AnswerPart,
  { continues, hasFile, count }: { continues: boolean; hasFile: boolean; count: ParseCounter },
): SlackBlock[] | undefined {
  searchTable(part, count);
  const found = foundTables.get(part);
  // Sorting half of a table would mislead.
  if (found === undefined || (continues && found.isLast)) return undefined;
  const isWide = found.columns > MAX_TABLE_COLUMNS;
  if (isWide && !hasFile) return undefined;
  const text = part.blocks[0]?.text ?? '';
  const note = isWide ? `${firstOfTable(MAX_TABLE_COLUMNS, found.columns, 'columns')}\n\n` : '';
  const before = markdownBlocks(text.slice(0, found.from));
  return [...before, found.table, ...markdownBlocks(note + text.slice(found.to))];
}

/** Looks for a table in a part, so that rendering it takes no long time; false if it was looked for before. */
export function searchTable(part: AnswerPart, count: ParseCounter): boolean {
  if (foundTables.has(part)) return false;
  foundTables.set(part, parseTable(part, count));
  return true;
}

/** What was found in each part: a part is parsed once. */
const foundTables = new WeakMap<AnswerPart, FoundTable | undefined>();

/** The first long table of a part. */
function parseTable(
  { segments, blocks: [markdown] }: AnswerPart,
  count: ParseCounter,
): FoundTable | undefined {
  const text = markdown?.text ?? '';
  if (!hasDelimiterRow(text) || isParsedEnough(count)) return undefined;
  const { children } = parseMarkdown(text, count);
  const reopened = openerOf(segments).length;
  for (const node of children) {
    const { start: from, end: to } = node;
    const isFenced = node.type === 'code' && isOwnFence(segments, from);
    const inner = isFenced ? text.slice(lineEnd(text, from) + 1, lineStart(text, to) - 1) : undefined;
    const source = inner ?? text;
    if (inner === undefined && from < reopened) continue;
    const table = inner === undefined ? node : parseMarkdown(inner, count).children[0];
    const found = table?.type === 'table' ? dataTable(source, table) : undefined;
    if (found !== undefined) return { ...found, from, to, isLast: node === children.at(-1) };
  }
  return undefined;
}

/** Whether the renderer put a fence at this offset, around a table that is too wide, and nothing that reopens one. */
function isOwnFence(segments: AnswerPart['segments'], offset: number): boolean {
  let at = 0;
  for (const { text, source } of segments) {
    if (at === offset) return source === '' && /^`{3,}\n[ \t>]*$/.test(text);
    at += text.length;
  }
  return false;
}

function dataTable(
  text: string,
  table: MarkdownNode,
): Omit<FoundTable, 'from' | 'to' | 'isLast'> | undefined {
  const [head, ...body] = table.children;
  const columns = Math.max(...table.children.map((row) => row.children.length));
  const least = isTableTooWide(text, table) ? 1 : MAX_PLAIN_ROWS + 1;
  if (head === undefined || body.length > MAX_ROWS || body.length < least) return undefined;
  try {
    const names = head.children.map((cell) => rawText(plainTextOf(text, cell)));
    const rows: Cell[][] = [names, ...body.map((row) => row.children.map((cell) => cellOf(text, cell)))];
    const width = Math.min(columns, MAX_TABLE_COLUMNS);
    const shown = rows.map((row) => Array.from({ length: width }, (_, at) => row[at] ?? rawText('')));
    const caption = tableCaption(body.length);
    return { table: { type: 'data_table', caption, rows: shown, page_size: PAGE_SIZE }, columns };
  } catch (error) {
    if (error instanceof OnlyMarkdown) return undefined;
    throw error;
  }
}

/** What people see of a cell that is written so, and where its links lead; as it is if only Markdown shows it, or enough was parsed. */
export function cellText(source: string, count: ParseCounter): string {
  if (!/[`$\\<*_~[^&]/.test(source) || isParsedEnough(count)) return source;
  const [only, ...more] = parseMarkdown(source, count).children;
  try {
    return only?.type === 'paragraph' && more.length === 0 ? plainTextOf(source, only, linkText) : source;
  } catch (error) {
    if (error instanceof OnlyMarkdown) return source;
    throw error;
  }
}

/** A link in a file: its label, and its address unless that holds the label, such as an id, or gives access; a number stays one. */
export function linkText({ text = '', url }: { text?: string; url: string }): string {
  return numberIn(text) !== undefined || url.includes(text) || isSignedLink(url) ? text : `${text} (${url})`;
}

/** Something that a cell of a data table cannot show. */
class OnlyMarkdown extends Error {}

function cellOf(text: string, cell: MarkdownNode): Cell {
  if (cell.children.some(({ type }) => type !== 'text')) {
    const elements = elementsOf(text, cell.children);
    return { type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] };
  }
  const plain = plainTextOf(text, cell);
  const value = numberIn(plain);
  return value === undefined ? rawText(plain) : { type: 'raw_number', value, text: plain };
}

/** Slack refuses an empty text. */
function rawText(text: string): types.RawTextElement {
  return { type: 'raw_text', text: text === '' ? ' ' : text };
}

function numberIn(text: string): number | undefined {
  const number = NUMBER_ALONE.test(text) ? numberInCell(text) : undefined;
  if (number === undefined || !/^%?$/.test(number.unit)) return undefined;
  const { mantissa, exponent } = number;
  const value = exponent === 0 ? mantissa : Number(`${mantissa}e${exponent}`);
  // A number that is too small for the type is still not 0.
  if (value === 0 && mantissa !== 0) return Math.sign(mantissa) * Number.MIN_VALUE;
  return Number.isFinite(value) ? value : undefined;
}

function elementsOf(
  text: string,
  nodes: readonly MarkdownNode[],
  styles: Style = {},
): types.RichTextElement[] {
  const style = Object.keys(styles).length === 0 ? undefined : styles;
  return nodes.flatMap((node): types.RichTextElement[] => {
    const source = text.slice(node.start, node.end);
    const added = STYLES[node.type];
    if (added !== undefined) return elementsOf(text, node.children, { ...styles, ...added });
    if (node.type === 'text') return [{ type: 'text', text: unescaped(text, node), ...(style && { style }) }];
    const span = spanInCell(node.type, source);
    if (span !== undefined) return [{ type: 'text', text: span, ...(style && { style }) }];
    if (/^inline(?:Code|Formula)$/.test(node.type)) {
      const code = source.replace(/^`+ ?| ?`+$/g, '').replaceAll('\\|', '|');
      return [{ type: 'text', text: code, style: { ...styles, code: true } }];
    }
    const url = (LINK.exec(source) ?? /^<?(https?:[^\s<>]+)>?$/.exec(source))?.[1];
    if (node.type !== 'link' || url === undefined) throw new OnlyMarkdown();
    // In angle brackets a backslash is part of the address, but for one before a pipe.
    const target = decodeString(source.startsWith('<') ? url.replace(/\\(?!\|)/g, '\\\\') : url);
    const label = plainTextOf(text, node);
    const note = labelNote(label, target);
    const shown = label.endsWith(note) ? label : label + note;
    return [{ type: 'link', url: target, text: shown, ...(style && { style }) }];
  });
}

/** What a cell shows in place of a formula, a break or a figure; undefined if it shows it as code, or it is none. */
function spanInCell(type: string, source: string): string | undefined {
  if (type === 'lineBreak') return ' / ';
  if (type === 'figure') return figureWords(source);
  return type === 'inlineFormula' ? unicodeFormula(source) : undefined;
}

function plainTextOf(text: string, { children }: MarkdownNode, ofLink?: typeof linkText): string {
  return elementsOf(text, children)
    .map((one) => (ofLink && one.type === 'link' ? ofLink(one) : 'text' in one ? one.text : ''))
    .join('');
}

/** The text of a node as people see it. */
function unescaped(text: string, { start, end }: MarkdownNode): string {
  const source = text.slice(start, end);
  const data = source.includes('\\') ? literalMarks(text, start, end) : [];
  return source.replace(/\\[!-/:-@[-`{-~]|&#?\w+;|:\u2060(?=\w+:)/g, (all, at: number) => {
    if (all.startsWith(':')) return ':';
    return data.includes(start + at) ? all : decodeString(all);
  });
}
