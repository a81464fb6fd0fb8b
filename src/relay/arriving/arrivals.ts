import type { ThreadMessage } from '../../slack/read-back.ts';
import type { SlackTs, Words } from '../../store/tables.ts';

/** A message that a person wrote in Slack, as far as it may concern us. */
export interface PersonMessage {
  workspace: string;
  channel: string;
  /** im: a direct message; mpim: a group's; unknown where Slack did not say. */
  channelKind: 'channel' | 'group' | 'im' | 'mpim' | 'unknown';
  ts: SlackTs;
  /** The thread's root; the message itself where it stands at the top. */
  root: SlackTs;
  person: string;
  words: Words;
}

/** What a Slack event means to us. */
export type Arrival =
  | { kind: 'message'; message: PersonMessage }
  /** A person changed the words of a message. */
  | { kind: 'edit'; message: PersonMessage; editedTs: SlackTs }
  | {
      kind: 'deletion';
      workspace: string;
      channel: string;
      ts: SlackTs;
      root: SlackTs;
      person: string | undefined;
    }
  /** A channel has a new name or purpose. */
  | { kind: 'renaming'; workspace: string; channel: string }
  /** Nothing that concerns us; `why` is for the log. */
  | { kind: 'silence'; why: string };

/** Whether a channel is a direct one, between two: Slack gives those ids that begin with D. */
export function isDirect(channel: string): boolean {
  return channel.startsWith('D');
}

/** Whether a ts comes before another: they compare as numbers with six decimals, which a float cannot hold. */
export function isEarlier(ts: SlackTs, than: SlackTs): boolean {
  return micros(ts) < micros(than);
}

function micros(ts: SlackTs): bigint {
  const [seconds = '', fraction = ''] = ts.split('.');
  return BigInt(seconds + fraction.padEnd(6, '0'));
}

/** Subtypes of messages that people write. */
const written = new Set([undefined, 'file_share', 'thread_broadcast', 'me_message']);

/** Whether people write messages of this subtype. */
export function isWritten(subtype: string | undefined): boolean {
  return written.has(subtype);
}

/** What a message says, as it is kept. */
export function wordsIn({
  text = '',
  blocks,
  files,
}: Pick<ThreadMessage, 'text' | 'blocks' | 'files'>): Words {
  return { text, ...(blocks && { blocks }), ...(files && { files }) };
}
