import type { SlackTs } from './schema.ts';

/** Names one thread: `root` is the ts of its first message. */
export interface ThreadKey {
  workspace: string;
  channel: string;
  root: SlackTs;
}

/** A thread's key as text: the queue's singleton key, and the name of the thread's advisory lock. */
export function threadKeyText({ workspace, channel, root }: ThreadKey): string {
  return `${workspace}/${channel}/${root}`;
}

/** Names one message in Slack. */
export interface MessageKey {
  workspace: string;
  channel: string;
  ts: SlackTs;
}

/** Names a channel's project under one service account. */
export interface ProjectKey {
  workspace: string;
  channel: string;
  account: string;
}
