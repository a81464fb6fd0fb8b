import type { ThreadMessage } from '../../slack/message-history.ts';
import type { ThreadKey } from '../../store/keys.ts';
import type { MessageContent, SlackTs } from '../../store/schema.ts';
import type { StopOutcome } from './control-types.ts';

/** A message that a person wrote in Slack, as far as it may concern us. */
export interface IncomingMessage {
  workspace: string;
  channel: string;
  ts: SlackTs;
  /** The thread's root; the message itself where it stands at the top. */
  root: SlackTs;
  person: string;
  content: MessageContent;
}

/** What a Slack event means to us. */
export type InboxEvent =
  | { kind: 'message'; message: IncomingMessage }
  /** A person changed the words of a message. */
  | { kind: 'edit'; message: IncomingMessage; editedTs: SlackTs }
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

/** What became of an arrival. */
export type InboxOutcome =
  /** `waits`: behind others; `held`: what waits in its thread is held since a stop. */
  | { kind: 'admitted'; thread: ThreadKey; isQueued: boolean; isPaused: boolean }
  /** Known already: the other copy of a mention, or a redelivery. */
  | { kind: 'known' }
  /** A reply in a thread that is not ours: its ids are kept for ten minutes. */
  | { kind: 'stray' }
  /** The word stop. `first`: it was not heard before. */
  | { kind: 'stop_said'; thread: ThreadKey; outcome: StopOutcome; isFirst: boolean }
  | { kind: 'reworded' }
  | { kind: 'withdrawn' }
  /** Changed after it was sent. */
  | { kind: 'too_late'; change: 'edit' | 'deletion' }
  /** A channel's new name is noted for its project. */
  | { kind: 'renamed' }
  | { kind: 'ignored'; why: string };

/** Whether a channel is a direct one, between two: Slack gives those ids that begin with D. */
export function isDirectChannel(channel: string): boolean {
  return channel.startsWith('D');
}

/** Whether an id is that of a bot or workflow. People's ids never begin with B. */
export function isBotId(id: string): boolean {
  return id.startsWith('B');
}

/** Whether a ts comes before another. */
export function isEarlierTs(ts: SlackTs, than: SlackTs): boolean {
  return compareTs(ts, than) < 0;
}

/** Negative where the first ts is earlier. Compares seconds, then the six decimals: a float cannot hold both. */
export function compareTs(one: SlackTs, other: SlackTs): number {
  const [seconds = '', fraction = ''] = one.split('.');
  const [otherSeconds = '', otherFraction = ''] = other.split('.');
  return (
    Number(seconds) - Number(otherSeconds) ||
    Number(fraction.padEnd(6, '0')) - Number(otherFraction.padEnd(6, '0'))
  );
}

/** Subtypes of messages that people write. */
const USER_MESSAGE_SUBTYPES = new Set([undefined, 'file_share', 'thread_broadcast', 'me_message']);

/** Whether people write messages of this subtype. */
export function isUserMessageSubtype(subtype: string | undefined): boolean {
  return USER_MESSAGE_SUBTYPES.has(subtype);
}

/** What a message says, as it is kept. */
export function messageContent({
  text = '',
  blocks,
  files,
}: Pick<ThreadMessage, 'text' | 'blocks' | 'files'>): MessageContent {
  return { text, ...(blocks && { blocks }), ...(files && { files }) };
}
