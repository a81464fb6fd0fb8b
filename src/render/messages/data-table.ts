import type {
  DataTableBlock,
  RawNumberElement,
  RawTextElement,
  RichTextBlock,
  RichTextElement,
  RichTextStyleable,
} from '@slack/types';
import type { SlackBlock } from '../blocks/slack-blocks.ts';
import type { MarkdownNode } from '../markdown/markdown-node.ts';
import { parseMarkdown } from '../markdown/parse-markdown.ts';
import type { AnswerPart } from '../splitting/answer-splitter.ts';
import { tableCaption } from '../strings/index.ts';

/** A table of at most so many rows is read at a glance. */
const MAX_PLAIN_ROWS = 10;
/** Limits of one table (https://docs.slack.dev/reference/block-kit/blocks/data-table-block). */
const MAX_ROWS = 100;
const MAX_COLUMNS = 20;
/** Rows that are shown at a time. */
const PAGE_SIZE = 10;
/** With a thousands separator or without; what begins with further zeros is a name. */
const NUMBER = /^[+\-−]?(?:0|[1-9]\d*|[1-9]\d{0,2}(?:,\d{3})+)?(?:\.\d+)?(?<=\d)(?:e[+\-−]?\d+)?%?$/i;
const LINK = /^\[[\s\S]*\]\(\s*<?(https?:[^\s<>]+?)>?(?:\s+["'(][\s\S]*)?\s*\)$/;
const STYLES: Readonly<Record<string, RichTextStyleable['style']>> = {
  strong: { bold: true },
  emphasis: { italic: true },
  delete: { strike: true },
};

type Style = NonNullable<RichTextStyleable['style']>;
type Cell = RawTextElement | RawNumberElement | RichTextBlock;

/**
 * The part's blocks with its first long table as one that people sort, filter and page through. Undefined without such a
 * table, or if it has what only Markdown shows. `continues`: the next part goes on where this one ends, perhaps in a table.
 */
export function blocksWithDataTable(
  { segments, blocks: [markdown] }: AnswerPart,
  continues: boolean,
): SlackBlock[] | undefined {
  const text = markdown?.text ?? '';
  const { children } = parseMarkdown(text, { characters: 0 });
  // Sorting half of a table would mislead.
  const from = segments[0]?.isAdded === true ? segments[0].text.length : 0;
  const whole = continues ? children.slice(0, -1) : children;
  for (const node of whole) {
    if (node.type !== 'table' || node.start < from) continue;
    const table = dataTable(text, node);
    if (table === undefined) continue;
    const around = (piece: string): SlackBlock[] =>
      /\S/.test(piece) ? [{ type: 'markdown', text: piece }] : [];
    return [...around(text.slice(0, node.start)), table, ...around(text.slice(node.end))];
  }
  return undefined;
}

function dataTable(text: string, table: MarkdownNode): DataTableBlock | undefined {
  const [head, ...body] = table.children;
  const columns = head?.children.length ?? 0;
  if (head === undefined || body.length <= MAX_PLAIN_ROWS || body.length > MAX_ROWS || columns > MAX_COLUMNS)
    return undefined;
  try {
    const names = head.children.map((cell) => rawText(plainTextOf(text, cell)));
    const rows = body.map((row) => rowOf(text, row, columns));
    return {
      type: 'data_table',
      caption: tableCaption(rows.length),
      rows: [names, ...rows],
      page_size: PAGE_SIZE,
    };
  } catch (error) {
    if (error instanceof OnlyMarkdown) return undefined;
    throw error;
  }
}

/** Something that a cell of a data table cannot show. */
class OnlyMarkdown extends Error {}

function rowOf(text: string, row: MarkdownNode, columns: number): Cell[] {
  if (row.children.length > columns) throw new OnlyMarkdown();
  const cells = row.children.map((cell) => cellOf(text, cell));
  return [...cells, ...Array.from({ length: columns - cells.length }, () => rawText(''))];
}

function cellOf(text: string, cell: MarkdownNode): Cell {
  if (cell.children.some(({ type }) => type !== 'text')) return richText(elementsOf(text, cell.children));
  const plain = plainTextOf(text, cell);
  const value = numberIn(plain);
  return value === undefined ? rawText(plain) : { type: 'raw_number', value, text: plain };
}

/** Slack refuses an empty text. */
function rawText(text: string): RawTextElement {
  return { type: 'raw_text', text: text === '' ? ' ' : text };
}

function richText(elements: RichTextElement[]): RichTextBlock {
  return { type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] };
}

function numberIn(text: string): number | undefined {
  if (!NUMBER.test(text)) return undefined;
  const value = Number(text.replace(/[,%+]/g, '').replaceAll('−', '-'));
  return Number.isFinite(value) ? value : undefined;
}

function elementsOf(text: string, nodes: readonly MarkdownNode[], styles: Style = {}): RichTextElement[] {
  const style = Object.keys(styles).length === 0 ? undefined : styles;
  return nodes.flatMap((node): RichTextElement[] => {
    const source = text.slice(node.start, node.end);
    const added = STYLES[node.type];
    if (added !== undefined) return elementsOf(text, node.children, { ...styles, ...added });
    if (node.type === 'text') return [{ type: 'text', text: unescaped(source), ...(style && { style }) }];
    if (node.type === 'inlineCode')
      return [{ type: 'text', text: source.replace(/^`+ ?| ?`+$/g, ''), style: { ...styles, code: true } }];
    const url = LINK.exec(source)?.[1] ?? (/^https?:\S+$/.test(source) ? source : undefined);
    if (node.type !== 'link' || url === undefined) throw new OnlyMarkdown();
    return [{ type: 'link', url, text: plainTextOf(text, node), ...(style && { style }) }];
  });
}

/** The text of a node without its formatting. */
function plainTextOf(text: string, { children }: MarkdownNode): string {
  return elementsOf(text, children)
    .map((element) => ('text' in element ? element.text : ''))
    .join('');
}

/** A character reference needs Markdown's reader. */
function unescaped(source: string): string {
  if (/&#?\w+;/.test(source)) throw new OnlyMarkdown();
  return source.replace(/\\([!-/:-@[-`{-~])/g, '$1');
}
