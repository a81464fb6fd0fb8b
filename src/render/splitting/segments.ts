import { wordJoinerPositions } from '../markdown/cjk-emphasis.ts';
import { literalMarks } from '../markdown/literal-marks.ts';
import { fenceAround, isTableTooWide, linePrefix, type MarkdownNode } from '../markdown/markdown-node.ts';
import { WORD_JOINER } from '../markdown/pings.ts';
import { hasDisguise, hostNote } from '../markdown/unsafe-links.ts';

/** A segment of a part's Markdown: from the answer, or added by the renderer. */
export interface Segment {
  text: string;
  isAdded: boolean;
}

const ESCAPE = '\\';

/** What reopens, at the beginning of a part, the construct that the part before ended in; '' if nothing does. */
export function openerOf([first]: readonly Segment[]): string {
  return first?.isAdded === true && first.text !== ESCAPE ? first.text : '';
}

interface Insertion {
  at: number;
  text: string;
  /** `opens` belongs to the text after it, `closes` to the text before it; `between` belongs to neither. */
  kind: 'opens' | 'closes' | 'between';
}

/**
 * What makes Slack show the answer as it was meant: fences around formulas and around tables that are too wide for
 * Slack, word joiners beside marks that Slack would not read, backslashes before marks that are data, and the host of a
 * link whose label names another one, or a word joiner that makes it text.
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
  if (node.type === 'text')
    return literalMarks(text, node.start, node.end).map((at) => ({ at, text: ESCAPE, kind: 'between' }));
  // A backslash would belong to the address.
  if (node.type === 'link' && text.charAt(node.start) !== '[') return [];
  const inner = node.children.flatMap((child) => insertionsFor(text, child));
  const added: Insertion[] = wordJoinerPositions(text, node).map((at) => ({
    at,
    text: WORD_JOINER,
    kind: 'between',
  }));
  const labelTo = node.type === 'link' ? node.children.at(-1)?.end : undefined;
  if (labelTo !== undefined) {
    const [label, destination] = [text.slice(node.start + 1, labelTo), text.slice(labelTo, node.end)];
    const note = hostNote(label, destination);
    if (note !== '') added.push({ at: labelTo, text: note, kind: 'between' });
    // Also where the label is split, or the destination is one that only the parser reads.
    else if (hasDisguise(label, destination))
      added.push({ at: labelTo + 1, text: WORD_JOINER, kind: 'between' });
  }
  return added.length === 0 ? inner : [...inner, ...added].sort((a, b) => a.at - b.at);
}

function fenceInsertions(text: string, node: MarkdownNode): Insertion[] {
  const prefix = linePrefix(text, node.start);
  const fence = fenceAround(text.slice(node.start, node.end));
  return [
    { at: node.start, text: `${fence}\n${prefix}`, kind: 'opens' },
    { at: node.end, text: `\n${prefix}${fence}`, kind: 'closes' },
  ];
}

/** A text up to `to` as segments; what precedes `sourceFrom` was added by the renderer. */
export function segmentsOf(options: {
  text: string;
  tree: MarkdownNode;
  sourceFrom: number;
  to: number;
  closer?: string;
}): Segment[] {
  const { text, sourceFrom, to, closer = '' } = options;
  const segments: Segment[] = [];
  let at = 0;
  const upTo = (end: number) => {
    const own = Math.max(at, Math.min(end, sourceFrom));
    pushSegment(segments, text.slice(at, own), true);
    pushSegment(segments, text.slice(own, end), false);
    at = end;
  };
  let closing = closer;
  let isOpen = false;
  for (const insert of insertionsFor(text, options.tree)) {
    if (insert.kind === 'closes' ? !isOpen : insert.at < at || insert.at >= to) continue;
    if (insert.kind !== 'between') isOpen = insert.kind === 'opens';
    if (insert.at >= to) {
      closing ||= insert.text;
      continue;
    }
    upTo(insert.at);
    pushSegment(segments, insert.text, true);
  }
  upTo(to);
  pushSegment(segments, closing, true);
  return segments;
}

/** Merges neighbours of the same kind, so that a ping that spans two of them is seen whole. */
export function mergeSegments(segments: readonly Segment[]): Segment[] {
  const all: Segment[] = [];
  for (const segment of segments) {
    const last = all.at(-1);
    if (last?.isAdded === segment.isAdded) all[all.length - 1] = { ...last, text: last.text + segment.text };
    else all.push(segment);
  }
  return all;
}

function pushSegment(segments: Segment[], text: string, isAdded: boolean): void {
  if (text !== '') segments.push({ text, isAdded });
}
