import { namesHost } from '../../render/markdown/unsafe-links.ts';
import { counted, toOneLine } from '../../render/text-format.ts';
import type { DisplayNames } from './display-names.ts';
import { withoutLeadingMention } from './listening.ts';
import { blocksOf, type ParsedMessage } from './message-parser.ts';
import {
  type ParsedBlock,
  type ParsedInline,
  type ParsedList,
  type ParsedTable,
  type SlackReference,
  type TextStyle,
  textPiece,
} from './parsed-blocks.ts';
import { isInFileOnly } from './pasted-tables.ts';

/** Parsed blocks as Markdown. Text is not escaped: the agent reads it as people do. */
function toMarkdown(blocks: readonly ParsedBlock[], names: DisplayNames): string {
  let markdown = '';
  let markers: number[] = [];
  let previous: ParsedBlock | undefined;
  for (const block of blocks) {
    if (block.kind !== 'list') markers = [];
    const text =
      block.kind === 'list' ? listToMarkdown(block, markers, names) : blockToMarkdown(block, names);
    if (text === '') continue;
    const between = block.kind === 'list' && previous?.kind === 'list' ? '\n' : '\n\n';
    markdown += markdown === '' ? text : between + text;
    previous = block;
  }
  return markdown;
}

function blockToMarkdown(block: Exclude<ParsedBlock, ParsedList>, names: DisplayNames): string {
  switch (block.kind) {
    case 'paragraph':
      return trimBlankLines(inlinesToMarkdown(block.content, names));
    case 'quoted_lines':
      return blockquote(trimBlankLines(inlinesToMarkdown(block.content, names)));
    case 'quoted_blocks':
      return blockquote(toMarkdown(block.blocks, names));
    case 'code':
      return codeFence(block.text, block.language);
    case 'table':
      return tableToMarkdown(block, names);
  }
}

/** The text with `> ` before every line, whatever separates the lines; empty for an empty text. */
export function blockquote(text: string): string {
  if (text === '') return '';
  const lines = text.split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/);
  return lines.map((line) => (line === '' ? '>' : `> ${line}`)).join('\n');
}

function codeFence(code: string, language: string): string {
  const longest = Math.max(2, ...[...code.matchAll(/`+/g)].map((run) => run[0].length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language.replace(/[\s`]/g, '')}\n${code.replace(/\n$/, '')}\n${fence}`;
}

/** The first rows of a table. If it has more, and goes to the agent as a file, only its size and the name of that file. */
function tableToMarkdown(table: ParsedTable, names: DisplayNames): string {
  const { rows, columns, file } = table;
  if (isInFileOnly(table))
    return `[Table of ${counted(rows.length, 'row')} and ${counted(columns, 'column')}: see the file ${file}]`;
  const firstRows = table.firstRows();
  const lines = firstRows.map((row) => {
    const cells = Array.from({ length: columns }, (_, column) => cellToMarkdown(row[column] ?? [], names));
    return `| ${cells.join(' | ')} |`;
  });
  lines.splice(1, 0, `|${' --- |'.repeat(columns)}`);
  return lines.join('\n') + furtherRows(rows.length - firstRows.length);
}

function furtherRows(count: number): string {
  return count > 0 ? `\n\n[The table has ${counted(count, 'more row')}]` : '';
}

function cellToMarkdown(content: readonly ParsedInline[], names: DisplayNames): string {
  const text = inlinesToMarkdown(content, names).trim();
  return text.replaceAll('|', '\\|').replace(/\s*[\n\r\v\f\u0085\u2028\u2029]\s*/g, '<br>');
}

/** Inline elements as plain text, such as a cell of a file. */
export function inlinesToText(content: readonly ParsedInline[], names: DisplayNames): string {
  const texts = content.map((inline) => {
    if (inline.kind === 'text') return inline.text;
    if (inline.kind !== 'link') return displayName(inline, names);
    const { url, label } = inline;
    return label.trim() === '' || isSameAddress(label, url) ? linkToMarkdown(inline) : `${label} (${url})`;
  });
  return texts.join('');
}

/** A list. `markers` holds the widths of the markers under which it is nested, and is updated for the next list. */
function listToMarkdown(block: ParsedList, markers: number[], names: DisplayNames): string {
  const indent = ' '.repeat(markers.slice(0, block.indent).reduce((sum, width) => sum + width, 0));
  let width = 0;
  const items = block.items.map((item, index) => {
    const marker = block.ordered ? `${block.offset + index + 1}. ` : '- ';
    width = marker.length;
    const hanging = indent + ' '.repeat(width);
    const itemText = trimBlankLines(inlinesToMarkdown(item, names)).replace(/\n(?!\n|$)/g, `\n${hanging}`);
    return `${indent}${marker}${itemText}`;
  });
  while (markers.length < block.indent) markers.push(0);
  markers.splice(block.indent, Number.POSITIVE_INFINITY, width);
  return items.join('\n');
}

function trimBlankLines(text: string): string {
  return text.trimEnd().replace(/^(?:[^\S\n]*\n)+/, '');
}

interface StyledText {
  readonly text: string;
  readonly style: TextStyle;
}

/** Inline elements as Markdown. */
export function inlinesToMarkdown(content: readonly ParsedInline[], names: DisplayNames): string {
  const texts = content.flatMap((inline) => styledTexts(inline, names));
  return withEmphasis(texts, ['bold', 'italic', 'strike']);
}

/** The texts of an element. A line break is one of its own without style, so that no emphasis spans two lines. */
function styledTexts(inline: ParsedInline, names: DisplayNames): StyledText[] {
  if (inline.kind === 'link') return [{ text: linkToMarkdown(inline), style: inline.style }];
  const text = inline.kind === 'text' ? inline.text : displayName(inline, names);
  return text
    .split(/(\n)/)
    .filter((part) => part !== '')
    .map((part) => {
      if (part === '\n') return { text: part, style: {} };
      return { text: inline.style.code ? codeSpan(part) : part, style: inline.style };
    });
}

const EMPHASIS_MARKERS = { bold: '**', italic: '_', strike: '~~' } as const;

/** Neighbours of the same style share one pair of markers. No space stands between a marker and its text. */
function withEmphasis(run: readonly StyledText[], kinds: readonly (keyof typeof EMPHASIS_MARKERS)[]): string {
  const [kind, ...inner] = kinds;
  if (kind === undefined) return run.map((piece) => piece.text).join('');
  let markdown = '';
  for (let at = 0; at < run.length; ) {
    const isStyled = run[at]?.style[kind] === true;
    let end = at + 1;
    while (end < run.length && (run[end]?.style[kind] === true) === isStyled) end++;
    const text = withEmphasis(run.slice(at, end), inner);
    markdown += isStyled ? wrapped(text, EMPHASIS_MARKERS[kind]) : text;
    at = end;
  }
  return markdown;
}

function wrapped(text: string, marker: string): string {
  const core = text.trim();
  if (core === '') return text;
  const start = text.length - text.trimStart().length;
  return text.slice(0, start) + marker + core + marker + text.slice(start + core.length);
}

function codeSpan(code: string): string {
  const longest = Math.max(0, ...[...code.matchAll(/`+/g)].map((run) => run[0].length));
  const ticks = '`'.repeat(longest + 1);
  const pad = /^`|`$/.test(code) ? ' ' : '';
  return `${ticks}${pad}${code}${pad}${ticks}`;
}

