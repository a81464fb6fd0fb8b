import {
  fenceAround,
  isTableTooWide,
  lineEnd,
  linePrefix,
  lineStart,
  type MarkdownNode,
  nodesAround,
  openingFenceOf,
  tableHeadEnd,
} from '../markdown/markdown-node.ts';
import { formulaMarks } from '../markdown/math.ts';
import { WORD_JOINER } from '../markdown/pings.ts';

/** What closes the constructs around a cut, and what reopens them in the next part. */
export interface Seam {
  closer: string;
  opener: string;
}

const NO_SEAM: Seam = { closer: '', opener: '' };
const CONTINUATION_MARK = '…';
const MAX_OPENER_LENGTH = 2_000;
const MAX_CLOSER_LENGTH = 100;

/** The seam for a cut at this offset; empty if it would be too long. */
export function seamAt(text: string, root: MarkdownNode, at: number): Seam {
  const chain = nodesAround(root, at);
  if (chain.length === 0) return NO_SEAM;
  const seam = blockSeam(text, chain, at);
  if (seam.opener.length > MAX_OPENER_LENGTH || seam.closer.length > MAX_CLOSER_LENGTH) return NO_SEAM;
  return seam;
}

function blockSeam(text: string, chain: readonly MarkdownNode[], at: number): Seam {
  const atLine = at === 0 || text.charAt(at - 1) === '\n';
  const items = listItemOpeners(text, chain);
  const block = chain.find(({ type }) => /^(?:code|formula|table)$/.test(type));
  if (!block) return textSeam(text, chain, at, atLine, items);
  const newline = atLine ? '' : '\n';
  const heads = items === '' ? '' : `${items}${CONTINUATION_MARK}\n`;
  const prefix = linePrefix(text, block.start);
  const inner = atLine ? '' : prefix;
  const first = lineEnd(text, block.start);
  const opening = `${prefix}${text.slice(block.start, first)}\n`;
  const blank = items === '' ? '' : `${prefix.trimEnd()}\n`;
  if (block.type === 'code') {
    const fence = openingFenceOf(text, block);
    if (fence === undefined) return { closer: '', opener: `${heads}${blank}${atLine ? '' : ' '.repeat(4)}` };
    return { closer: `${newline}${prefix}${fence}`, opener: `${heads}${opening}${inner}` };
  }
  if (block.type === 'formula') {
    const { open } = formulaMarks(text.slice(block.start, first));
    // Its fence is closed where it is inserted.
    return { closer: '', opener: `${heads}${prefix}${open}\n${inner}` };
  }
  const dashes = text
    .slice(Math.min(first + 1, text.length), tableHeadEnd(text, block))
    .replace(/^[ \t>]*/, '');
  const fence = fenceAround(text.slice(block.start, block.end));
  const closer = isTableTooWide(text, block) ? `${newline}${prefix}${fence}` : '';
  return { closer, opener: `${heads}${blank}${opening}${prefix}${dashes}\n${inner}` };
}

function textSeam(text: string, chain: readonly MarkdownNode[], at: number, atLine: boolean, items: string) {
  const leaf = chain.find((node) => node.type === 'paragraph' || node.type === 'heading');
  const container = chain.findLast((node) => node.type === 'listItem' || node.type === 'blockquote');
  const prefix = linePrefix(text, contentStart(text, container, at));
  if (!leaf) {
    if (items === '') return NO_SEAM;
    return { closer: '', opener: `${items}${CONTINUATION_MARK}\n${prefix.trimEnd()}\n` };
  }
  const marks = chain
    .filter((node) => INLINE_TYPES.test(node.type))
    .map((node) => inlineMarkerOf(text, node));
  const closer = marks.toReversed().join('');
  const opening = marks.join('');
  if (items !== '') return { closer, opener: `${items}${CONTINUATION_MARK}${atLine ? '\n' : ''}${opening}` };
  if (container) return { closer, opener: atLine ? '' : prefix + opening };
  // Outside a list, the next part could start with characters that read as another kind of block.
  const guard = /^[\p{L}]/u.test(text.slice(at, at + 2)) || opening !== '' ? '' : WORD_JOINER;
  return { closer, opener: guard + opening };
}

const INLINE_TYPES = /^(?:emphasis|strong|delete|inlineCode)$/;

function inlineMarkerOf(text: string, { type, start, end }: MarkdownNode): string {
  const source = text.slice(start, type === 'emphasis' ? start + 1 : end);
  return /^(?:`+|\*\*?|__?|~~?)/.exec(source)?.[0] ?? '';
}

/** The lines that reopen the list items around a cut, up to where the last item's content starts. */
function listItemOpeners(text: string, chain: readonly MarkdownNode[]): string {
  const lines = new Map<number, number>();
  for (const node of chain) {
    if (node.type === 'listItem') lines.set(lineStart(text, node.start), contentStart(text, node, node.end));
  }
  return [...lines].map(([from, to]) => text.slice(from, to)).join(`${CONTINUATION_MARK}\n`);
}

function contentStart(text: string, node: MarkdownNode | undefined, fallback: number): number {
  if (!node) return fallback;
  const marker =
    /^(?:>|[-+*]|\d{1,9}[.)])[ \t]{0,4}/.exec(text.slice(node.start, node.start + 16))?.[0] ?? '';
  return node.start + (node.type === 'blockquote' ? marker.slice(0, 2).length : marker.length);
}
