import type { DisplayNames } from './display-names.ts';
import type { ParsedBlock, ParsedInline, ParsedList, SlackReference, TextStyle } from './parsed-blocks.ts';

/** Parsed blocks as Markdown. Text is not escaped: the agent reads it as people do. */
export function toMarkdown(blocks: readonly ParsedBlock[], names: DisplayNames): string {
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
    case 'quote':
      return blockquote(trimBlankLines(inlinesToMarkdown(block.content, names)));
    case 'quoted':
      return blockquote(toMarkdown(block.blocks, names));
    case 'code':
      return codeFence(block.text, block.language);
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

/** `markers` holds the marker widths of the items that this list is nested under. Updates it for the next list. */
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

function inlinesToMarkdown(content: readonly ParsedInline[], names: DisplayNames): string {
  return withEmphasis(
    content.flatMap((inline) => styledTexts(inline, names)),
    ['bold', 'italic', 'strike'],
  );
}

/** A line break is a piece of its own without style, so that no emphasis spans two lines. */
function styledTexts(inline: ParsedInline, names: DisplayNames): StyledText[] {
  const text =
    inline.kind === 'text'
      ? inline.text
      : inline.kind === 'link'
        ? linkToMarkdown(inline)
        : displayName(inline, names);
  if (inline.kind === 'link') return [{ text, style: inline.style }];
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

function linkToMarkdown({ url, label, style }: Extract<ParsedInline, { kind: 'link' }>): string {
  const bare = (address: string) => address.replace(/^(?:https?:\/\/|mailto:|tel:)/, '').replace(/\/$/, '');
  if (label.trim() === '' || label === url) return url;
  if (bare(label) === bare(url)) return /^(?:mailto|tel):/.test(url) ? label : url;
  const linkText = label.replace(/\s+/g, ' ').replace(/[[\]]/g, '\\$&');
  const target = url.replace(/[<>\s]/g, (character) => encodeURIComponent(character));
  return `[${style.code ? codeSpan(linkText) : linkText}](${/[()]/.test(target) ? `<${target}>` : target})`;
}

const NAME_PREFIXES = { person: '@', channel: '#', usergroup: '@' } as const;

function displayName(reference: SlackReference, names: DisplayNames): string {
  const name = names.get(reference.id) ?? reference.label ?? reference.id;
  const prefix = NAME_PREFIXES[reference.kind];
  return name.startsWith(prefix) ? name : prefix + name;
}
