import type { ContentBlock } from '../../agent/service-schema.ts';
import { truncatedCopy } from '../../agent/truncated-copy.ts';
import type { ReplyBlock } from '../../render/messages/answer-text.ts';
import { MAX_TOOL_TEXT_LENGTH } from '../../render/messages/tool-steps.ts';

/** Characters kept of a tool call's whole input. */
const MAX_INPUT_CHARACTERS = 10_000;

/**
 * A block of the service as replies show it. A tool call is cut to what is ever shown: otherwise a live reply would hold
 * megabytes of output for hours.
 */
export function toReplyBlock(block: ContentBlock): ReplyBlock {
  switch (block.type) {
    case 'text':
      return { kind: 'text', text: block.text };
    case 'tool_use': {
      const input = truncateInput(block.input, { left: MAX_INPUT_CHARACTERS });
      return { kind: 'tool_use', id: block.id, name: block.name, input };
    }
    case 'tool_result':
      return { kind: 'tool_result', toolUseId: block.toolUseId, content: truncateText(block.content) };
    case 'other':
      return { kind: 'other', type: block.kind, raw: textField(block.raw) };
  }
}

/** The beginning of a JSON value, in its shape; `room` counts the characters left. */
function truncateInput(value: unknown, room: { left: number }): unknown {
  room.left -= typeof value === 'string' ? Math.min(value.length, MAX_TOOL_TEXT_LENGTH) : 10;
  if (typeof value === 'string') return truncateText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value))
    return value.flatMap((item) => (room.left > 0 ? [truncateInput(item, room)] : []));
  const members = Object.entries(value).flatMap(([name, member]) =>
    room.left > 0 ? [[truncateText(name), truncateInput(member, room)] as const] : [],
  );
  return Object.fromEntries(members);
}

function truncateText(text: string): string {
  return truncatedCopy(text, MAX_TOOL_TEXT_LENGTH);
}

function textField(raw: unknown): { text: unknown } | undefined {
  return typeof raw === 'object' && raw !== null && 'text' in raw ? { text: raw.text } : undefined;
}
