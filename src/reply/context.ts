import { lineEnd, lineStart, type MarkdownNode } from './markdown.ts';

/** What ends a part inside a construct, and what begins the next one so that it goes on there. */
export interface Seam {
  closer: string;
  opener: string;
}

const none: Seam = { closer: '', opener: '' };
const GOES_ON = '…';
const OPENER_MOST = 2_000;
const CLOSER_MOST = 100;
/** Rows of a table in one message, with its head (table block). */
export const ROWS_MOST = 100;
/** A table with more cells in a row is refused by Slack (table block). */
const CELLS_MOST = 20;
/** A table whose head takes more cannot be continued with its head repeated. */
const HEAD_MOST = 1_500;

/** The nodes that hold this place strictly inside, outermost first. */
export function chainAt(root: MarkdownNode, at: number): MarkdownNode[] {
  const chain: MarkdownNode[] = [];
  let node: MarkdownNode | undefined = root;
  while (node) {
    const next: MarkdownNode | undefined = node.children.find((child) => child.start < at && at < child.end);
    if (next) chain.push(next);
    node = next;
  }
  return chain;
}

/** The fence that opens this code node; undefined for code by indentation. */
export function fenceOf(text: string, code: MarkdownNode): string | undefined {
  return /^(?:`{3,}|~{3,})/.exec(text.slice(code.start, lineEnd(text, code.start)))?.[0];
}

/** Whether a fenced code node has its closing fence. */
export function isClosed(text: string, code: MarkdownNode, fence: string): boolean {
  const last = lineStart(text, code.end);
  if (last <= code.start) return false;
  const end = text
    .slice(last, code.end)
    .replace(/^[ \t>]*/, '')
    .trimEnd();
  return end.length >= fence.length && end === fence.charAt(0).repeat(end.length);
}

/** What stands before a node on its line, with list markers blanked: what a further line of it begins with. */
export function linePrefix(text: string, at: number): string {
  return text.slice(lineStart(text, at), at).replace(/[^>\t]/g, ' ');
}

/** Where the head of a table (its first row and the row of dashes) ends. */
export function headEnd(text: string, table: MarkdownNode): number {
  return lineEnd(text, Math.min(lineEnd(text, table.start) + 1, text.length));
}

/**
 * Whether Slack would refuse this table, or it could not be continued: such a one is shown as code. Only the rows that
 * one message can hold decide, so that rows of a later message change nothing.
 */
export function isTooWide(text: string, table: MarkdownNode): boolean {
  return (
    table.children.slice(0, ROWS_MOST).some((row) => row.children.length > CELLS_MOST) ||
    headEnd(text, table) - table.start > HEAD_MOST
  );
}

/** A fence that cannot be closed by anything in this text. */
export function fenceFor(text: string): string {
  const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map((run) => run.length));
  return '`'.repeat(longest + 1);
}

/** How to cut at this place of the text: what closes and reopens the constructs around it. */
export function seamAt(text: string, root: MarkdownNode, at: number): Seam {
  const chain = chainAt(root, at);
  const atLine = at === 0 || text.charAt(at - 1) === '\n';
  const deepest = chain.at(-1);
  if (!deepest) return none;
  const seam = blockSeam(text, chain, at, atLine);
  if (seam.opener.length > OPENER_MOST || seam.closer.length > CLOSER_MOST) return none;
  return seam;
}

function blockSeam(text: string, chain: readonly MarkdownNode[], at: number, atLine: boolean): Seam {
  const items = itemLines(text, chain);
  const code = chain.find((node) => node.type === 'code');
  const table = chain.find((node) => node.type === 'table');
  const newline = atLine ? '' : '\n';
  const heads = items === '' ? '' : `${items}${GOES_ON}\n`;
  if (code) {
    const fence = fenceOf(text, code);
    if (fence === undefined) return { closer: '', opener: atLine ? heads : heads + ' '.repeat(4) };
    const prefix = linePrefix(text, code.start);
    const opening = text.slice(code.start, lineEnd(text, code.start));
    const inner = atLine ? '' : prefix;
    return { closer: `${newline}${prefix}${fence}`, opener: `${heads}${prefix}${opening}\n${inner}` };
  }
  if (table) {
    const prefix = linePrefix(text, table.start);
    const first = lineEnd(text, table.start);
    const dashes = text.slice(Math.min(first + 1, text.length), headEnd(text, table)).replace(/^[ \t>]*/, '');
    const blank = items === '' ? '' : `${prefix.trimEnd()}\n`;
    const head = `${prefix}${text.slice(table.start, first)}\n${prefix}${dashes}\n`;
    const closer = isTooWide(text, table)
      ? `${newline}${prefix}${fenceFor(text.slice(table.start, table.end))}`
      : '';
    return { closer, opener: `${heads}${blank}${head}${atLine ? '' : prefix}` };
  }
  return textSeam(text, chain, at, atLine, items);
}

function textSeam(
  text: string,
  chain: readonly MarkdownNode[],
  at: number,
  atLine: boolean,
  items: string,
): Seam {
  const leaf = chain.find(
    (node) => node.type === 'paragraph' || node.type === 'heading' || node.type === 'table',
  );
  const container = chain.findLast((node) => node.type === 'listItem' || node.type === 'blockquote');
  if (!leaf) {
    if (items === '') return none;
    const blank = linePrefix(text, contentStart(text, container, at)).trimEnd();
    return { closer: '', opener: `${items}${GOES_ON}\n${blank}\n` };
  }
  const marks = chain.filter((node) => INLINE.test(node.type)).map((node) => markOf(text, node));
  const closer = marks.toReversed().join('');
  // Without a list around it, what follows could begin with something that reads as the start of another block.
  const guard = /^[\p{L}]/u.test(text.slice(at, at + 2)) || marks.length > 0 ? '' : '\u2060';
  if (items !== '') return { closer, opener: `${items}${GOES_ON}${atLine ? '\n' : ''}${marks.join('')}` };
  if (container)
    return {
      closer,
      opener: atLine ? '' : `${linePrefix(text, contentStart(text, container, at))}${marks.join('')}`,
    };
  return { closer, opener: guard + marks.join('') };
}

const INLINE = /^(?:emphasis|strong|delete|inlineCode)$/;

function markOf(text: string, node: MarkdownNode): string {
  return (
    /^(?:`+|\*\*?|__?|~~?)/.exec(
      text.slice(node.start, Math.min(node.end, node.start + (node.type === 'emphasis' ? 1 : 50))),
    )?.[0] ?? ''
  );
}

/** The lines that open the list items around a place anew, up to where the last item's content starts. */
function itemLines(text: string, chain: readonly MarkdownNode[]): string {
  const lines = new Map<number, number>();
  for (const node of chain) {
    if (node.type === 'listItem') lines.set(lineStart(text, node.start), contentStart(text, node, node.end));
  }
  return [...lines].map(([from, to]) => text.slice(from, to)).join(`${GOES_ON}\n`);
}

function contentStart(text: string, node: MarkdownNode | undefined, fallback: number): number {
  if (!node) return fallback;
  const marker =
    /^(?:>|[-+*]|\d{1,9}[.)])[ \t]{0,4}/.exec(text.slice(node.start, node.start + 16))?.[0] ?? '';
  return node.start + (node.type === 'blockquote' ? marker.slice(0, 2).length : marker.length);
}
