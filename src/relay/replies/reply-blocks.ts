import { createHash } from 'node:crypto';
import { type ContentBlock, truncatedCopy } from '../../agent/content-blocks.ts';
import type { Message as AgentMessage } from '../../agent/service-schema.ts';
import { MAX_TOOL_TEXT_LENGTH } from '../../render/messages/tool-values.ts';
import type { KeptSize } from '../runtime/reply-memory.ts';

/** Characters kept of a tool call's whole input. */
const MAX_INPUT_CHARACTERS = 10_000;
/** Characters of the name of an unknown kind of block. */
const MAX_KIND_LENGTH = 100;
/** Bytes that a block takes beside its texts. */
const BLOCK_BYTES = 200;

/** One read of the agent's reply: what a turn keeps of it. */
export interface ReadReply extends Omit<AgentMessage, 'content'> {
  readonly blocks: readonly ContentBlock[];
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
const SETTLED_STATUSES: readonly (string | null)[] = ['completed', 'cancelled', 'failed'];

/** Whether a reply is complete, whatever its outcome. */
export function isReplySettled(reply: Pick<AgentMessage, 'status' | 'completedAt'>): boolean {
  if (SETTLED_STATUSES.includes(reply.status)) return true;
  // For a status that we do not know, the time of completion decides.
  return reply.completedAt !== null && !UNFINISHED_STATUSES.includes(reply.status);
}

/** Whether a reply is complete, and its end was an error. */
export function hasReplyFailed(reply: Pick<AgentMessage, 'status' | 'completedAt' | 'stopReason'>): boolean {
  return isReplySettled(reply) && (reply.status === 'failed' || reply.stopReason === 'error');
}

/** What a reply takes in memory: two bytes a character, and what objects take. */
export function keptSizeOf(reply: ReadReply): KeptSize {
  let bytes = BLOCK_BYTES;
  for (const block of reply.blocks)
    bytes += BLOCK_BYTES + 2 * (block.kind === 'text' ? block.text.length : JSON.stringify(block).length);
  return { bytes, isSettled: isReplySettled(reply) };
}

/** A block cut to what replies show: a live reply must not hold megabytes of tool output for hours. */
export function toReplyBlock(block: ContentBlock): ContentBlock {
  switch (block.kind) {
    case 'text':
      return block;
    case 'tool_use':
      return { ...block, input: truncateInput(block.input, { left: MAX_INPUT_CHARACTERS }) };
    case 'tool_result':
      return { ...block, content: truncateText(block.content) };
    case 'other': {
      const { text } = block.raw;
      const raw = typeof text === 'string' ? { text } : {};
      return { ...block, type: truncatedCopy(block.type, MAX_KIND_LENGTH), raw };
    }
  }
}

/** A JSON value cut short, in its shape. `room.left` counts down the characters left: 10 for what is no text. */
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

/** Changes when the agent makes progress, shown or not. */
export function replyFingerprint({ status, content }: AgentMessage): string {
  const hash = createHash('sha1');
  for (const block of content) {
    if (block.kind === 'text') hash.update(block.text);
    if (block.kind === 'other' && typeof block.raw.text === 'string') hash.update(block.raw.text);
  }
  const call = content.findLast((block) => block.kind === 'tool_use');
  return hash.update(JSON.stringify([status, content.map(growingLength), call])).digest('base64url');
}

/** The length of what may grow in a block. Of unknown kinds only texts count: links and times may vary. */
function growingLength(block: ContentBlock): number {
  if (block.kind === 'text') return block.text.length;
  if (block.kind === 'tool_result') return block.content.length;
  // The last call alone may grow: `replyFingerprint` reads all of it.
  if (block.kind === 'tool_use') return 0;
  const texts = Object.values(block.raw).filter((value) => typeof value === 'string');
  return texts.reduce((length, text) => length + text.length, 0);
}
