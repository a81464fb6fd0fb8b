import { lineEnd, lineStart, type MarkdownNode } from '../markdown/markdown-node.ts';

/** Rows of a table in one message, with its head (table block). */
export const MAX_TABLE_ROWS = 100;
/** A table with more cells in a row is refused by Slack (table block). */
const MAX_TABLE_COLUMNS = 20;
/** A table whose head takes more cannot be continued with its head repeated. */
const MAX_TABLE_HEAD_LENGTH = 1_500;

/** The fence that opens this code node; undefined for code by indentation. */
export function openingFenceOf(text: string, code: MarkdownNode): string | undefined {
  return /^(?:`{3,}|~{3,})/.exec(text.slice(code.start, lineEnd(text, code.start)))?.[0];
}

/** Whether a fenced code node has its closing fence. */
export function isFenceClosed(text: string, code: MarkdownNode, fence: string): boolean {
  const last = lineStart(text, code.end);
  if (last <= code.start) return false;
  const end = text
    .slice(last, code.end)
    .replace(/^[ \t>]*/, '')
    .trimEnd();
  return end.length >= fence.length && end === fence.charAt(0).repeat(end.length);
}

/** Where the head of a table (its first row and the row of dashes) ends. */
export function tableHeadEnd(text: string, table: MarkdownNode): number {
  return lineEnd(text, Math.min(lineEnd(text, table.start) + 1, text.length));
}

/**
 * Whether Slack would refuse this table, or it could not be continued: such a one is shown as code. Only the rows that
 * one message can hold decide, so that rows of a later message change nothing.
 */
export function isTableTooWide(text: string, table: MarkdownNode): boolean {
  return (
    table.children.slice(0, MAX_TABLE_ROWS).some((row) => row.children.length > MAX_TABLE_COLUMNS) ||
    tableHeadEnd(text, table) - table.start > MAX_TABLE_HEAD_LENGTH
  );
}

/** A fence that cannot be closed by anything in this text. */
export function fenceAround(text: string): string {
  const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map((run) => run.length));
  return '`'.repeat(longest + 1);
}
