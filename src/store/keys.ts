/** A Slack ts, `numeric(16,6)`: compares as a number and comes back as a string with six decimals. */
export type SlackTs = string;

/** Identifies a thread; `thread_ts` is the ts of its first message. */
export interface ThreadKey {
  workspace: string;
  channel: string;
  thread_ts: SlackTs;
}

/** A thread's key as text: the queue's singleton key, and the name of the thread's advisory lock. */
export function threadKeyText({ workspace, channel, thread_ts }: ThreadKey): string {
  return `${workspace}/${channel}/${thread_ts}`;
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
  account_id: string;
}
