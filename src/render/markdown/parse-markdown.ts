import { LRUCache } from 'lru-cache';
import type { Nodes, Root } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { asciiAlpha } from 'micromark-util-character';
import type { Construct, Extension } from 'micromark-util-types';
import { bareAddresses, withDoiMarks } from './bare-address.ts';
import { withReadableEmphasis } from './cjk-emphasis.ts';
import { BLOCK_MARKS, literalSyntax, spanConstruct } from './literal-marks.ts';
import type { MarkdownNode } from './markdown-node.ts';
import { formulaMarks, mathSyntax, spanType } from './math.ts';
import { WORD_JOINER } from './pings.ts';

/*
 * For some marks and words the parser walks through the whole paragraph, which takes quadratic time. Ordinary answers
 * are too short for that to matter, but an answer may be crafted to exploit it. What is parsed is never longer than some
 * thousand characters.
 */

/** Reads a bare address after an open bracket as text, from the parser's list of brackets instead of its walk. */
const wordConstruct: Construct = {
  ...spanConstruct('word', ({ _labelStarts }) =>
    _labelStarts?.some(({ _balanced }) => _balanced !== true) === true ? 1 : 0,
  ),
  // With a scheme, an address may also start after characters of an e-mail address.
  previous: (code) => !asciiAlpha(code),
};
/** The codes of characters that may start a bare address. */
const WORD_START_CODES = Array.from({ length: 128 }, (_, code) => code).filter((code) =>
  /[-+.\da-z]/i.test(String.fromCharCode(code)),
);

/** Keeps the parser's time proportional to the length of the text. */
const parseLimits: Extension = {
  text: Object.fromEntries(WORD_START_CODES.map((code) => [code, wordConstruct])),
};

/*
 * Program output sometimes looks like constructs nested hundreds deep, and the parser takes seconds for them. Marks
 * beyond a depth are read as letters.
 */

/** Deepest nesting of lists and quotes. */
const MAX_CONTAINERS = 40;
const MAX_IMAGES = 20;

const RULE = '(?![ \\t]*([-*_])(?:[ \\t]*\\1)*[ \\t]*$)';
const MARKER = '[ \\t]*(?:>|[-+*](?=[ \\t])|\\d{1,9}[.)](?=[ \\t]))';
const TOO_DEEP = new RegExp(`^${RULE}(?:${MARKER}){${MAX_CONTAINERS}}`, 'gm');
/** Of both marks, beside a letter; a run between spaces is no emphasis. */
const MIXED_RUN = /(?<=[^\s*_])[*_]{13,}|[*_]{13,}(?=[^\s*_])/g;
const BLOCK_START = '\\n[ \\t>]*(?=\\n|[-+*][ \\t]|\\d{1,9}[.)][ \\t]|[#`~|])';
const IMAGE_MARKS = new RegExp(`${BLOCK_START}|!\\[|\\]`, 'g');
const REPLACEMENT = 'x';

/** The text for the parser: of the same length, without lists, quotes and images that are nested too deep. */
export function limitNesting(text: string): string {
  const shallow = text.replace(TOO_DEEP, (markers) => markers.slice(0, -1) + REPLACEMENT);
  return limitImages(
    shallow.replace(MIXED_RUN, (run) => (/\*_|_\*/.test(run) ? REPLACEMENT.repeat(run.length) : run)),
  );
}

function limitImages(text: string): string {
  let images = 0;
  return text.replace(IMAGE_MARKS, (found) => {
    if (found === '![') images += 1;
    else images = found === ']' ? Math.max(0, images - 1) : 0;
    return found === '![' && images > MAX_IMAGES ? '!"' : found;
  });
}

// Slack reads HTML, footnotes and link definitions as text. Definitions would also let the end of an answer change how
// its beginning reads.
const UNSUPPORTED_SYNTAX = {
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
const COMMON_SYNTAX = [gfm({ singleTilde: false }), parseLimits, UNSUPPORTED_SYNTAX];

/** The Markdown that agents write, as the parser reads this text: GFM with formulas, in which data stays as it is. */
export function markdownSyntax(text: string): Extension[] {
  return [...COMMON_SYNTAX, literalSyntax(text), mathSyntax(text)];
}

// Without its transforms, which create nodes without a position in the source.
const TREE_EXTENSIONS = gfmFromMarkdown().map((extension) => ({ ...extension, transforms: [] }));

/** Counts the parsed characters of one answer, the cost of rendering it. */
export interface ParseCounter {
  characters: number;
  /** Its texts are shown as code from now on: they cannot be parsed, or have cost too much. */
  isVerbatim?: boolean;
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

/** The syntax tree of a Markdown text as Slack reads it; of one that is verbatim, a single node. */
export function parseMarkdown(text: string, count: ParseCounter): MarkdownNode {
  const whole = { start: 0, end: text.length };
  if (count.isVerbatim)
    return { type: 'root', ...whole, children: [{ type: 'verbatim', ...whole, children: [] }] };
  count.characters += text.length;
  return trees.memo(text);
}

function parse(text: string): MarkdownNode {
  const safe = text.startsWith('\uFEFF') ? WORD_JOINER + text.slice(1) : text;
  const read = withDoiMarks(safe, () => REPLACEMENT);
  const source = withReadableEmphasis(limitNesting(read).replace(BLOCK_MARKS, REPLACEMENT));
  const root: Root = fromMarkdown(source, {
    extensions: markdownSyntax(source),
    mdastExtensions: TREE_EXTENSIONS,
  });
  return toNode(root, read);
}

function toNode(node: Nodes, text: string): MarkdownNode {
  const start = node.position?.start.offset ?? 0;
  return {
    type: nodeType(node, text, start),
    start,
    end: node.position?.end.offset ?? 0,
    children:
      'children' in node ? node.children.flatMap((child) => endAddress(toNode(child, text), text)) : [],
  };
}

/** A bare address as people end it, and what follows it without a space; any other node as it is. */
function endAddress(node: MarkdownNode, text: string): MarkdownNode[] {
  const source = text.slice(node.start, node.end);
  if (node.type !== 'link' || !/^https?:/i.test(source)) return [node];
  let end = node.start;
  return Array.from(bareAddresses(source), ({ piece, isAddress }) => {
    const start = end;
    end += piece.length;
    const shown = { type: 'text', start, end, children: [] };
    return isAddress ? { ...shown, type: 'link', children: [shown] } : shown;
  });
}

function nodeType(node: Nodes, text: string, start: number): string {
  if (node.type === 'inlineCode') return spanType(text.slice(start, start + 3));
  return node.type === 'code' && formulaMarks(text.slice(start, start + 30)).open ? 'formula' : node.type;
}
