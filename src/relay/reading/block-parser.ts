import { z } from 'zod';
import { type ParsedBlock, type ParsedInline, textPiece } from './parsed-blocks.ts';
import { parseTable } from './pasted-tables.ts';
import { isoTime, parseRichText } from './rich-text-parser.ts';

/** What a writer wrote: rich text and tables in their order; where there is no rich text, `text` and then the tables. */
export function parseContent(blocks: readonly unknown[], text: string): ParsedBlock[] {
  const labels = labelsIn(text);
  const written: ParsedBlock[] = [];
  let hasRichText = false;
  for (const raw of blocks) {
    const richText = parseRichText(raw, labels);
    hasRichText ||= richText !== undefined;
    const table = richText === undefined ? parseTable(raw) : undefined;
    written.push(...(richText ?? []), ...(table === undefined ? [] : [table]));
  }
  return withSequences(hasRichText ? written : [...parseMrkdwn(text), ...written]);
}

/** A line of a sequence: residues, gaps and stops. */
const SEQUENCE_LINE = /^(?:[ACGTUNRYKMSWBDHV-]{4,}|[acgtun-]{6,}|[A-Z*-]{8,})\s*(?:\n|$)/;

/** Slack takes the header of a sequence (FASTA), which begins with `>`, for a quotation: it is a line above its sequence. */
function withSequences(blocks: readonly ParsedBlock[]): ParsedBlock[] {
  const merged: ParsedBlock[] = [];
  const sequences = new Set<ParsedBlock>();
  for (const block of blocks) {
    const header = merged.at(-1);
    merged.push(block);
    if (header?.kind !== 'quote' || block.kind !== 'paragraph') continue;
    if (!SEQUENCE_LINE.test(wordsOf(block.content))) continue;
    const before = merged.at(-3);
    const isNext = before?.kind === 'paragraph' && sequences.has(before);
    const above = isNext ? [...before.content, textPiece('\n>')] : [textPiece('>')];
    const content = [...above, ...header.content, textPiece('\n'), ...block.content];
    const sequence = { kind: 'paragraph', content } as const;
    merged.splice(isNext ? -3 : -2, 3, sequence);
    sequences.add(sequence);
  }
  return merged;
}

function wordsOf(content: readonly ParsedInline[]): string {
  return content.map((piece) => (piece.kind === 'text' ? piece.text : (piece.label ?? ''))).join('');
}

