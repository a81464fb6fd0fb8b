import { z } from 'zod';
import type { Block, Inline } from './content.ts';

/** Names that the message's `text` carries for ids, keyed by id. */
export type Labels = ReadonlyMap<string, string>;

const style = z
  .looseObject({
    bold: z.boolean().optional(),
    italic: z.boolean().optional(),
    strike: z.boolean().optional(),
    code: z.boolean().optional(),
  })
  .catch({});

const inline = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.literal('user'), user_id: z.string() }),
  z.looseObject({ type: z.literal('channel'), channel_id: z.string() }),
  z.looseObject({ type: z.literal('usergroup'), usergroup_id: z.string() }),
  z.looseObject({ type: z.literal('team'), team_id: z.string() }),
  z.looseObject({ type: z.literal('broadcast'), range: z.string() }),
  z.looseObject({ type: z.literal('link'), url: z.string(), text: z.string().optional() }),
  z.looseObject({ type: z.literal('emoji'), name: z.string(), unicode: z.string().optional() }),
  z.looseObject({ type: z.literal('date'), timestamp: z.number(), fallback: z.string().optional() }),
  z.looseObject({ type: z.literal('color'), value: z.string() }),
]);

const elements = z.array(z.unknown());
const border = z.number().optional().catch(undefined);

const block = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('rich_text_section'), elements }),
  z.looseObject({ type: z.literal('rich_text_quote'), elements }),
  z.looseObject({
    type: z.literal('rich_text_preformatted'),
    elements,
    border,
    language: z.string().optional().catch(undefined),
  }),
  z.looseObject({
    type: z.literal('rich_text_list'),
    elements,
    border,
    style: z.string().optional().catch(undefined),
    indent: z.int().nonnegative().max(20).catch(0),
    offset: z.int().nonnegative().catch(0),
  }),
]);

const richTextBlock = z.looseObject({ type: z.literal('rich_text'), elements });
const unknownElement = z.looseObject({
  type: z.string().catch('element'),
  text: z.string().optional().catch(undefined),
  fallback: z.string().optional().catch(undefined),
  name: z.string().optional().catch(undefined),
  url: z.string().optional().catch(undefined),
  elements: elements.optional().catch(undefined),
});

/** The content of a message's `rich_text` blocks; undefined when it has none. Never throws. */
export function readRichText(blocks: readonly unknown[], labels: Labels): Block[] | undefined {
  const found = blocks.flatMap((raw) => {
    const parsed = richTextBlock.safeParse(raw);
    return parsed.success ? [parsed.data.elements] : [];
  });
  return found.length === 0 ? undefined : joined(found.flat().map((raw) => readBlock(raw, labels)));
}

/** Neighbours inside one quotation become one, so that lists in it stay nested. */
function joined(blocks: readonly Block[]): Block[] {
  const result: Block[] = [];
  for (const block of blocks) {
    const last = result.at(-1);
    if (block.kind === 'quoted' && last?.kind === 'quoted') {
      result[result.length - 1] = { kind: 'quoted', blocks: [...last.blocks, ...block.blocks] };
    } else result.push(block);
  }
  return result;
}

function readBlock(raw: unknown, labels: Labels): Block {
  const parsed = block.safeParse(raw);
  if (!parsed.success) return { kind: 'paragraph', content: readInline(raw, labels) };
  const data = parsed.data;
  const content = () => data.elements.flatMap((element) => readInline(element, labels));
  switch (data.type) {
    case 'rich_text_section':
      return { kind: 'paragraph', content: content() };
    case 'rich_text_quote':
      return { kind: 'quote', content: content() };
    case 'rich_text_preformatted':
      return bordered(data.border, {
        kind: 'code',
        text: content().map(codeText).join(''),
        language: data.language ?? '',
      });
    case 'rich_text_list':
      return bordered(data.border, {
        kind: 'list',
        ordered: data.style === 'ordered',
        indent: data.indent,
        offset: data.offset,
        items: data.elements.map((item) => readInline(item, labels)),
      });
  }
}

/** A list or a piece of code inside a quotation comes with a border. */
function bordered(width: number | undefined, inner: Block): Block {
  return width !== undefined && width > 0 ? { kind: 'quoted', blocks: [inner] } : inner;
}

function readInline(raw: unknown, labels: Labels): Inline[] {
  const parsed = inline.safeParse(raw);
  if (!parsed.success) return readUnknown(raw, labels);
  const data = parsed.data;
  const set = style.parse(data.style ?? {});
  const text = (words: string): Inline[] => [{ kind: 'text', text: words, style: set }];
  const reference = (kind: 'person' | 'channel' | 'usergroup', id: string): Inline[] => [
    { kind, id, label: labels.get(id), style: set },
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
      return [{ kind: 'link', url: data.url, label: data.text ?? data.url, style: set }];
    case 'emoji':
      return text(emoji(data.unicode) ?? `:${data.name}:`);
    case 'date':
      return text(data.fallback ?? isoTime(data.timestamp));
    case 'color':
      return text(data.value);
  }
}

function readUnknown(raw: unknown, labels: Labels): Inline[] {
  const parsed = unknownElement.safeParse(raw);
  if (!parsed.success) return typeof raw === 'string' ? [{ kind: 'text', text: raw, style: {} }] : [];
  const { type, text, fallback, name, url, elements: inner } = parsed.data;
  if (inner !== undefined) return inner.flatMap((element) => readInline(element, labels));
  return [{ kind: 'text', text: text ?? fallback ?? name ?? url ?? `[${type}]`, style: {} }];
}

function codeText(piece: Inline): string {
  if (piece.kind === 'text') return piece.text;
  return piece.kind === 'link' ? piece.label : (piece.label ?? piece.id);
}

/** `1f44d-1f3fd` as the emoji itself; undefined when it is not code points in hexadecimal. */
function emoji(unicode: string | undefined): string | undefined {
  if (unicode === undefined || !/^[0-9a-f]{1,6}(-[0-9a-f]{1,6})*$/i.test(unicode)) return undefined;
  const points = unicode.split('-').map((point) => Number.parseInt(point, 16));
  return points.every((point) => point > 0 && point <= 0x10ffff)
    ? String.fromCodePoint(...points)
    : undefined;
}

/** `seconds` since 1970 as an ISO time; the bare number when no calendar reaches it. */
export function isoTime(seconds: number): string {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? String(seconds) : date.toISOString().replace('.000Z', 'Z');
}
