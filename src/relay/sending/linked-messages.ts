import { anySignal, unlessAborted, valueIf } from '../../calls/retries-and-waits.ts';
import type { FileReason } from '../../render/strings/index.ts';
import type { ChannelMembership } from '../../slack/channel-membership.ts';
import type { SlackDirectory } from '../../slack/directory.ts';
import {
  ChannelGoneError,
  isAccessNotGranted,
  isPermanentRefusal,
  MessageGoneError,
  retryTransient,
  SlackError,
} from '../../slack/errors.ts';
import type { NewestMessages, ThreadMessage } from '../../slack/message-history.ts';
import type { FileNote, Message, SlackTs } from '../../store/schema.ts';
import { closingAt } from '../access/access-policy.ts';
import { authoredBlocksOf, type ParsedMessage, parseMessage } from '../reading/message-parser.ts';
import { inlinesOf } from '../reading/parsed-blocks.ts';
import type { ChannelActor } from '../runtime/control-request.ts';
import type { ThreadWork } from '../runtime/deps.ts';
import { isDirectChannel, WORKFLOW_STEP } from '../runtime/incoming-message.ts';
import { throwIfInterrupted } from '../runtime/lease.ts';

const MAX_LINKS = 3;

/** A message that the question links to, with the replies to it. */
export interface LinkedMessage {
  readonly url: string;
  /** The name of its channel, if that is known and is not where the question was asked. */
  readonly channelName: string | undefined;
  readonly message: ParsedMessage;
  readonly replies: readonly ParsedMessage[];
  readonly missing: NewestMessages['missing'];
  /** How many replies there are of which none was read. */
  readonly unreadReplies: number;
}

/** What the links of a message lead to. Only what goes into the prompt is stored. */
export interface LinkedMessages {
  read: readonly LinkedMessage[];
  /** A note for each link that was not followed, with the reason. */
  notes: readonly FileNote[];
}

export const NO_LINKS: LinkedMessages = { read: [], notes: [] };

/** How long (ms) the words of a linked message count once they were read: longer for an app that may read once a minute. */
export function linkAgeMs({ deps, workspace }: ThreadWork): number {
  return workspace.readBack.isDistributed ? 4 * deps.settings.linkAgeMs : deps.settings.linkAgeMs;
}

/**
 * The Slack messages that a waiting message links to, each with the thread that it may begin. Only the words
 * of the person count: not what a quotation or the agent says. Throws no SlackError: what cannot be read in
 * time gets a note. Throws the reason of `stopSignal`, and what interrupts the turn.
 */
export async function readLinkedMessages(
  work: ThreadWork,
  message: Message & { parts: readonly Message[] },
  stopSignal: AbortSignal,
): Promise<LinkedMessages> {
  const links = message.parts.flatMap(({ content }) => messageLinksIn(parseMessage(content)));
  if (links.length === 0) return NO_LINKS;
  const interrupt = anySignal([work.lease.signal, work.lease.draining, stopSignal]);
  const follow = async (link: MessageLink, index: number): Promise<LinkedMessage | FileReason> =>
    index < MAX_LINKS ? followLink(work, message, link, interrupt) : 'link_too_many';
  // A read that is interrupted throws the signal's reason. The turn must get the Interruption in its place.
  const outcomes = await Promise.all(links.map(follow)).finally(() => throwIfInterrupted(work.lease));
  const read = outcomes.flatMap((outcome) => (typeof outcome === 'string' ? [] : [outcome]));
  const notes = outcomes.flatMap((outcome, index) =>
    typeof outcome === 'string' ? [{ name: links[index]?.url ?? '', reason: outcome }] : [],
  );
  return { read, notes };
}

