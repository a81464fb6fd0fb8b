import { z } from 'zod';
import { literalMarks } from '../../render/markdown/literal-marks.ts';
import { unescapeHtml } from '../../render/text-format.ts';
import { optional, text as optionalText } from '../../slack/field-schemas.ts';
import {
  linkPiece,
  type ParsedBlock,
  type ParsedInline,
  type TextStyle,
  textPiece,
} from './parsed-blocks.ts';
import { withSequences } from './pasted-sequences.ts';
import { linesOf, parseTable, withoutTables } from './pasted-tables.ts';
import {
  isoTime,
  type Labels,
  NO_LABELS,
  parseInline,
  parseRichText,
  richTextElements,
  shownDate,
} from './rich-text-parser.ts';

/** An app's text beside its blocks is a summary, unless it is so many times longer. */
const LONGER_THAN_SUMMARY = 2;

/** Whether blocks hold what a person typed: the text beside them then repeats it, or its beginning. */
export function hasRichText(blocks: readonly unknown[]): boolean {
  return blocks.some((block) => (richTextElements(block) ?? []).length > 0);
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
  // Beside controls alone, the text is the message.
  const isBesideControls = blocks.every((block) => controlsSchema.safeParse(block).success);
  if (shown.length === 0 || said.length === 0 || isBesideControls) return [...said, ...shown];
  const [shownWords, saidWords] = [wordsOf(shown), wordsOf(said)];
  if (amongWords(shownWords)(saidWords)) return shown;
  const areSaid = amongWords(saidWords);
  const onlyShown = shown.filter((block) => block.kind === 'table' || !areSaid(wordsOf([block])));
  const isSummary = hasRichText(blocks)
    ? withoutTables(onlyShown).length === withoutTables(shown).length
    : sizeOf(saidWords) <= LONGER_THAN_SUMMARY * sizeOf(shownWords);
  return isSummary ? shown : [...said, ...onlyShown];
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
function amongWords(all: readonly string[]): (words: readonly string[]) => boolean {
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
    if (id !== undefined && label !== undefined) labels.set(id, unescapeHtml(label));
  }
  return labels;
}

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
type Picture = z.output<typeof pictureSchema>;
const knownSchema = z.discriminatedUnion('type', [
  pictureSchema,
  z.looseObject({ type: z.literal('markdown'), text: z.string() }),
  z.looseObject({ type: z.literal('plain_text'), text: z.string() }),
  // https://docs.slack.dev/apis/web-api/using-the-calls-api
  z.looseObject({
    type: z.literal('call'),
    call: z.looseObject({ v1: z.looseObject({ name: optionalLabel, join_url: z.string().min(1) }) }),
  }),
  z.looseObject({ type: z.enum(['url', 'button']), url: z.string().min(1), text: optionalLabel }),
]);
const anyBlockSchema = z.looseObject({ type: z.string().catch('') });
type AnyBlock = z.output<typeof anyBlockSchema>;

/** The fields of blocks and their parts that Slack shows, in its order. */
const SHOWN_FIELDS = [
  ...['hero_image', 'provider_name', 'author_name', 'rich_text_title', 'title', 'title_url', 'status'],
  ...['subtitle', 'caption', 'chart', 'axis_config', 'x_label', 'y_label', 'segments', 'series', 'name'],
  ...['data', 'label', 'text', 'body', 'subtext', 'description', 'fields', 'accessory', 'element'],
  ...['elements', 'hint', 'details', 'output', 'sources', 'tasks', 'child_blocks', 'blocks', 'actions'],
];
const CONTROL = /button|select|picker|_input$|^(?:overflow|checkboxes)$/;
const controlsSchema = z.looseObject({ type: z.enum(['actions', 'context_actions', 'input', 'divider']) });
/** Blocks do not hold each other deeper in Slack. */
const MAX_DEPTH = 10;

/** All that blocks show, in their order: rich text, tables, pictures by name, and the texts of blocks that apps write. */
export function parseEveryBlock(blocks: readonly unknown[], labels: Labels = NO_LABELS): ParsedBlock[] {
  return blocks.flatMap((block) => parseBlock(block, labels, 0));
}

