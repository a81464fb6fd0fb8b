/** A node of mdast's tree, a `formula` (on lines of its own), or a span of `mathSyntax`; `start` and `end` are offsets in the source. */
export interface MarkdownNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly children: readonly MarkdownNode[];
}

export const CONTAINER_TYPES = /^(?:list|listItem|blockquote)$/;

/** The nodes that hold this offset strictly inside, outermost first. */
export function nodesAround({ children }: MarkdownNode, at: number): MarkdownNode[] {
  const next = children.find(({ start, end }) => start < at && at < end);
  return next === undefined ? [] : [next, ...nodesAround(next, at)];
}

/** The last block and the containers around it, outermost first. */
export function lastNodes({ children }: MarkdownNode): MarkdownNode[] {
  const last = children.at(-1);
  if (last === undefined) return [];
  return CONTAINER_TYPES.test(last.type) ? [last, ...lastNodes(last)] : [last];
}

/** Where the line that holds this offset starts. */
export function lineStart(text: string, at: number): number {
  return at <= 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
}

/** Where the line that holds this offset ends: its line end, or the end of the text. */
export function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}

/** What stands before an offset on its line, with list markers blanked: the prefix of a further line of the same block. */
export function linePrefix(text: string, at: number): string {
  return text.slice(lineStart(text, at), at).replace(/[^>\t]/g, ' ');
}

/** Most rows of a table in one message, including its header (https://docs.slack.dev/reference/block-kit/blocks/table-block). */
export const MAX_TABLE_ROWS = 100;
/** Slack rejects a table with more cells in a row. */
export const MAX_TABLE_COLUMNS = 20;
/** Longest header (characters) that is repeated when a table continues in the next message. */
export const MAX_TABLE_HEAD_LENGTH = 1_500;

/** The opening fence of a code node; undefined for indented code. */
export function openingFenceOf(text: string, code: MarkdownNode): string | undefined {
  return /^(?:`{3,}|~{3,})/.exec(text.slice(code.start, lineEnd(text, code.start)))?.[0];
}

/** Whether a fenced code node has its closing fence. */
export function isFenceClosed(text: string, code: MarkdownNode, fence: string): boolean {
  const last = lineStart(text, code.end);
  if (last <= code.start) return false;
  return new RegExp(`^[ \\t>]*${fence}${fence.charAt(0)}*\\s*$`).test(text.slice(last, code.end));
}

/** What begins or ends code, also in an item that it begins. A longer one, which each piece of the code would repeat, is text. */
const FENCE = /^( {0,3}| ?[-+*] |[-+*] {2}|\d[.)] )(`{3,99}(?=[^`]*$)|~{3,99}(?!~))(.*)/;

/** The fence that is open after a line, and was before it if `open` is one; '' for none. */
export function openFenceAfter(open: string, line: string): string {
  const [, before = '', fence = '', info = ''] = FENCE.exec(line) ?? [];
  if (open === '') return fence;
  return fence.startsWith(open) && (before + info).trim() === '' ? '' : open;
}

/** A line without the marks of the quotations and items that it stands in or begins. */
export function withoutContainers(line: string): string {
  return line.replace(/^[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*/, '');
}

/** Whether a text may hold a table: parsing costs a hundred times more. */
export function hasDelimiterRow(text: string): boolean {
  const lines = text.split('\n');
  return lines.some((line) => line.includes('|') && line.includes('-') && /^[\s|:>-]+$/.test(line));
}

/** The cells of a table's row as they are written, without the marks of a quotation before it. */
export function cellsOf(row: string): string[] {
  const cells = row.replace(/^[\s>]*\|?|(?<!\\)\|\s*$/g, '').split(/(?<!\\)\|/);
  return cells.map((cell) => cell.trim());
}

/** Where the header of a table (its first row and the delimiter row) ends. */
export function tableHeadEnd(text: string, table: MarkdownNode): number {
  return lineEnd(text, Math.min(lineEnd(text, table.start) + 1, text.length));
}

/**
 * Whether a table is shown as code, because Slack would reject it or leave out cells beyond its header's, or its header is
 * too long to repeat. Only the rows that fit one message decide, so that rows of a later message change nothing; a table
 * that has one more stays whole, since one that people can sort has room for it.
 */
export function isTableTooWide(text: string, table: MarkdownNode): boolean {
  const rows = table.children.slice(0, MAX_TABLE_ROWS);
  const columns = Math.min(rows[0]?.children.length ?? 0, MAX_TABLE_COLUMNS);
  const isTooWide = ({ children }: MarkdownNode) =>
    children.length > MAX_TABLE_COLUMNS || children.slice(columns).some((cell) => cell.children.length > 0);
  if (table.children.length === MAX_TABLE_ROWS + 1) return true;
  return rows.some(isTooWide) || tableHeadEnd(text, table) - table.start > MAX_TABLE_HEAD_LENGTH;
}

/** A fence that nothing in this text closes. */
export function fenceAround(text: string): string {
  const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map((run) => run.length));
  return '`'.repeat(longest + 1);
}
