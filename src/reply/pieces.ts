import { fenceFor, isTooWide, linePrefix } from './context.ts';
import type { MarkdownNode } from './markdown.ts';

/** A stretch of a part's Markdown: of the answer, or added by the split. */
export interface Piece {
  text: string;
  added: boolean;
}

/** Something that is put into a text at this place. */
export interface Insert {
  at: number;
  text: string;
  /** Whether it belongs to what follows it; else to what it follows. */
  opens: boolean;
}

/** The fences around tables that are too wide for Slack: such a table is shown as code. */
export function insertsFor(text: string, tree: MarkdownNode): Insert[] {
  const inserts: Insert[] = [];
  for (const node of tree.children) {
    if (node.type !== 'table') {
      if (node.type !== 'paragraph') inserts.push(...insertsFor(text, node));
      continue;
    }
    if (!isTooWide(text, node)) continue;
    const prefix = linePrefix(text, node.start);
    const fence = fenceFor(text.slice(node.start, node.end));
    inserts.push(
      { at: node.start, text: `${fence}\n${prefix}`, opens: true },
      { at: node.end, text: `\n${prefix}${fence}`, opens: false },
    );
  }
  return inserts;
}

/** A text from `from` to `to` as pieces; what stands before `sourceFrom` was added by the split. */
export function piecesOf(options: {
  text: string;
  tree: MarkdownNode;
  from: number;
  sourceFrom: number;
  to: number;
  closer: string;
}): Piece[] {
  const { text, to, closer } = options;
  const pieces: Piece[] = [];
  let at = options.from;
  const upTo = (end: number) => {
    if (at < options.sourceFrom) push(pieces, text.slice(at, Math.min(end, options.sourceFrom)), true);
    push(pieces, text.slice(Math.max(at, options.sourceFrom), Math.max(end, options.sourceFrom)), false);
    at = Math.max(at, end);
  };
  let closing = closer;
  let isOpen = false;
  for (const insert of insertsFor(text, options.tree)) {
    if (insert.opens ? insert.at < at || insert.at >= to : !isOpen) continue;
    isOpen = insert.opens;
    if (insert.at >= to) {
      closing ||= insert.text;
      continue;
    }
    upTo(insert.at);
    push(pieces, insert.text, true);
  }
  upTo(to);
  push(pieces, closing, true);
  return pieces;
}

/** Neighbours of the same kind as one piece, so that a ping that lies in two of them is seen whole. */
export function joined(pieces: readonly Piece[]): Piece[] {
  const all: Piece[] = [];
  for (const piece of pieces) {
    const last = all.at(-1);
    if (last?.added === piece.added) all[all.length - 1] = { ...last, text: last.text + piece.text };
    else all.push(piece);
  }
  return all;
}

function push(pieces: Piece[], text: string, added: boolean): void {
  if (text !== '') pieces.push({ text, added });
}
