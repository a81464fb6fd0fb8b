import { createHash } from 'node:crypto';
import type { KnownBlock } from '@slack/types';

/** What a message shows: blocks, and a text for notifications and screen readers (4,000 bytes at most). */
export interface SlackMessage {
  text: string;
  blocks?: readonly KnownBlock[] | undefined;
}

/** The message without blocks, for when Slack refuses them. */
export function withoutBlocks(message: SlackMessage): SlackMessage {
  return { text: message.text };
}

/** The type of the metadata by which we find our own messages again. Readable by everybody: opaque ids only. */
export const METADATA_TYPE = 'taskthread_post';

/** Any fixed UUID serves; a new one would make every message look new to Slack. */
const CLIENT_MSG_ID_NAMESPACE = Buffer.from('5b0a4c3e9d6f4f0e8a51c2d7e4b96f13', 'hex');

/** The `client_msg_id` of a post: the same for the same key (UUID version 5). */
export function clientMsgId(key: string): string {
  const hash = createHash('sha1').update(CLIENT_MSG_ID_NAMESPACE).update(key).digest().subarray(0, 16);
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x50, 6);
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
  return hash.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