function parseBlock(raw: unknown, labels: Labels, depth: number): ParsedBlock[] {
  if (depth > MAX_DEPTH || raw === undefined) return [];
  if (typeof raw === 'string') return parseMrkdwn(raw);
  if (Array.isArray(raw)) return raw.flatMap((inner) => parseBlock(inner, labels, depth + 1));
  const richText = parseRichText(raw, labels);
  if (richText !== undefined) return richText;
  const known = knownSchema.safeParse(raw).data;
  if (known?.type === 'image') return paragraph(pictureName(known));
  if (known?.type === 'markdown') return parseMarkdown(known.text);
  if (known?.type === 'plain_text') return paragraph(textPiece(unescapeHtml(known.text)));
  if (known?.type === 'call') {
    const { name, join_url } = known.call.v1;
    return paragraph(linkPiece(join_url, unescapeHtml(name || join_url)));
  }
  if (known !== undefined) return paragraph(linkPiece(known.url, unescapeHtml(known.text ?? known.url)));
  const block = anyBlockSchema.safeParse(raw).data;
  if (block === undefined) return [];
  // It shows somebody's profile, and has only their id.
  if (block.type === 'contact_card') return paragraph(...parseInline(raw, labels));
  if (CONTROL.test(block.type)) return parseControl(block, labels, depth + 1);
  const { title, rich_text_title = title, label, value } = block;
  // It is a point of a chart, or a field of a record.
  const isValue = typeof value === 'string' || typeof value === 'number';
  if (typeof label === 'string' && isValue) return paragraph(textPiece(`${label}: ${value}`));
  const shown = SHOWN_FIELDS.flatMap((field) =>
    field === 'title' && rich_text_title !== title ? [] : parseBlock(block[field], labels, depth + 1),
  );
  const table = parseTable(raw);
  return table === undefined ? shown : [...shown, table];
}

/** What a control shows that nobody has pressed: the items of a list with their ticks, or what is chosen already. */
function parseControl({ type, options, ...others }: AnyBlock, labels: Labels, depth: number): ParsedBlock[] {
  const initial = Object.entries(others).filter(([field]) => field.startsWith('initial_'));
  const chosen = initial.flatMap(([field, value]) => [value].flat().map((one) => ({ field, one })));
  if (!/^(?:checkboxes|radio_buttons)$/.test(type))
    return chosen.flatMap(({ field, one }) => {
      if (typeof one === 'number') return paragraph(textPiece(isoTime(one)));
      if (typeof one !== 'string') return parseBlock(one, labels, depth);
      const isId = /user|channel|conversation/.test(field);
      return paragraph(...(isId ? parseInline({ id: one }, labels) : [textPiece(one)]));
    });
  const ticked = new Set(chosen.map(({ one }) => JSON.stringify(one)));
  const items = [options]
    .flat()
    .filter(Boolean)
    .map((option) => {
      const lines = parseBlock(option, labels, depth).flatMap(linesOf);
      const mark = ticked.has(JSON.stringify(option)) ? '[x]' : '[ ]';
      return [textPiece(mark), ...lines.flatMap((line) => [textPiece(' '), ...line])];
    });
  return [{ kind: 'list', ordered: false, indent: 0, offset: 0, items }];
}

function paragraph(...content: ParsedInline[]): ParsedBlock[] {
  return content.length === 0 ? [] : [{ kind: 'paragraph', content }];
}

function pictureName({ title, alt_text, image_url, slack_file }: Picture): ParsedInline {
  const name = `picture: ${unescapeHtml(title || alt_text || 'without a name')}`;
  const url = image_url ?? slack_file?.url;
  return url === undefined ? textPiece(`[${name}]`) : linkPiece(url, name);
}