/** Reads the message that a link leads to, with its thread and its channel's name, or says why not. */
async function followLink(
  work: ThreadWork,
  message: Message,
  link: MessageLink,
  interrupt: AbortSignal,
): Promise<LinkedMessage | FileReason> {
  const { workspace, deps } = work;
  const { linkMs } = deps.settings;
  const { url, channel } = link;
  try {
    const attempt = (signal: AbortSignal) => retryTransient(() => readIfAllowed(work, message, link, signal));
    const linked = (await withinMs(linkMs, interrupt, attempt)) ?? 'link_late';
    if (typeof linked === 'string') return linked;
    // The message counts as read even if its channel's name and its thread are not known in time.
    const readChannel = (signal: AbortSignal) => workspace.people.channel(channel, signal);
    const readingChannel = channel === message.channel ? undefined : withinMs(linkMs, interrupt, readChannel);
    const readThread = (signal: AbortSignal) => readReplies(work, message, link, linked, signal);
    const readingThread = withinMs(linkMs, interrupt, readThread).catch((err: unknown) => {
      deps.log.info({ err, channel }, 'the thread of a linked message was not read');
      return undefined;
    });
    const [linkedChannel, thread] = await Promise.all([readingChannel, readingThread]);
    interrupt.throwIfAborted();
    const replies = thread?.messages.filter(({ ts }) => ts !== link.ts) ?? [];
    return {
      url,
      channelName: linkedChannel?.name,
      message: parseMessage(linked),
      replies: replies.map(parseMessage),
      missing: thread?.missing,
      unreadReplies: thread === undefined ? (linked.reply_count ?? 0) : 0,
    };
  } catch (error) {
    interrupt.throwIfAborted();
    if (!(error instanceof SlackError)) throw error;
    deps.log.info({ workspace: workspace.id, channel, err: error }, 'a linked message was not read');
    if (error instanceof MessageGoneError) return 'link_gone';
    const isHidden =
      error instanceof ChannelGoneError || isPermanentRefusal(error) || isAccessNotGranted(error);
    return isHidden ? 'link_hidden' : 'link_late';
  }
}

/** Reads a linked message, or says why it may not be read or is not there. */
async function readIfAllowed(
  { workspace, deps }: ThreadWork,
  message: Message,
  { channel, ts, threadTs }: MessageLink,
  signal: AbortSignal,
): Promise<ThreadMessage | FileReason> {
  const isElsewhere = channel !== message.channel;
  if (isElsewhere && (await closingAt(deps, { workspace: workspace.id, channel }, signal)) !== undefined)
    return 'link_closed';
  const denial = await linkDenialFor(workspace, { ...message, person: message.user_id }, channel);
  if (denial !== undefined) return denial;
  const linked = await workspace.readBack.message({ channel, threadTs, ts, signal });
  if (linked !== undefined) return linked.subtype === 'tombstone' ? 'link_gone' : linked;
  // A reply is only found with its thread.
  return threadTs === undefined ? 'link_incomplete' : 'link_gone';
}

/** The newest replies to a linked message from before the question; undefined if there are none, or none are read. */
async function readReplies(
  { workspace: { readBack }, deps: { settings } }: ThreadWork,
  question: Message,
  { channel, ts }: MessageLink,
  { reply_count: replyCount = 0 }: ThreadMessage,
  signal: AbortSignal,
): Promise<NewestMessages | undefined> {
  // A distributed app may read once a minute: it does without the replies.
  if (replyCount === 0 || readBack.isDistributed) return undefined;
  const range = { oldest: ts, before: question.ts, count: settings.maxTranscriptMessages };
  return await readBack.newestBefore({ channel, threadTs: ts, ...range, isWanted: () => true, signal });
}

/** What `read` returns within this time (ms), undefined if it takes longer. Throws the reason of `interrupt`. */
async function withinMs<T>(ms: number, interrupt: AbortSignal, read: (signal: AbortSignal) => Promise<T>) {
  const late = AbortSignal.timeout(ms);
  const signal = anySignal([interrupt, late]);
  return unlessAborted(read(signal), signal).catch(valueIf(undefined, () => late.aborted));
}

export interface MessageLink {
  /** Its address, without what follows a question mark. */
  readonly url: string;
  readonly channel: string;
  readonly ts: SlackTs;
  /** The root of its thread, if it is a reply and the link names it: without it, a reply is not found. */
  readonly threadTs: SlackTs | undefined;
}

