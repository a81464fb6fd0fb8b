import { z } from 'zod';
import { idUpTo } from '../calls/json.ts';

/** Tool names are stored in the audit trail (characters). */
const MAX_TOOL_NAME_LENGTH = 100;
const MAX_CALL_ID_LENGTH = 200;

/** The id of a tool call; '' without one that could be found again. */
const callIdSchema = idUpTo(MAX_CALL_ID_LENGTH).catch('');

const textBlockSchema = z
  .object({ type: z.literal('text'), text: z.string() })
  .transform(({ text }) => ({ kind: 'text' as const, text }));

const plainBlockSchema = z.string().transform((text) => ({ kind: 'text' as const, text }));

/** Any kind of tool call, such as `mcp_tool_use`. */
const toolUseBlockSchema = z
  .object({
    type: z.string().regex(/tool_use$/),
    id: callIdSchema,
    name: z.string().catch(''),
    input: z
      .unknown()
      .optional()
      .transform((input): unknown => input ?? {}),
  })
  .transform(({ id, name, input }) => ({
    kind: 'tool_use' as const,
    id,
    name: truncatedCopy(name, MAX_TOOL_NAME_LENGTH),
    input,
  }));

const toolResultBlockSchema = z
  .object({
    type: z.string().regex(/tool_result$/),
    tool_use_id: callIdSchema,
    content: z.unknown().optional(),
    /** Not documented, but usual among services of this kind. */
    is_error: z.boolean().optional().catch(undefined),
  })
  .transform(({ tool_use_id, content, is_error }) => ({
    kind: 'tool_result' as const,
    toolUseId: tool_use_id,
    content: outputText(content),
    ...(is_error !== undefined && { isError: is_error }),
  }));

/** An undocumented kind, or a known kind of another shape: kept unchanged, so that nothing fails on it. */
const otherBlockSchema = z
  .record(z.string(), z.unknown())
  .catch({})
  .transform((raw) => ({ kind: 'other' as const, type: typeof raw.type === 'string' ? raw.type : '', raw }));

export const contentBlockSchema = z.union([
  textBlockSchema,
  toolUseBlockSchema,
  toolResultBlockSchema,
  plainBlockSchema,
  otherBlockSchema,
]);

/** A part of a message: text, a tool's call or result, or something undocumented. */
export type ContentBlock = z.output<typeof contentBlockSchema>;

/** A message's content, which may be a plain text. */
export const contentSchema = z.union([
  plainBlockSchema.transform((block) => [block]),
  z.array(contentBlockSchema),
]);

/** A tool's output, which may be a list of blocks: their texts, and others as JSON. */
function outputText(content: unknown): string {
  const parts = [content ?? []].flat();
  return parts.map((part) => (typeof part === 'string' ? part : blockText(part))).join('\n');
}

function blockText(block: unknown): string {
  const text = textBlockSchema.safeParse(block);
  return text.success ? text.data.text : JSON.stringify(block);
}

/** The first characters of a text. A copy: a slice would keep the whole text in memory. */
export function truncatedCopy(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  return Buffer.from(text.slice(0, maxCharacters), 'utf16le').toString('utf16le');
}
