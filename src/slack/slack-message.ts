import { v5 as uuidV5 } from 'uuid';

/** The contents of a message: blocks, and a text for notifications and screen readers (4,000 bytes at most). */
export interface SlackMessage {
  text: string;
  blocks?: readonly object[] | undefined;
}

/** Slack's own users, who post notices and reminders. They aren't flagged as bots. */
const SLACK_USERS: ReadonlySet<string> = new Set(['USLACKBOT', 'USLACK']);

/** Whether this is Slack itself, not a person. */
export function isSlackItself(user: string): boolean {
  return SLACK_USERS.has(user);
}

/** The metadata type by which the bot finds its own messages. Everybody can read metadata: put only opaque ids in it. */
export const METADATA_TYPE = 'taskthread_post';

/** Any fixed UUID works, but it must never change: Slack would take every message for a new one. */
const CLIENT_MSG_ID_NAMESPACE = '5b0a4c3e-9d6f-4f0e-8a51-c2d7e4b96f13';

/** The `client_msg_id` of a post: the same for the same key. */
export function clientMsgId(key: string): string {
  return uuidV5(key, CLIENT_MSG_ID_NAMESPACE);
}
