import { z } from 'zod';
import { optional } from '../../slack/field-schemas.ts';
import { linkPiece, type ParsedBlock, type ParsedInline, textOf, textPiece } from './parsed-blocks.ts';

/** The names that the message's `text` gives for ids, by id. */
export type Labels = ReadonlyMap<string, string>;
export const NO_LABELS: Labels = new Map();

const styleSchema = z
  .looseObject({
    bold: optional(z.boolean()),
    italic: optional(z.boolean()),
    strike: optional(z.boolean()),
    code: optional(z.boolean()),
  })
  .catch({});

const inlineSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.literal('user'), user_id: z.string() }),
  z.looseObject({ type: z.literal('channel'), channel_id: z.string() }),
  z.looseObject({ type: z.literal('usergroup'), usergroup_id: z.string() }),
  z.looseObject({ type: z.literal('team'), team_id: z.string() }),
  z.looseObject({ type: z.literal('broadcast'), range: z.string() }),
  z.looseObject({ type: z.literal('link'), url: z.string(), text: optional(z.string()) }),
  z.looseObject({ type: z.literal('emoji'), name: z.string(), unicode: optional(z.string()) }),
  z.looseObject({
    type: z.literal('date'),
    timestamp: z.number(),
    format: z.string().catch(''),
    fallback: optional(z.string()),
  }),
  z.looseObject({ type: z.literal('color'), value: z.string() }),
]);

/** Names of emoji that data has between colons, such as 1:100:A:T and 12:b:1,2. A person's emoji follow no letter. */
const DATA_EMOJI = /^(?:\d+|[a-z]\d?|ab)$/;
const textBefore = z.looseObject({ text: z.string().regex(/[\p{L}\p{N}\])]$/u) });
const isData = (name: string, before: unknown) =>
  DATA_EMOJI.test(name) && textBefore.safeParse(before).success;
const elementsSchema = z.array(z.unknown());

const blockSchema = z.looseObject({
  type: z.enum(['rich_text_section', 'rich_text_quote', 'rich_text_preformatted', 'rich_text_list']),
  elements: elementsSchema.catch([]),
  border: optional(z.number()),
  language: optional(z.string()),
  style: optional(z.string()),
  indent: z.int().nonnegative().max(20).catch(0),
  offset: z.int().nonnegative().catch(0),
});

const richTextBlockSchema = z.looseObject({ type: z.literal('rich_text'), elements: elementsSchema });
const filled = z.string().min(1);
const labelSchema = optional(
  z.union([filled, z.looseObject({ text: filled }).transform(({ text }) => text)]),
);
const unknownElementSchema = z.looseObject({
  type: z.string().catch('element'),
  text: labelSchema,
  fallback: labelSchema,
  label: labelSchema,
  title: labelSchema,
  name: labelSchema,
  url: optional(filled),
  elements: optional(elementsSchema),
});
/** What an id of Slack's names, by its first letter. */
const ID_KINDS = { U: 'person', W: 'person', C: 'channel', G: 'channel', S: 'usergroup' } as const;
const idSchema = z.string().regex(/^[A-Z][A-Z0-9]{2,}$/);

/** What a `rich_text` block consists of, unparsed; undefined if it is another one. */
export function richTextElements(raw: unknown): unknown[] | undefined {
  return richTextBlockSchema.safeParse(raw).data?.elements;
}

/** Parses a `rich_text` block; undefined if it is another one. Never throws. */
export function parseRichText(raw: unknown, labels: Labels): ParsedBlock[] | undefined {
  const elements = richTextElements(raw);
  if (elements === undefined) return undefined;
  const result: ParsedBlock[] = [];
  for (const block of elements.map((element) => parseBlock(element, labels))) {
    const last = result.at(-1);
    // Neighbouring quotations are one, so that lists in them stay nested.
    if (block.kind === 'quoted_blocks' && last?.kind === 'quoted_blocks')
      result[result.length - 1] = { kind: 'quoted_blocks', blocks: [...last.blocks, ...block.blocks] };
    else result.push(block);
  }
  return result;
}

function parseBlock(raw: unknown, labels: Labels): ParsedBlock {
  const parsed = blockSchema.safeParse(raw);
  if (!parsed.success) return { kind: 'paragraph', content: parseInline(raw, labels) };
  const data = parsed.data;
  const content = () => parseInlines(data.elements, labels);
  switch (data.type) {
    case 'rich_text_section':
      return { kind: 'paragraph', content: content() };
    case 'rich_text_quote':
      return { kind: 'quoted_lines', content: content() };
    case 'rich_text_preformatted':
      return quotedIfBordered(data.border, {
        kind: 'code',
        text: textOf(content()),
        language: data.language ?? '',
      });
    case 'rich_text_list':
      return quotedIfBordered(data.border, {
        kind: 'list',
        ordered: data.style === 'ordered',
        indent: data.indent,
        offset: data.offset,
        items: data.elements.map((item) => parseInline(item, labels)),
      });
  }
}

