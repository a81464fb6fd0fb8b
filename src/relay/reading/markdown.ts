import type { Block, Inline, ListBlock, Reference, Style } from './content.ts';
import type { Names } from './names.ts';

/** The content as Markdown. Text is not escaped: the agent reads it as people do. */
export function toMarkdown(blocks: readonly Block[], names: Names): string {
  let written = '';
  let markers: number[] = [];
  let previous: Block | undefined;
  for (const block of blocks) {
    if (block.kind !== 'list') markers = [];
    const words = block.kind === 'list' ? list(block, markers, names) : oneBlock(block, names);
    if (words === '') continue;
    const between = block.kind === 'list' && previous?.kind === 'list' ? '\n' : '\n\n';
    written += written === '' ? words : between + words;
    previous = block;
  }
  return written;
}

function oneBlock(block: Exclude<Block, ListBlock>, names: Names): string {
  switch (block.kind) {
    case 'paragraph':
      return trimLines(line(block.content, names));
    case 'quote':
      return quoted(trimLines(line(block.content, names)));
    case 'quoted':
      return quoted(toMarkdown(block.blocks, names));
    case 'code':
      return fenced(block.text, block.language);
  }
}

/** Every line with `> ` before it, whatever ends a line; nothing for no text. */
export function quoted(text: string): string {
  if (text === '') return '';
  const lines = text.split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/);
  return lines.map((words) => (words === '' ? '>' : `> ${words}`)).join('\n');
}

function fenced(code: string, language: string): string {
  const longest = Math.max(2, ...[...code.matchAll(/`+/g)].map((run) => run[0].length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language.replace(/[\s`]/g, '')}\n${code.replace(/\n$/, '')}\n${fence}`;
}

/** `markers` holds the marker widths of the items that this list hangs under; it is brought up to date. */
function list(block: ListBlock, markers: number[], names: Names): string {
  const indent = ' '.repeat(markers.slice(0, block.indent).reduce((sum, width) => sum + width, 0));
  let width = 0;
  const items = block.items.map((item, index) => {
    const marker = block.ordered ? `${block.offset + index + 1}. ` : '- ';
    width = marker.length;
    const hanging = indent + ' '.repeat(width);
    const words = trimLines(line(item, names)).replace(/\n(?!\n|$)/g, `\n${hanging}`);
    return `${indent}${marker}${words}`;
  });
  while (markers.length < block.indent) markers.push(0);
  markers.splice(block.indent, Number.POSITIVE_INFINITY, width);
  return items.join('\n');
}

function trimLines(text: string): string {
  return text.trimEnd().replace(/^(?:[^\S\n]*\n)+/, '');
}

interface Piece {
  readonly words: string;
  readonly style: Style;
}

function line(content: readonly Inline[], names: Names): string {
  return emphasised(
    content.flatMap((inline) => pieces(inline, names)),
    ['bold', 'italic', 'strike'],
  );
}

/** A line break stands alone and unstyled, so that no emphasis runs across lines. */
function pieces(inline: Inline, names: Names): Piece[] {
  const words =
    inline.kind === 'text' ? inline.text : inline.kind === 'link' ? link(inline) : nameOf(inline, names);
  if (inline.kind === 'link') return [{ words, style: inline.style }];
  return words
    .split(/(\n)/)
    .filter((part) => part !== '')
    .map((part) => {
      if (part === '\n') return { words: part, style: {} };
      return { words: inline.style.code ? codeSpan(part) : part, style: inline.style };
    });
}

const signs = { bold: '**', italic: '_', strike: '~~' } as const;

/** Neighbours of one style share one pair of signs; the signs stand close to the words. */
function emphasised(run: readonly Piece[], kinds: readonly (keyof typeof signs)[]): string {
  const [kind, ...inner] = kinds;
  if (kind === undefined) return run.map((piece) => piece.words).join('');
  let written = '';
  for (let at = 0; at < run.length; ) {
    const set = run[at]?.style[kind] === true;
    let end = at + 1;
    while (end < run.length && (run[end]?.style[kind] === true) === set) end++;
    const words = emphasised(run.slice(at, end), inner);
    written += set ? enclosed(words, signs[kind]) : words;
    at = end;
  }
  return written;
}

function enclosed(words: string, sign: string): string {
  const core = words.trim();
  if (core === '') return words;
  const start = words.length - words.trimStart().length;
  return words.slice(0, start) + sign + core + sign + words.slice(start + core.length);
}

function codeSpan(code: string): string {
  const longest = Math.max(0, ...[...code.matchAll(/`+/g)].map((run) => run[0].length));
  const ticks = '`'.repeat(longest + 1);
  const pad = /^`|`$/.test(code) ? ' ' : '';
  return `${ticks}${pad}${code}${pad}${ticks}`;
}

function link({ url, label, style }: Extract<Inline, { kind: 'link' }>): string {
  const bare = (address: string) => address.replace(/^(?:https?:\/\/|mailto:|tel:)/, '').replace(/\/$/, '');
  if (label.trim() === '' || label === url) return url;
  if (bare(label) === bare(url)) return /^(?:mailto|tel):/.test(url) ? label : url;
  const words = label.replace(/\s+/g, ' ').replace(/[[\]]/g, '\\$&');
  const target = url.replace(/[<>\s]/g, (sign) => encodeURIComponent(sign));
  return `[${style.code ? codeSpan(words) : words}](${/[()]/.test(target) ? `<${target}>` : target})`;
}

const prefixes = { person: '@', channel: '#', usergroup: '@' } as const;

function nameOf(reference: Reference, names: Names): string {
  const name = names[reference.kind](reference.id) ?? reference.label ?? reference.id;
  const prefix = prefixes[reference.kind];
  return name.startsWith(prefix) ? name : prefix + name;
}
