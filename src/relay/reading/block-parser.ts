import { z } from 'zod';
import { optional } from '../../slack/field-schemas.ts';
import { type ParsedBlock, type ParsedInline, textPiece } from './parsed-blocks.ts';
import { withSequences } from './pasted-sequences.ts';
import { linesOf, parseTable, withoutTables } from './pasted-tables.ts';
import { isoTime, type Labels, NO_LABELS, parseRichText } from './rich-text-parser.ts';

/** An app's text that shares nothing with its blocks is a summary, unless it is so many times longer. */
const LONGER_THAN_SUMMARY = 2;

/** Whether blocks hold what a person typed: the text beside it repeats it, or its beginning. */
export function hasRichText(blocks: readonly unknown[]): boolean {
  return blocks.some((block) => (parseRichText(block, NO_LABELS) ?? []).length > 0);
}

/**
 * What a message shows: what Slack shows of its blocks, and its `text` where that says more. An app's `text` is often a
 * summary for notifications only; beside blocks that were cut, or say nothing, it is the whole message.
 */
export function parseShown(blocks: readonly unknown[], text: string): ParsedBlock[] {
  return withSequences(shownOrSaid(blocks, text));
}

function shownOrSaid(blocks: readonly unknown[], text: string): ParsedBlock[] {
  const shown = parseEveryBlock(blocks, labelsIn(text));
  const said = parseMrkdwn(text);
  if (shown.length === 0 || said.length === 0) return [...shown, ...said];
  const [shownWords, saidWords] = [wordsOf(shown), wordsOf(said)];
  if (wordCounter(shownWords)(saidWords)) return shown;
  const isInText = wordCounter(saidWords);
  const onlyShown = shown.filter((block) => block.kind === 'table' || !isInText(wordsOf([block])));
  const isSummary = withoutTables(onlyShown).length === withoutTables(shown).length;
  const isShort = hasRichText(blocks) || sizeOf(saidWords) <= LONGER_THAN_SUMMARY * sizeOf(shownWords);
  return isSummary && isShort ? shown : [...said, ...onlyShown];
}

const MARKS = /:[\p{L}\p{N}_+'-]+:|^[\s>]*(?:\d+|[a-z]{1,4})\.(?=\s)/gmu;

/** The words of blocks, without marks: the same text has the same ones in `text` and in rich text. */
export function wordsOf(blocks: readonly ParsedBlock[]): string[] {
  const textIn = (piece: ParsedInline) => {
    if (piece.kind === 'text') return piece.text;
    return piece.kind === 'link' ? `${piece.label} ${piece.url}` : piece.id;
  };
  const lines = blocks.flatMap(linesOf).map((line) => line.map(textIn).join(''));
  return lines.flatMap((line) => line.replace(MARKS, ' ').match(/[\p{L}\p{N}]+/gu) ?? []);
}

function sizeOf(words: readonly string[]): number {
  return words.join('').length;
}

/** Tells whether words are all among these, each as often; of the last one, which may be cut, the beginning. */
function wordCounter(all: readonly string[]): (words: readonly string[]) => boolean {
  const counts = new Map<string, number>();
  for (const word of all) counts.set(word, (counts.get(word) ?? 0) + 1);
  return (words) => {
    const left = new Map(counts);
    return words.every((word, at) => {
      const count = left.get(word) ?? 0;
      left.set(word, count - 1);
      return count > 0 || (at === words.length - 1 && all.some((one) => one.startsWith(word)));
    });
  };
}

function labelsIn(text: string): Labels {
  const labels = new Map<string, string>();
  for (const [, id, label] of text.matchAll(/<(?:[@#]|!subteam\^)([A-Z0-9]+)\|([^<>|]+)>/g)) {
    if (id !== undefined && label !== undefined) labels.set(id, decodeEntities(label));
  }
  return labels;
}

const optionalText = optional(z.string());
const optionalLabel = optional(
  z.union([z.string(), z.looseObject({ text: z.string() }).transform(({ text }) => text)]),
);
const pictureSchema = z.looseObject({
  type: z.literal('image'),
  title: optionalLabel,
  alt_text: optionalText,
  image_url: optionalText,
  slack_file: optional(z.looseObject({ url: optionalText })),
});
const markdownSchema = z.looseObject({ type: z.literal('markdown'), text: z.string() });
const anyBlockSchema = z.looseObject({ type: z.string().catch('') });

/** The fields of blocks and their parts that Slack shows, in its order; of controls, it shows none that says anything. */
const SHOWN_FIELDS = [
  ...['title', 'subtitle', 'caption', 'text', 'body', 'subtext', 'description', 'fields', 'accessory'],
  ...['elements', 'details', 'output', 'tasks', 'child_blocks', 'blocks'],
];
const CONTROL = /actions$|button|select|picker|^(?:overflow|checkboxes|input)$/;
/** Blocks do not hold each other deeper in Slack. */
const MAX_DEPTH = 10;

/** All that blocks show, in their order: rich text, tables, pictures by name, and the texts of blocks that apps write. */
export function parseEveryBlock(blocks: readonly unknown[], labels: Labels = NO_LABELS): ParsedBlock[] {
  return blocks.flatMap((block) => parseBlock(block, labels, 0));
}

function parseBlock(raw: unknown, labels: Labels, depth: number): ParsedBlock[] {
  if (depth > MAX_DEPTH) return [];
  if (typeof raw === 'string') return parseMrkdwn(raw);
  if (Array.isArray(raw)) return raw.flatMap((inner) => parseBlock(inner, labels, depth + 1));
  const richText = parseRichText(raw, labels);
  if (richText !== undefined) return richText;
  const picture = pictureSchema.safeParse(raw).data;
  if (picture !== undefined) return [{ kind: 'paragraph', content: [pictureName(picture)] }];
  const markdown = markdownSchema.safeParse(raw).data;
  if (markdown !== undefined) return parseMarkdown(markdown.text);
  const block = anyBlockSchema.safeParse(raw).data;
  if (block === undefined || CONTROL.test(block.type)) return [];
  const shown = SHOWN_FIELDS.flatMap((field) => parseBlock(block[field], labels, depth + 1));
  const table = parseTable(raw);
  return table === undefined ? shown : [...shown, table];
}

function pictureName({
  title,
  alt_text,
  image_url,
  slack_file,
}: z.output<typeof pictureSchema>): ParsedInline {
  const name = `picture: ${decodeEntities(title || alt_text || 'without a name')}`;
  const url = image_url ?? slack_file?.url;
  return url === undefined ? textPiece(`[${name}]`) : { kind: 'link', url, label: name, style: {} };
}

/** Markdown stays as it is, but for its escapes; outside code, ids in it are mentions. */
function parseMarkdown(markdown: string): ParsedBlock[] {
  const parts = markdown.split(/(\\[!-/:-@[-`{-~]|```[\s\S]*?```|`[^`\n]*`|<[@#!][^<>\n]+>)/);
  const content = parts.flatMap((part, at) => {
    if (part === '') return [];
    if (at % 2 === 1 && part.startsWith('\\')) return textPiece(part.slice(1));
    return part.startsWith('<') ? parseToken(part.slice(1, -1)) : textPiece(part);
  });
  return content.length === 0 ? [] : [{ kind: 'paragraph', content }];
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
