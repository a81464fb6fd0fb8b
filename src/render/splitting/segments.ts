import { wordJoinerPositions } from '../markdown/cjk-emphasis.ts';
import { linePrefix, type MarkdownNode } from '../markdown/markdown-node.ts';
import { WORD_JOINER } from '../markdown/pings.ts';
import { fenceAround, isTableTooWide } from './fences-and-tables.ts';

/** A stretch of a part's Markdown: of the answer, or added by the split. */
export interface Segment {
  text: string;
  isAdded: boolean;
}

/** Something that is put into a text at this place. */
interface Insertion {
  at: number;
  text: string;
  /** `opens` belongs to what follows it, `closes` to what it follows; `stands` goes between the two. */
  kind: 'opens' | 'closes' | 'stands';
}

/**
 * What Slack needs to see the answer as it was meant: fences around tables that are too wide for it and around
 * formulas, which are shown as code, and word joiners beside marks that it would not take for such.
 */
function insertionsFor(text: string, node: MarkdownNode): Insertion[] {
  if (node.type === 'formula' || (node.type === 'table' && isTableTooWide(text, node)))
    return fenceInsertions(text, node);
  if (node.type === 'inlineFormula') {
    return [
      { at: node.start, text: '`', kind: 'opens' },
      { at: node.end, text: '`', kind: 'closes' },
    ];
  }
  const inner = node.children.flatMap((child) => insertionsFor(text, child));
  const joiners = wordJoinerPositions(text, node).map((at) => ({
    at,
    text: WORD_JOINER,
    kind: 'stands' as const,
  }));
  return joiners.length === 0 ? inner : [...inner, ...joiners].sort((a, b) => a.at - b.at);
}

function fenceInsertions(text: string, node: MarkdownNode): Insertion[] {
  const prefix = linePrefix(text, node.start);
  const fence = fenceAround(text.slice(node.start, node.end));
  return [
    { at: node.start, text: `${fence}\n${prefix}`, kind: 'opens' },
    { at: node.end, text: `\n${prefix}${fence}`, kind: 'closes' },
  ];
}

/** A text from `from` to `to` as pieces; what stands before `sourceFrom` was added by the split. */
export function segmentsOf(options: {
  text: string;
  tree: MarkdownNode;
  from: number;
  sourceFrom: number;
  to: number;
  closer: string;
  /** It begins inside of this fence, which was put in before. */
  fence?: string | undefined;
  /** It ends inside of a fence that is closed later. */
  goesOn?: boolean;
}): Segment[] {
  const { text, to, closer } = options;
  const pieces: Segment[] = [];
  let at = options.from;
  const upTo = (end: number) => {
    if (at < options.sourceFrom) pushSegment(pieces, text.slice(at, Math.min(end, options.sourceFrom)), true);
    pushSegment(
      pieces,
      text.slice(Math.max(at, options.sourceFrom), Math.max(end, options.sourceFrom)),
      false,
    );
    at = Math.max(at, end);
  };
  let closing = closer;
  let isOpen = options.fence !== undefined;
  for (const insert of insertionsFor(text, options.tree)) {
    if (insert.kind === 'closes' && options.fence !== undefined && at <= options.from) {
      insert.text = insert.text.replace(/`+$/, options.fence);
    }
    if (insert.kind === 'closes' ? !isOpen : insert.at < at || insert.at >= to) continue;
    if (insert.kind !== 'stands') isOpen = insert.kind === 'opens';
    if (insert.at >= to) {
      if (options.goesOn !== true) closing ||= insert.text;
      continue;
    }
    upTo(insert.at);
    pushSegment(pieces, insert.text, true);
  }
  upTo(to);
  pushSegment(pieces, closing, true);
  return pieces;
}

/** Neighbours of the same kind as one piece, so that a ping that lies in two of them is seen whole. */
export function mergeSegments(pieces: readonly Segment[]): Segment[] {
  const all: Segment[] = [];
  for (const piece of pieces) {
    const last = all.at(-1);
    if (last?.isAdded === piece.isAdded) all[all.length - 1] = { ...last, text: last.text + piece.text };
    else all.push(piece);
  }
  return all;
}

function pushSegment(pieces: Segment[], text: string, added: boolean): void {
  if (text !== '') pieces.push({ text, isAdded: added });
}
