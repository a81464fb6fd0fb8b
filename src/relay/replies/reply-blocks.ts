import type { ContentBlock } from '../../agent/content-blocks.ts';
import type { Message as AgentMessage } from '../../agent/service-schema.ts';
import { truncatedCopy } from '../../agent/truncated-copy.ts';
import type { ReplyBlock } from '../../render/messages/answer-text.ts';
import { MAX_TOOL_TEXT_LENGTH } from '../../render/messages/tool-steps.ts';
import type { KeptSize } from '../runtime/reply-memory.ts';
import { replyFingerprint } from './reply-fingerprint.ts';

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
      return { kind: 'other', type: truncatedCopy(block.kind, MAX_KIND_LENGTH), raw: textField(block.raw) };
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

function textField({ text }: Readonly<Record<string, unknown>>): { text: string } | undefined {
  return typeof text === 'string' ? { text } : undefined;
}
