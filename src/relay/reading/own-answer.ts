import { z } from 'zod';
import { toMarkdown } from './blocks-to-markdown.ts';
import { NO_NAMES } from './display-names.ts';
import type { ParsedMessage } from './message-parser.ts';
import { parseRichText } from './rich-text-parser.ts';

const textSchema = z.looseObject({
  text: z.union([z.string(), z.looseObject({ text: z.string() }).transform(({ text }) => text)]),
});
/** Blocks that show a part of an answer: Slack may make several others of a `markdown` block. */
const textBlockSchema = textSchema.extend({ type: z.enum(['markdown', 'header']) });
const tableSchema = z.looseObject({
  type: z.enum(['table', 'data_table']),
  rows: z.array(z.array(z.unknown())),
});
const richTextSchema = z.looseObject({ type: z.literal('rich_text') });

/**
 * A message of the bot's reply with nothing but its part of the answer, without notes, progress, errors and buttons; empty
 * where it has no part of it.
 */
export function withAnswerOnly(message: ParsedMessage): ParsedMessage[] {
  if (message.blocks.length === 0) return [message];
  const blocks = message.blocks.flatMap((raw) => {
    const table = tableSchema.safeParse(raw).data;
    const text = table?.rows.map(rowText).join('\n') ?? textBlockSchema.safeParse(raw).data?.text;
    if (text !== undefined) return [asRichText(text)];
    return richTextSchema.safeParse(raw).success ? [raw] : [];
  });
  return blocks.length === 0 ? [] : [{ ...message, blocks }];
}

function rowText(cells: readonly unknown[]): string {
  return `| ${cells.map(cellText).join(' | ')} |`;
}

function cellText(cell: unknown): string {
  const rich = parseRichText([cell], new Map());
  if (rich !== undefined) return toMarkdown(rich, NO_NAMES);
  return textSchema.safeParse(cell).data?.text ?? '';
}

/** A block whose text is read as it stands. */
function asRichText(text: string) {
  return { type: 'rich_text', elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text }] }] };
}
