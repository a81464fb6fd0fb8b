import { createHash } from 'node:crypto';
import type { ContentBlock } from '../../agent/schema.ts';
import type { ReplyBlock } from '../../reply/answer.ts';
import type { RenderedMessage } from '../../reply/slack-blocks.ts';

/** A block of the service as replies show it. */
export function replyBlock(block: ContentBlock): ReplyBlock {
  switch (block.type) {
    case 'text':
      return { kind: 'text', text: block.text };
    case 'tool_use':
      return { kind: 'tool_use', id: block.id, name: block.name, input: block.input };
    case 'tool_result':
      return { kind: 'tool_result', toolUseId: block.toolUseId, content: block.content };
    case 'other':
      return { kind: 'other', type: block.kind, raw: block.raw };
  }
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
