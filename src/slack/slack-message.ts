import { createHash } from 'node:crypto';
import type { KnownBlock } from '@slack/types';

/** The contents of a message: blocks, and a text for notifications and screen readers (4,000 bytes at most). */
export interface SlackMessage {
  text: string;
  blocks?: readonly KnownBlock[] | undefined;
}

/** The metadata type by which the bot finds its own messages. Everybody can read metadata: put only opaque ids in it. */
export const METADATA_TYPE = 'taskthread_post';

/** Any fixed UUID works, but it must never change: Slack would take every message for a new one. */
const CLIENT_MSG_ID_NAMESPACE = Buffer.from('5b0a4c3e9d6f4f0e8a51c2d7e4b96f13', 'hex');

/** The `client_msg_id` of a post: the same for the same key (UUID version 5). */
export function clientMsgId(key: string): string {
  const hash = createHash('sha1').update(CLIENT_MSG_ID_NAMESPACE).update(key).digest().subarray(0, 16);
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x50, 6);
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
  return hash.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
