import { LRUCache } from 'lru-cache';
import type { Nodes, Root } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { withReadableEmphasis } from './cjk-emphasis.ts';
import type { MarkdownNode } from './markdown-node.ts';
import { isFormula, mathSyntax } from './math.ts';
import { limitNesting, parseLimits } from './parse-limits.ts';
import { WORD_JOINER } from './pings.ts';

// Slack reads HTML, footnotes and link definitions as text. Definitions would also let the end of an answer change how
// its beginning reads.
export const UNSUPPORTED_SYNTAX = {
  disable: {
    null: [
      'htmlFlow',
      'htmlText',
      'definition',
      'gfmFootnoteDefinition',
      'gfmFootnoteCall',
      'gfmPotentialFootnoteCall',
    ],
  },
};
const SYNTAX_EXTENSIONS = [gfm(), parseLimits, UNSUPPORTED_SYNTAX];

// Without its transforms, which create nodes without a position in the source.
const TREE_EXTENSIONS = gfmFromMarkdown().map((extension) => ({ ...extension, transforms: [] }));

/** Counts the parsed characters of one answer, the cost of rendering it. */
export interface ParseCounter {
  characters: number;
}

/** Most characters of one answer that are parsed in all: one list of 12 messages that grows in 400 steps takes 1.5 million. */
const MAX_PARSED_CHARACTERS = 3_000_000;

/** Whether no more of an answer is to be parsed, which may be rewritten over and over. */
export function isParsedEnough({ characters }: ParseCounter): boolean {
  return characters > MAX_PARSED_CHARACTERS;
}

/** The trees of the texts that were parsed last: an answer's end is rendered for each of its last edits. */
const trees = new LRUCache<string, MarkdownNode>({
  max: 50,
  maxSize: 50_000,
  sizeCalculation: ({ end }) => end + 1,
  memoMethod: parse,
});

/** The syntax tree of a Markdown text as Slack reads it. */
export function parseMarkdown(text: string, count: ParseCounter): MarkdownNode {
  count.characters += text.length;
  return trees.memo(text);
}

function parse(text: string): MarkdownNode {
  const safe = text.startsWith('\uFEFF') ? WORD_JOINER + text.slice(1) : text;
  const source = withReadableEmphasis(limitNesting(safe));
  const root: Root = fromMarkdown(source, {
    extensions: [...SYNTAX_EXTENSIONS, mathSyntax(source)],
    mdastExtensions: TREE_EXTENSIONS,
  });
  return toNode(root, text);
}

function toNode(node: Nodes, text: string): MarkdownNode {
  const start = node.position?.start.offset ?? 0;
  return {
    type: nodeType(node, text, start),
    start,
    end: node.position?.end.offset ?? 0,
    children: 'children' in node ? node.children.map((child) => toNode(child, text)) : [],
  };
}

function nodeType(node: Nodes, text: string, start: number): string {
  if (node.type === 'inlineCode' && isFormula(text, start)) return 'inlineFormula';
  return node.type === 'code' && isFormula(text, start) ? 'formula' : node.type;
}
