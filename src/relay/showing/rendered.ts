import { createHash } from 'node:crypto';
import type { ContentBlock } from '../../agent/schema.ts';
import type { ReplyBlock } from '../../reply/answer.ts';
import type { RenderedMessage } from '../../reply/slack-blocks.ts';

/** Characters that are kept of one text of a tool call, and of a whole input: more than a step ever shows. */
const mostOfText = 2_400;
const mostOfInput = 10_000;

/**
 * A block of the service as replies show it. Of a tool call only so much is kept as is ever shown: a live reply would
 * hold megabytes of output for hours.
 */
export function replyBlock(block: ContentBlock): ReplyBlock {
  switch (block.type) {
    case 'text':
      return { kind: 'text', text: block.text };
    case 'tool_use': {
      const input = brief(block.input, { left: mostOfInput });
      return { kind: 'tool_use', id: block.id, name: block.name, input };
    }
    case 'tool_result':
      return { kind: 'tool_result', toolUseId: block.toolUseId, content: briefText(block.content) };
    case 'other':
      return { kind: 'other', type: block.kind, raw: onlyText(block.raw) };
  }
}

/** The beginning of a JSON value, in its shape; `room` counts the characters. */
function brief(value: unknown, room: { left: number }): unknown {
  room.left -= typeof value === 'string' ? Math.min(value.length, mostOfText) : 10;
  if (typeof value === 'string') return briefText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.flatMap((item) => (room.left > 0 ? [brief(item, room)] : []));
  const members = Object.entries(value).flatMap(([name, member]) =>
    room.left > 0 ? [[briefText(name), brief(member, room)] as const] : [],
  );
  return Object.fromEntries(members);
}

/** A copy: a slice would hold the whole text in memory. */
function briefText(text: string): string {
  if (text.length <= mostOfText) return text;
  return Buffer.from(text.slice(0, mostOfText), 'utf16le').toString('utf16le');
}

function onlyText(raw: unknown): { text: unknown } | undefined {
  return typeof raw === 'object' && raw !== null && 'text' in raw ? { text: raw.text } : undefined;
}

/** What a message shows, for comparing. */
export function digestOf(message: RenderedMessage): string {
  const known = digests.get(message);
  if (known !== undefined) return known;
  const { text, blocks } = message;
  const digest = createHash('sha256').update(JSON.stringify({ text, blocks })).digest('base64url');
  digests.set(message, digest);
  return digest;
}

const digests = new WeakMap<RenderedMessage, string>();
