import * as strings from '../../render/strings/index.ts';
import type { HistoryPage, ThreadMessage } from '../../slack/message-history.ts';
import { CHANNEL_LEVEL } from '../../store/jobs/jobs.ts';
import type { Job } from '../../store/schema.ts';
import { readMentions } from '../reading/addressing.ts';
import { isPersonsMessage, parseMessage } from '../reading/message-parser.ts';
import type { ChannelActor } from '../runtime/control-request.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import {
  type InboxEvent,
  type InboxOutcome,
  type IncomingMessage,
  isEarlierTs,
  messageContent,
} from '../runtime/incoming-message.ts';
import { trySendEphemeral } from '../runtime/private-messages.ts';
import { transientFailure } from '../runtime/retry.ts';
import type { Inbox } from './inbox.ts';

/** What handing messages that were read back to the inbox takes. */
export interface BackfillDeps {
  deps: RelayDeps;
  inbox: Pick<Inbox, 'accept'>;
  /** Called with each message's outcome, as for a message that Slack delivered. */
  onOutcome: (outcome: InboxOutcome, event: ChannelActor & { ts: string }) => void;
}

/** Which messages of a place are read back. */
export interface WantedMessages {
  /** Nothing before it is missing. */
  since_ts: string;
  /** Other messages than mentions are not for the bot. */
  mentions_only?: boolean | undefined;
  /** Only the message at `since_ts`: the inbox refused it, and the rest of its place went on without it. */
  is_single?: boolean | undefined;
}

/** Applies the edits of waiting messages, and the deletions that left a tombstone; returns which messages the page lacks. */
export async function applyChanges(
  backfill: BackfillDeps,
  workspace: WorkspaceClient,
  job: Job,
  { messages }: HistoryPage,
  waiting: readonly string[],
): Promise<string[]> {
  const unseen = new Set(waiting);
  for (const read of messages) {
    if (!unseen.delete(read.ts)) continue;
    const message = read.edited && toIncomingMessage(workspace, job.channel, read);
    if (read.subtype === 'tombstone') await withdraw(backfill, workspace, job, read.ts);
    else if (message !== undefined && read.edited !== undefined)
      await acceptChange(backfill, workspace, { kind: 'edit', message, editedTs: read.edited.ts }, message);
  }
  return [...unseen];
}

/** Withdraws a waiting message that was deleted in Slack. */
export async function withdraw(
  backfill: BackfillDeps,
  workspace: WorkspaceClient,
  { channel, thread_ts }: Job,
  ts: string,
): Promise<void> {
  const at = { workspace: workspace.id, channel, thread_ts, ts };
  const deletion = { kind: 'deletion', ...at, person: undefined } as const;
  const outcome = await acceptChange(backfill, workspace, deletion, { ...at, person: '' });
  if (outcome?.kind === 'withdrawn') backfill.deps.log.info(at, 'a waiting message was deleted in Slack');
}

/** Hands the change of a waiting message to the inbox. One that it refuses leaves that message as it was. */
async function acceptChange(...change: Parameters<typeof accept>): Promise<InboxOutcome | undefined> {
  try {
    return await accept(...change);
  } catch (error) {
    if (transientFailure(error) !== undefined) throw error;
    const [{ deps }, { id: workspace }, , { channel, ts }] = change;
    deps.log.error({ workspace, channel, ts, err: error }, 'the change of a waiting message is lost');
    return undefined;
  }
}

/** Hands an event to the inbox, and its outcome on. */
async function accept(
  { inbox, onOutcome }: BackfillDeps,
  { id, bot }: WorkspaceClient,
  event: InboxEvent,
  { channel, ts, person }: Omit<ChannelActor, 'workspace'> & { ts: string },
): Promise<InboxOutcome> {
  const outcome = await inbox.accept(event, bot);
  onOutcome(outcome, { workspace: id, channel, ts, person });
  return outcome;
}

/** Hands a page's messages to the inbox. One that it refuses becomes a place of its own, which is tried again. */
export async function takeIn(
  backfill: BackfillDeps,
  workspace: WorkspaceClient,
  job: Job,
  wanted: WantedMessages,
  page: HistoryPage,
  signal: AbortSignal,
): Promise<void> {
  const { store, log } = backfill.deps;
  const { channel } = job;
  let recovered = 0;
  let hasFailed = false;
  for (const { message, hasReplies } of peoplesMessages(workspace, job, wanted, page)) {
    signal.throwIfAborted();
    try {
      const outcome = await accept(backfill, workspace, { kind: 'message', message }, message);
      const { ts, thread_ts } = message;
      if (outcome.kind === 'admitted') recovered += 1;
      // The thread was unknown when the gap was recorded, so its replies are missing, too.
      const isOurs = outcome.kind === 'admitted' || outcome.kind === 'known';
      if (isOurs && hasReplies)
        await store.backfills.addThread({ workspace: workspace.id, channel, thread_ts }, ts);
    } catch (error) {
      const isLasting = transientFailure(error) === undefined;
      // One statement may take too long by itself; two in a page are an outage.
      if (signal.aborted || wanted.is_single === true || (!isLasting && hasFailed)) throw error;
      hasFailed ||= !isLasting;
      await passOver(backfill.deps, message, error);
    }
  }
  if (recovered > 0) log.info({ workspace: workspace.id, channel, recovered }, 'recovered missed messages');
}

/** Has a message tried again by itself. In an outage, this throws a StoreError: then all wait. */
async function passOver(deps: RelayDeps, message: IncomingMessage, error: unknown): Promise<void> {
  const { workspace, channel, thread_ts, ts, person } = message;
  const isNew = await deps.store.backfills.addMessage({ workspace, channel, thread_ts }, ts);
  deps.log.warn({ workspace, channel, thread_ts, ts, err: error }, 'a message read back cannot be recorded');
  if (!isNew || transientFailure(error) !== undefined) return;
  const threadTs = thread_ts === ts ? undefined : thread_ts;
  trySendEphemeral(deps, { workspace, channel, person, threadTs }, strings.messageGivenUp);
}

/** People's messages of a page, oldest first. */
function peoplesMessages(
  workspace: WorkspaceClient,
  { channel, thread_ts }: Job,
  { since_ts, mentions_only: onlyMentions = false, is_single: isSingle = false }: WantedMessages,
  { messages }: HistoryPage,
): { message: IncomingMessage; hasReplies: boolean }[] {
  const isChannel = thread_ts === CHANNEL_LEVEL;
  const found = messages.flatMap((read) => {
    const message = isEarlierTs(read.ts, since_ts) ? undefined : toIncomingMessage(workspace, channel, read);
    if (onlyMentions && !readMentions(parseMessage(read), workspace.bot.userId).mentionsBot) return [];
    const hasReplies = (isChannel || isSingle) && (read.reply_count ?? 0) > 0;
    return message === undefined ? [] : [{ message, hasReplies }];
  });
  return isChannel ? found.reverse() : found;
}

function toIncomingMessage(
  workspace: WorkspaceClient,
  channel: string,
  read: ThreadMessage,
): IncomingMessage | undefined {
  const { ts, user, bot_id } = read;
  const isPersons = user !== workspace.bot.userId && bot_id === undefined && isPersonsMessage(read);
  if (user === undefined || !isPersons) return undefined;
  return {
    workspace: workspace.id,
    channel,
    ts,
    thread_ts: read.thread_ts ?? ts,
    person: user,
    content: messageContent(read),
  };
}