function labelsIn(text: string): Map<string, string> {
  const labels = new Map<string, string>();
  for (const [, id, label] of text.matchAll(/<(?:[@#]|!subteam\^)([A-Z0-9]+)\|([^<>|]+)>/g)) {
    if (id !== undefined && label !== undefined) labels.set(id, decodeEntities(label));
  }
  return labels;
}

const textualBlockSchema = z.looseObject({
  type: z.string().catch(''),
  text: z.unknown().optional(),
  fields: z.unknown().optional(),
  elements: z.unknown().optional(),
});

/** The text of blocks that apps write: sections, headers, contexts. */
function textsIn(raw: unknown): string[] {
  if (typeof raw === 'string') return raw.trim() === '' ? [] : [raw];
  if (Array.isArray(raw)) return raw.flatMap(textsIn);
  const parsed = textualBlockSchema.safeParse(raw);
  if (!parsed.success || parsed.data.type === 'actions') return [];
  return [parsed.data.text, parsed.data.fields, parsed.data.elements].flatMap(textsIn);
}

/** All that blocks say, in their order: rich text, tables, and the text of blocks that apps write. */
export function parseEveryBlock(blocks: readonly unknown[]): ParsedBlock[] {
  return blocks.flatMap((block) => {
    const written = parseContent([block], '');
    return written.length > 0 ? written : parseMrkdwn(textsIn(block).join('\n\n'));
  });
}

/** Parses a message's `text`: Slack's mrkdwn, with `&amp; &lt; &gt;` encoded. Never throws. */
export function parseMrkdwn(text: string): ParsedBlock[] {
  const blocks: ParsedBlock[] = [];
  let from = 0;
  for (const fence of text.matchAll(/```([\s\S]+?)```/g)) {
    blocks.push(...parseLines(text.slice(from, fence.index)));
    blocks.push({ kind: 'code', text: decodeCode(fence[1] ?? '').replace(/^\n|\n$/g, ''), language: '' });
    from = fence.index + fence[0].length;
  }
  return [...blocks, ...parseLines(text.slice(from))];
}

/** Decodes `&amp;`, `&lt;` and `&gt;`, once. */
function decodeEntities(text: string): string {
  return text.replace(/&(amp|lt|gt);/g, (_, name) => (name === 'amp' ? '&' : name === 'lt' ? '<' : '>'));
}

/** Undoes the links that Slack makes of addresses in code. */
function decodeCode(code: string): string {
  return decodeEntities(
    code.replace(
      /<((?:https?|mailto|tel):[^<>|\s]*)(?:\|([^<>]*))?>/g,
      (_, url: string, label?: string) => label ?? url,
    ),
  );
}

/** `> text` quotes a line, `>>> text` this line and all that follow. The `>` may be encoded. */
function parseLines(text: string): ParsedBlock[] {
  const blocks: { kind: 'paragraph' | 'quote'; lines: string[] }[] = [];
  let quotesTheRest = false;
  for (const line of text.split('\n')) {
    const quotePrefix: string | undefined = quotesTheRest
      ? ''
      : /^(?:(?:&gt;|>){3}|(?:&gt;|>)) ?/.exec(line)?.[0];
    const kind = quotePrefix === undefined ? 'paragraph' : 'quote';
    const lineText = line.slice(quotePrefix?.length ?? 0);
    quotesTheRest ||= quotePrefix !== undefined && /^(?:&gt;|>){3}/.test(quotePrefix);
    const last = blocks.at(-1);
    if (last?.kind === kind) last.lines.push(lineText);
    else blocks.push({ kind, lines: [lineText] });
  }
  return blocks
    .filter((block) => block.lines.some((line) => line.trim() !== ''))
    .map(({ kind, lines }) => ({
      kind,
      content: lines.flatMap((line, index) => parseLine(index < lines.length - 1 ? `${line}\n` : line)),
    }));
}

const STYLED = /(?<![\p{L}\p{N}*~])([*~])(?![\s*~])([^*~\n]*[^\s*~])\1(?![\p{L}\p{N}*~])/gu;

/** Text with `*bold*` and `~struck~`, unless a mention or a link is inside; `_italic_` is the same in Markdown. */
function styledPieces(text: string): ParsedInline[] {
  const pieces: ParsedInline[] = [];
  let from = 0;
  for (const { 0: all, 1: mark, 2: inside = '', index } of text.matchAll(STYLED)) {
    const style = mark === '*' ? { bold: true } : { strike: true };
    pieces.push(textPiece(text.slice(from, index)), textPiece(inside, style));
    from = index + all.length;
  }
  return [...pieces, textPiece(text.slice(from))];
}

function parseLine(line: string): ParsedInline[] {
  const text = line.replace(/^(\s*)[•◦▪‣] +/, '$1- ');
  const inlines: ParsedInline[] = [];
  let from = 0;
  for (const token of text.matchAll(/`([^`\n]+)`|<([^<>\n]+)>/g)) {
    inlines.push(...styledPieces(decodeEntities(text.slice(from, token.index))));
    const [, code, inside] = token;
    inlines.push(code === undefined ? parseToken(inside ?? '') : textPiece(decodeCode(code), { code: true }));
    from = token.index + token[0].length;
  }
  inlines.push(...styledPieces(decodeEntities(text.slice(from))));
  return inlines.filter((piece) => piece.kind !== 'text' || piece.text !== '');
}

/** Parses what stands between `<` and `>`. */
function parseToken(token: string): ParsedInline {
  const bar = token.indexOf('|');
  const head = bar < 0 ? token : token.slice(0, bar);
  const label = bar < 0 ? undefined : decodeEntities(token.slice(bar + 1)) || undefined;
  if (/^@[A-Z0-9]+$/i.test(head)) return { kind: 'person', id: head.slice(1), label, style: {} };
  if (/^#[A-Z0-9]+$/i.test(head)) return { kind: 'channel', id: head.slice(1), label, style: {} };
  if (head.startsWith('!subteam^')) return { kind: 'usergroup', id: head.slice(9), label, style: {} };
  if (head.startsWith('!date^')) {
    const seconds = Number(head.split('^')[1]);
    return textPiece(label ?? (Number.isFinite(seconds) ? isoTime(seconds) : head));
  }
  if (head.startsWith('!')) return textPiece(label ?? `@${head.slice(1)}`);
  if (/^[a-z][a-z0-9+.-]*:/i.test(head)) {
    const url = decodeEntities(head);
    return { kind: 'link', url, label: label ?? url, style: {} };
  }
  return textPiece(`<${decodeEntities(token)}>`);
}