/** A list or code block inside a quotation has a border. */
function quotedIfBordered(width: number | undefined, inner: ParsedBlock): ParsedBlock {
  return width !== undefined && width > 0 ? { kind: 'quoted_blocks', blocks: [inner] } : inner;
}

function parseInlines(elements: readonly unknown[], labels: Labels): ParsedInline[] {
  return elements.flatMap((element, at) => parseInline(element, labels, elements[at - 1]));
}

/** Parses an inline element; one of an unknown type by what it shows. Never throws. */
export function parseInline(raw: unknown, labels: Labels, before?: unknown): ParsedInline[] {
  const parsed = inlineSchema.safeParse(raw);
  if (!parsed.success) return parseUnknownElement(raw, labels);
  const data = parsed.data;
  const style = styleSchema.parse(data.style ?? {});
  const text = (value: string): ParsedInline[] => [textPiece(value, style)];
  const reference = (kind: 'person' | 'channel' | 'usergroup', id: string): ParsedInline[] => [
    { kind, id, label: labels.get(id), style },
  ];
  switch (data.type) {
    case 'text':
      return text(data.text);
    case 'user':
      return reference('person', data.user_id);
    case 'channel':
      return reference('channel', data.channel_id);
    case 'usergroup':
      return reference('usergroup', data.usergroup_id);
    case 'team':
      return text(`@${labels.get(data.team_id) ?? data.team_id}`);
    case 'broadcast':
      return text(`@${data.range}`);
    case 'link':
      return [{ kind: 'link', url: data.url, label: data.text ?? data.url, style }];
    case 'emoji':
      return text((!isData(data.name, before) && emojiFromCodePoints(data.unicode)) || `:${data.name}:`);
    case 'date':
      return text(shownDate(data.timestamp, data.format, data.fallback));
    case 'color':
      return text(data.value);
  }
}

/** What an element of an unknown type shows: its text, its address, or what its id names. */
function parseUnknownElement(raw: unknown, labels: Labels): ParsedInline[] {
  const parsed = unknownElementSchema.safeParse(raw);
  if (!parsed.success) return typeof raw === 'string' ? [textPiece(raw)] : [];
  const { type, text, fallback, label, title, name, url, elements: inner, ...others } = parsed.data;
  if (inner !== undefined) return parseInlines(inner, labels);
  const shown = text ?? fallback ?? label ?? title ?? name;
  if (url !== undefined) return [linkPiece(url, shown ?? url)];
  return shown === undefined ? namedById(type, others, labels) : [textPiece(shown)];
}

function namedById(type: string, fields: Readonly<Record<string, unknown>>, labels: Labels): ParsedInline[] {
  const ids = Object.entries(fields).flatMap(([field, value]) => {
    const id = /(?:^|_)id$/.test(field) ? idSchema.safeParse(value) : undefined;
    return id?.success === true ? [id.data] : [];
  });
  const [id = ''] = ids;
  const [, kind] = Object.entries(ID_KINDS).find(([letter]) => id.startsWith(letter)) ?? [];
  if (kind !== undefined) return [{ kind, id, label: labels.get(id), style: {} }];
  return [textPiece(labels.get(id) ?? `[${`${type} ${id}`.trim()}]`)];
}

/** The emoji of code points like `1f44d-1f3fd`; undefined if they are not hexadecimal code points. */
function emojiFromCodePoints(unicode: string | undefined): string | undefined {
  if (unicode === undefined || !/^[0-9a-f]{1,6}(-[0-9a-f]{1,6})*$/i.test(unicode)) return undefined;
  const points = unicode.split('-').map((point) => Number.parseInt(point, 16));
  return points.every((point) => point > 0 && point <= 0x10ffff)
    ? String.fromCodePoint(...points)
    : undefined;
}

/** Unix time in seconds as an ISO time; the number itself if it is outside the range of dates. */
export function isoTime(seconds: number): string {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? String(seconds) : date.toISOString().replace('.000Z', 'Z');
}

/** A date as its app writes it, for old clients; others show local time, so a time is also given in ISO. */
export function shownDate(seconds: number, format: string, written: string | undefined): string {
  if (!written) return isoTime(seconds);
  return format.includes('{time') ? `${written} (${isoTime(seconds)})` : written;
}

/** A Slack ts as `2026-11-21 09:14` in UTC; empty if it is not a time. */
export function timeOfTs(ts: string): string {
  const date = new Date(Number(ts) * 1000);
  return ts === '' || Number.isNaN(date.getTime()) ? '' : date.toISOString().slice(0, 16).replace('T', ' ');
}

/** A block whose text is read exactly as it stands: Slack's markup in it has no effect. */
export function verbatimBlock(text: string) {
  return { type: 'rich_text', elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text }] }] };
}
