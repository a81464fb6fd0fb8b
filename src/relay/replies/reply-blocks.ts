import { type ContentBlock, truncatedCopy } from '../../agent/content-blocks.ts';
import type { Message as AgentMessage } from '../../agent/service-schema.ts';
import type { ReplyBlock } from '../../render/messages/answer-text.ts';
import { MAX_TOOL_TEXT_LENGTH } from '../../render/messages/tool-steps.ts';
import type { KeptSize } from '../runtime/reply-memory.ts';

/** Characters kept of a tool call's whole input. */
const MAX_INPUT_CHARACTERS = 10_000;
/** Characters of the name of an unknown kind of block. */
const MAX_KIND_LENGTH = 100;
/** Bytes that a block takes beside its texts. */
const BLOCK_BYTES = 200;

/** One read of the agent's reply: what a turn keeps of it. */
export interface ReadReply extends Omit<AgentMessage, 'content'> {
  readonly blocks: readonly ReplyBlock[];
  /** Of the whole reply, with what is not kept. */
  readonly fingerprint: string;
}

/** The reply without what its thread never shows. */
export function toReadReply(message: AgentMessage): ReadReply {
  const { content, ...reply } = message;
  return { ...reply, blocks: content.map(toReplyBlock), fingerprint: replyFingerprint(message) };
}

/** Statuses of a message that is still being written. */
export const UNFINISHED_STATUSES: readonly (string | null)[] = ['pending', 'streaming', 'cancelling'];

/** Whether a reply is complete, whatever its outcome. */
export function isReplySettled({
  status,
  completedAt,
}: Pick<AgentMessage, 'status' | 'completedAt'>): boolean {
  return (
    status === 'completed' ||
    status === 'cancelled' ||
    status === 'failed' ||
    (completedAt !== null && !UNFINISHED_STATUSES.includes(status))
  );
}

/** What a reply takes in memory: two bytes a character, and what objects take. */
export function keptSizeOf(reply: ReadReply): KeptSize {
  let bytes = BLOCK_BYTES;
  for (const block of reply.blocks)
    bytes += BLOCK_BYTES + 2 * (block.kind === 'text' ? block.text.length : JSON.stringify(block).length);
  return { bytes, isSettled: isReplySettled(reply) };
}

/** A block as replies show it, cut to what is ever shown: otherwise a live reply would hold megabytes of tool output for hours. */
export function toReplyBlock(block: ContentBlock): ReplyBlock {
  switch (block.type) {
    case 'text':
      return { kind: 'text', text: block.text };
    case 'tool_use': {
      const input = truncateInput(block.input, { left: MAX_INPUT_CHARACTERS });
      return { kind: 'tool_use', id: block.id, name: block.name, input };
    }
    case 'tool_result': {
      const { type: kind, ...result } = block;
      return { kind, ...result, content: truncateText(result.content) };
    }
    case 'other':
      return { kind: 'other', type: truncatedCopy(block.kind, MAX_KIND_LENGTH), raw: textField(block.raw) };
  }
}

/** A block of the service with the whole texts of its tool call. */
export function toWholeBlock(block: ContentBlock): ReplyBlock {
  if (block.type === 'tool_use') return { ...block, kind: 'tool_use' };
  return block.type === 'tool_result' ? { ...block, kind: 'tool_result' } : toReplyBlock(block);
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

function textField({ text }: Readonly<Record<string, unknown>>): { text: string } | undefined {
  return typeof text === 'string' ? { text } : undefined;
}

/** How deep nested fields of a tool's input count. */
const MAX_INPUT_DEPTH = 8;

/** Changes when the agent makes progress, shown or not. Computed for each read: without copies, in a few nanoseconds a character. */
export function replyFingerprint(message: AgentMessage): string {
  let hash = 0;
  let length = 0;
  for (const block of message.content) {
    if (block.type === 'text') hash = hashText(hash, block.text);
    if (block.type === 'other') hash = hashText(hash, rawText(block.raw));
    length += growingLength(block);
  }
  const call = message.content.findLast((block) => block.type === 'tool_use');
  if (call?.type === 'tool_use') hash = hashInput(hash, call.input, 0);
  return `${message.status}/${message.content.length}/${length}/${hash}`;
}

/** The length of what grows in a block; of an unknown kind, of its texts alone: links and times may differ in each read. */
function growingLength(block: ContentBlock): number {
  if (block.type === 'text') return block.text.length;
  if (block.type === 'tool_result') return block.content.length;
  if (block.type === 'tool_use') return 0;
  let length = 0;
  for (const value of Object.values(block.raw)) if (typeof value === 'string') length += value.length;
  return length;
}

function rawText({ text }: Readonly<Record<string, unknown>>): string {
  return typeof text === 'string' ? text : '';
}

function hashInput(before: number, value: unknown, depth: number): number {
  if (typeof value === 'string') return hashText(before, value);
  if (typeof value !== 'object' || value === null) return hashText(before, String(value));
  if (depth === MAX_INPUT_DEPTH) return before;
  let hash = before;
  for (const [key, field] of Object.entries(value)) hash = hashInput(hashText(hash, key), field, depth + 1);
  return hash;
}

/** FNV-1a of UTF-16 units. */
function hashText(before: number, text: string): number {
  let hash = before ^ text.length;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}