/** Markdown as it is. Only escapes are undone, but not those of pipes in rows, and ids outside code become mentions. */
function parseMarkdown(markdown: string): ParsedBlock[] {
  const parts = markdown.split(/(\\[!-/:-@[-`{-~]|```[\s\S]*?```|`[^`\n]*`|<[@#!][^<>\n]+>)/);
  let lineStart = '';
  const content = parts.flatMap((part, at) => {
    const isInRow = /^ *\|/.test(lineStart);
    lineStart = (lineStart + part).replace(/^.*\n/s, '').slice(0, 20);
    if (part === '') return [];
    const isText = at % 2 === 0;
    if (!isText && part.startsWith('\\')) return textPiece(isInRow && part === '\\|' ? part : part.slice(1));
    return !isText && part.startsWith('<') ? parseToken(part.slice(1, -1)) : textPiece(part);
  });
  return paragraph(...content);
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

/** Undoes the links that Slack makes of addresses in code. */
function decodeCode(code: string): string {
  return unescapeHtml(
    code.replace(
      /<((?:https?|mailto|tel):[^<>|\s]*)(?:\|([^<>]*))?>/g,
      (_, url: string, label?: string) => label ?? url,
    ),
  );
}

/** `> text` quotes a line, `>>> text` this line and all that follow. The `>` may be encoded. */
function parseLines(text: string): ParsedBlock[] {
  const blocks: { kind: 'paragraph' | 'quoted_lines'; lines: string[] }[] = [];
  let quotesTheRest = false;
  for (const line of text.split('\n')) {
    const quotePrefix: string | undefined = quotesTheRest
      ? ''
      : /^(?:(?:&gt;|>){3}|(?:&gt;|>)(?!=)) ?/.exec(line)?.[0];
    const kind = quotePrefix === undefined ? 'paragraph' : 'quoted_lines';
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

/** Stands for a code span, a mention or a link: no text holds this character. */
const TOKEN = '\uFDD0';
const STYLED = /(?<![\p{L}\p{N}*~])([*~])(?![\s*~])([^*~\n]*[^\s*~])\1(?![\p{L}\p{N}*~])/gu;

/** Text with `*bold*` and `~struck~`, unless its stars are data; `_italic_` is the same in Markdown. */
function styledPieces(text: string): { text: string; style: TextStyle }[] {
  const pieces: { text: string; style: TextStyle }[] = [];
  let from = 0;
  const stars = new Set(literalMarks(text, 0, text.length).filter((at) => text.charAt(at) === '*'));
  for (const { 0: all, 1: mark, 2: inside = '', index } of text.matchAll(STYLED)) {
    if (stars.has(index) || stars.has(index + all.length - 1)) continue;
    const style = mark === '*' ? { bold: true } : { strike: true };
    pieces.push({ text: text.slice(from, index), style: {} }, { text: inside, style });
    from = index + all.length;
  }
  return [...pieces, { text: text.slice(from), style: {} }];
}

function parseLine(line: string): ParsedInline[] {
  const tokens: ParsedInline[] = [];
  const text = line
    .replaceAll(TOKEN, '')
    .replace(/^(\s*)[•◦▪‣] +/, '$1- ')
    .replace(/`([^`\n]+)`|<([^<>\n]+)>/g, (_, code?: string, inside = '') => {
      tokens.push(code === undefined ? parseToken(inside) : textPiece(decodeCode(code), { code: true }));
      return TOKEN;
    });
  return styledPieces(unescapeHtml(text)).flatMap(({ text: part, style }) =>
    part.split(/(\uFDD0)/).flatMap((piece): ParsedInline[] => {
      if (piece !== TOKEN) return piece === '' ? [] : [textPiece(piece, style)];
      const token = tokens.shift();
      return token === undefined ? [] : [{ ...token, style: { ...token.style, ...style } }];
    }),
  );
}

function parseToken(token: string): ParsedInline {
  const bar = token.indexOf('|');
  const head = bar < 0 ? token : token.slice(0, bar);
  const label = bar < 0 ? undefined : unescapeHtml(token.slice(bar + 1)) || undefined;
  if (/^@[A-Z0-9]+$/i.test(head)) return { kind: 'person', id: head.slice(1), label, style: {} };
  if (/^#[A-Z0-9]+$/i.test(head)) return { kind: 'channel', id: head.slice(1), label, style: {} };
  if (head.startsWith('!subteam^')) return { kind: 'usergroup', id: head.slice(9), label, style: {} };
  if (head.startsWith('!date^')) {
    const [, seconds, format = '', url] = head.split('^');
    const isTime = Number.isFinite(Number(seconds));
    const date = isTime ? shownDate(Number(seconds), format, label) : (label ?? head);
    return url ? linkPiece(unescapeHtml(url), date) : textPiece(date);
  }
  if (head.startsWith('!')) return textPiece(label ?? `@${head.slice(1)}`);
  if (/^[a-z][a-z0-9+.-]*:/i.test(head)) {
    const url = unescapeHtml(head);
    return linkPiece(url, label ?? url);
  }
  return textPiece(`<${unescapeHtml(token)}>`);
}