/** A permalink (https://docs.slack.dev/reference/methods/chat.getPermalink), and a thread in a browser. */
const ADDRESSES = [
  /(https:\/\/[a-z0-9.-]+\.slack(?:-gov)?\.com\/archives\/([CDG][A-Z0-9]{2,})\/p(\d{10})(\d{6}))(?:\?(\S*))?/g,
  /(https:\/\/app\.slack(?:-gov)?\.com\/client\/[A-Z0-9]+\/[A-Z0-9]+\/thread\/([CDG][A-Z0-9]{2,})-(\d{10})\.(\d{6}))/g,
];

/** The Slack messages that the writer's own words link to, each once; not those in quotations and code. */
export function messageLinksIn(message: ParsedMessage): MessageLink[] {
  const unquoted = authoredBlocksOf(message).filter(({ kind }) => !kind.startsWith('quoted_'));
  const links = new Map<string, MessageLink>();
  for (const piece of inlinesOf(unquoted)) {
    if (piece.style.code === true || (piece.kind !== 'link' && piece.kind !== 'text')) continue;
    const words = piece.kind === 'link' ? piece.url : piece.text;
    const matches = ADDRESSES.flatMap((address) => [...words.matchAll(address)]);
    for (const [, url = '', channel = '', seconds, fraction, query = ''] of matches) {
      const ts = `${seconds}.${fraction}`;
      const [, root] = /(?:^|&)thread_ts=(\d{10}\.\d{6})/.exec(query) ?? [];
      const threadTs = root === ts ? undefined : root;
      const earlier = links.get(`${channel}/${ts}`);
      // Of two links to a reply, the one that names its thread counts.
      if (earlier === undefined || (earlier.threadTs === undefined && threadTs !== undefined))
        links.set(`${channel}/${ts}`, { url, channel, ts, threadTs });
    }
  }
  return [...links.values()];
}

/** What tells who may open what in Slack now. */
export interface Witnesses {
  people: Pick<SlackDirectory, 'channelNow' | 'isElsewhere' | 'personNow' | 'areInsiders'>;
  membership: Pick<ChannelMembership, 'statusOf' | 'membersOf'>;
}

/**
 * Why a message that somebody links to must not be read; undefined if it may be. Nobody gets to read more than
 * they may open themselves, and unknown means no. A message may be read
 * - in the conversation that it is from;
 * - in the asker's direct message, if they are a member of that conversation;
 * - elsewhere, if it is from a public channel, neither place is shared with another organisation, and everybody
 *   in the asking place is a full member.
 *
 * Nothing is read for a step of a workflow, whose answer may go anywhere, nor from another workspace of the
 * organisation: its admins decide where the bot reads. Throws a SlackError if Slack is unavailable.
 */
export async function linkDenialFor(
  { people, membership }: Witnesses,
  asked: ChannelActor,
  linkedChannel: string,
): Promise<FileReason | undefined> {
  if (asked.person === WORKFLOW_STEP) return 'link_workflow';
  if (linkedChannel === asked.channel) return undefined;
  const isDirect = isDirectChannel(asked.channel);
  if (isDirect && (await membership.statusOf(linkedChannel, asked.person)) === 'member')
    return (await people.isElsewhere(linkedChannel)) ? 'link_elsewhere' : undefined;
  const { kind, isExtShared } = await people.channelNow(linkedChannel);
  if (kind === 'unknown') return 'link_hidden';
  if (kind === 'elsewhere') return 'link_elsewhere';
  if (kind !== 'public') return isDirect ? 'link_outsider' : 'link_private';
  if (isExtShared !== false) return 'link_shared';
  if (isDirect) return (await people.personNow(asked.person)).kind === 'member' ? undefined : 'link_outsider';
  if ((await people.channelNow(asked.channel)).isExtShared !== false) return 'link_shared';
  const readers = await membership.membersOf(asked.channel);
  return readers !== undefined && (await people.areInsiders(readers)) ? undefined : 'link_shared';
}
