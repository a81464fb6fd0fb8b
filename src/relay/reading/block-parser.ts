import { z } from 'zod';
import { decodeEntities, parseMrkdwn } from './mrkdwn-parser.ts';
import type { ParsedBlock } from './parsed-blocks.ts';
import { parseTable } from './pasted-tables.ts';
import { parseRichText } from './rich-text-parser.ts';

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
  return hasRichText ? written : [...parseMrkdwn(text), ...written];
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