/** Whether a link shows its own address, which Slack writes without `https://` or `mailto:`. */
function isSameAddress(label: string, url: string): boolean {
  const bare = (address: string) => address.replace(/^(?:https?:\/\/|mailto:|tel:)/, '').replace(/\/$/, '');
  return bare(label) === bare(url);
}

function linkToMarkdown({ url, label, style }: Extract<ParsedInline, { kind: 'link' }>): string {
  if (label.trim() === '' || label === url) return url;
  // Slack also links names of files, such as README.md.
  const isName = /^(?:mailto|tel):/.test(url) || !(/\/|^www\./.test(label) || namesHost(label));
  if (isSameAddress(label, url)) return isName ? label : url;
  const linkText = label.replace(/\s+/g, ' ').replace(/[[\]]/g, '\\$&');
  const target = url.replace(/[<>\s]/g, (character) => encodeURIComponent(character));
  return `[${style.code ? codeSpan(linkText) : linkText}](${/[()]/.test(target) ? `<${target}>` : target})`;
}

const NAME_PREFIXES = { person: '@', channel: '#', usergroup: '@' } as const;

function displayName(reference: SlackReference, names: DisplayNames): string {
  const name = toOneLine(names.get(reference.id) ?? reference.label ?? reference.id);
  const prefix = NAME_PREFIXES[reference.kind];
  return name.startsWith(prefix) ? name : prefix + name;
}

/** The message, or these blocks of it, as people read it, in Markdown, without mentions of the bot at its beginning. */
export function readableText(
  message: ParsedMessage,
  names: DisplayNames,
  botUserId: string,
  blocks = blocksOf(message),
): string {
  const content = withoutLeadingMention(blocks, botUserId);
  return toMarkdown(content, new Map([[botUserId, 'agent'], ...names]));
}

/** What a message says without its formatting, as people wrote it. `isShort`: without the addresses of links. */
export function plainText(
  message: ParsedMessage,
  names: DisplayNames,
  botUserId: string,
  isShort = false,
): string {
  const plain = (content: readonly ParsedInline[]) =>
    content.map((inline): ParsedInline => {
      if (inline.kind !== 'link') return { ...inline, style: {} };
      const isLabel = isShort && inline.label.trim() !== '';
      return textPiece(isLabel ? inline.label : inlinesToText([inline], names));
    });
  const lines = ({ rows, firstRows }: ParsedTable) => {
    const texts = firstRows().map((row) => row.map((cell) => inlinesToText(cell, names)).join('\t'));
    return texts.join('\n') + furtherRows(rows.length - texts.length);
  };
  const unformatted = (block: ParsedBlock): ParsedBlock => {
    if (block.kind === 'code') return { kind: 'paragraph', content: [textPiece(block.text)] };
    if (block.kind === 'list') return { ...block, items: block.items.map(plain) };
    if (block.kind === 'quoted_blocks') return { ...block, blocks: block.blocks.map(unformatted) };
    if (block.kind !== 'table') return { ...block, content: plain(block.content) };
    return isInFileOnly(block) ? block : { kind: 'paragraph', content: [textPiece(lines(block))] };
  };
  return readableText(message, names, botUserId, blocksOf(message).map(unformatted));
}
