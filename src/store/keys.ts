import type { SlackTs } from './schema.ts';

/** Identifies a thread; `root` is the ts of its first message. */
export interface ThreadKey {
  workspace: string;
  channel: string;
  root: SlackTs;
}

/** A thread's key as text: the queue's singleton key, and the name of the thread's advisory lock. */
export function threadKeyText({ workspace, channel, root }: ThreadKey): string {
  return `${workspace}/${channel}/${root}`;
}

/** Identifies a message in Slack. */
export interface MessageKey {
  workspace: string;
  channel: string;
  ts: SlackTs;
}

/** Identifies a channel's project under a service account. */
export interface ProjectKey {
  workspace: string;
  channel: string;
  account: string;
}
