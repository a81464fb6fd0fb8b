import type { closedPlaces } from '../../render/strings/index.ts';
import type { ThreadMessage } from '../../slack/message-history.ts';
import { keptParts } from '../../slack/slack-message.ts';
import type { MessageContent, SlackTs, ThreadKey } from '../../store/schema.ts';
import type { ChannelActor, StopOutcome } from './control-request.ts';

/** A message that a person or an app wrote in Slack. */
export interface IncomingMessage extends ThreadKey, ChannelActor {
  ts: SlackTs;
  content: MessageContent;
  /** Its last edit. */
  editedTs?: SlackTs | undefined;
  /** Whether the channel is a group message, where Slack says. */
  isGroup?: boolean;
  /** Slack says that it mentions the bot, which may have another id in the text. Such a copy may lack files. */
  isMention?: boolean;
  /** The id that its client gave it: two messages that a client sends for one have the same. */
  clientId?: string | undefined;
  /** Slack says that it shares its files, and repeats none. */
  sharesFiles?: boolean;
}

/** A message as an event shows it after a change. */
export interface ChangedMessage {
  message: IncomingMessage;
  /** Its last edit. */
  editedTs: SlackTs | null;
  /** Its earlier content, if Slack says. */
  before?: MessageContent | undefined;
}

/** What a Slack event means for the inbox. */
export type InboxEvent =
  | { kind: 'message'; message: IncomingMessage }
  /** A person edited a message (`edit`), or Slack shows more of it than before without an edit of it. */
  | ({ kind: 'edit' | 'version' } & ChangedMessage)
  | (ThreadKey & { kind: 'deletion'; ts: SlackTs; person: string | undefined; isGroup?: boolean })
  /** A channel has a new name or purpose, Slack has deleted it, or the bot has joined it. */
  | { kind: 'renaming' | 'channel_deletion' | 'joining'; workspace: string; channel: string }
  /** Slack has given a channel another id. */
  | { kind: 'move'; workspace: string; from: string; channel: string }
  /** Nothing for the inbox; `why` is for the log. */
  | { kind: 'ignored'; why: string };

/** What the inbox did with an event. */
export type InboxOutcome =
  /** `isQueued`: it waits behind other messages; `isPaused`: the messages of its thread are paused since a stop. */
  | { kind: 'admitted'; thread: ThreadKey; isQueued: boolean; isPaused: boolean }
  /** Accepted before: the other copy of a mention, or a redelivery. */
  | { kind: 'known' }
  /** An orphan reply, in a thread that is not ours or from before it was: its ids are kept for ten minutes. */
  | { kind: 'orphan' }
  /** A reply in a thread of ours that is for people: only its ids are kept. */
  | { kind: 'unsent'; thread: ThreadKey }
  /** A message to the bot where it does not answer: nothing is kept of it. */
  | { kind: 'closed'; thread: ThreadKey; by: keyof typeof closedPlaces }
  /** The stop word; `isFirst`: this copy of the message is the first one. */
  | { kind: 'stop_said'; thread: ThreadKey; outcome: StopOutcome; isFirst: boolean }
  | { kind: 'reworded' }
  | { kind: 'withdrawn' }
  /** Edited or deleted after it was sent. */
  | { kind: 'too_late'; change: 'edit' | 'deletion' }
  /** What is stored of a channel follows its new name or id, its deletion, or that the bot joined it. */
  | { kind: 'recorded' }
  | { kind: 'ignored'; why: string };

/** What an event was: `stop` by a reaction or Slack's own button, `step` of a workflow, or `other`. */
export type EventKind = Exclude<InboxEvent['kind'], 'ignored'> | 'stop' | 'step' | 'other';

/** What became of an event: in the inbox, of a stop, or of one that neither has seen. */
export type EventOutcome =
  | InboxOutcome['kind']
  | StopOutcome
  | 'not_installed'
  | 'uninstalled'
  | 'unrecordable'
  | 'failed';

/** Whether a channel is a direct message: Slack's ids of those begin with D. */
export function isDirectChannel(channel: string): boolean {
  return channel.startsWith('D');
}

/** Stands for the asker of a workflow's step: Slack names neither the person nor the workflow. No id of Slack's has a hyphen. */
export const WORKFLOW_STEP = 'B-WORKFLOW-STEP';

/** Whether an id is that of a bot or workflow. People's ids never begin with B. */
export function isBotId(id: string): boolean {
  return id.startsWith('B');
}

/** Whether a ts is earlier than another. */
export function isEarlierTs(ts: SlackTs, than: SlackTs): boolean {
  return compareTs(ts, than) < 0;
}

/** Negative if the first ts is earlier. A float tells microseconds apart until the year 2242. */
export function compareTs(one: SlackTs, other: SlackTs): number {
  return Number(one) - Number(other);
}

/** A message's content as it is stored. */
export function messageContent(
  message: Pick<ThreadMessage, 'text' | 'blocks' | 'files' | 'attachments'>,
): MessageContent {
  const { text, files } = message;
  return { text, ...keptParts(message), ...(files && { files }) };
}

/** The emoji on a message that waits for its turn, and on one that a run got while it worked: the run's reply goes on above it. */
export const WAITING_EMOJI = 'hourglass_flowing_sand';
export const TAKEN_EMOJI = 'arrow_up';
