import { z } from 'zod';
import { MessageGoneError, SlackError } from '../../slack/errors.ts';
import type { HistoryPage, ThreadMessage } from '../../slack/message-history.ts';
import { CHANNEL_LEVEL } from '../../store/jobs/jobs.ts';
import type { Job } from '../../store/schema.ts';
import { BACKFILL_JOB } from '../../store/slack/backfills.ts';
import { readMentions } from '../reading/mentions.ts';
import { isPersonsMessage, parseMessage } from '../reading/message-parser.ts';
import type { ChannelActor } from '../runtime/actors.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import {
  type InboxEvent,
  type InboxOutcome,
  type IncomingMessage,
  isEarlierTs,
  messageContent,
} from '../runtime/incoming-message.ts';
import type { JobKind, JobOutcome } from '../runtime/job-runner.ts';
import { transientFailure } from '../runtime/retry.ts';
import type { Inbox } from './inbox.ts';

/** Reading for a lost post, or for the messages before a question, goes first. */
const LOWEST_PRIORITY = { order: 9, since: 0 };
/** How long a page may wait for the rate limit (ms): a distributed app has one call a minute. */
const MAX_PERMIT_WAIT_MS = 75_000;

/** A place without messages: a thread whose root was deleted. */
const EMPTY_PAGE: HistoryPage = { messages: [], nextCursor: undefined };

/** The messages that waited when the gap was recorded: they may have been edited or deleted in it. */
const waitingSchema = z.object({
  /** The earliest of them. */
  oldest_ts: z.string(),
  /** Those that no page had so far. */
  unseen: z.array(z.string()),
  /** Until then, nothing that waits in the thread is sent (Unix s, by the database's clock). */
  held_until: z.number(),
  /** The thread was read to its end without them. */
  is_second_look: z.boolean().optional(),
});
type Waiting = z.infer<typeof waitingSchema>;

/** Nothing before `since_ts` is missing; `cursor`: the next page; `mentions_only`: other messages are not for the bot. */
const placeSchema = z.object({
  since_ts: z.string(),
  cursor: z.string().optional(),
  /** It was read from its beginning again, because Slack refused a cursor. */
  was_restarted: z.boolean().optional(),
  mentions_only: z.boolean().optional(),
  waiting: waitingSchema.optional(),
});
type Place = z.infer<typeof placeSchema>;

export interface BackfillDeps {
  deps: RelayDeps;
  inbox: Pick<Inbox, 'accept'>;
  /** Called with each message's outcome, as for a message that Slack delivered. */
  onOutcome: (outcome: InboxOutcome, event: ChannelActor & { ts: string }) => void;
}

/**
 * Jobs that read the messages of a gap in receiving, of one thread or channel each: the newest thread first, a page at a
 * time. The inbox ignores messages that it has; edits and deletions of messages that wait are applied. A message counts as
 * deleted if a tombstone stands in its place, or if the whole thread lacks it twice, `lookAgainMs` apart.
 */
export function backfillJobs(backfill: BackfillDeps): JobKind {
  return {
    kind: BACKFILL_JOB,
    share: 1,
    timeoutMs: 2 * 60_000,
    giveUpAfterMs: 3 * 24 * 60 * 60_000,
    onGivenUp: 'counted',
    perform: (job, { signal }) => readPlace(backfill, job, signal),
  };
}

async function readPlace(backfill: BackfillDeps, job: Job, signal: AbortSignal): Promise<JobOutcome> {
  const { deps } = backfill;
  const workspace = deps.workspace(job.workspace);
  if (workspace === undefined) return 'later';
  const place = placeSchema.parse(job.payload);
  const { cursor, waiting } = place;
  try {
    const page = await readPage(workspace, job, place, signal);
    if (page === undefined) return 'later';
    const unseen = await applyChanges(backfill, workspace, job, page, waiting?.unseen ?? []);
    await takeIn(backfill, workspace, job, peoplesMessages(workspace, job, place, page), signal);
    const left = waiting && { ...waiting, unseen };
    // A repeated cursor leads nowhere, and the rest of the place stays unknown.
    if (cursor !== undefined && page.nextCursor === cursor) return 'done';
    if (page.nextCursor === undefined) return await atTheEnd(backfill, workspace, job, place, left);
    return { inMs: 0, payload: { ...place, waiting: left, cursor: page.nextCursor } };
  } catch (error) {
    if (signal.aborted || !(error instanceof SlackError) || transientFailure(error) !== undefined)
      throw error;
    const { channel, thread_ts } = job;
    deps.log.warn({ workspace: workspace.id, channel, thread_ts, err: error }, 'backfill of a thread failed');
    // Slack may have forgotten the cursor, but not twice; without one, it refuses the place.
    const isRefused = cursor === undefined || place.was_restarted === true;
    return isRefused ? 'done' : { inMs: 0, payload: { ...place, cursor: undefined, was_restarted: true } };
  }
}

/** A page of a thread or a channel; undefined if the rate limit allows none for now. */
async function readPage(
  { readBack }: WorkspaceClient,
  { channel, thread_ts }: Job,
  { since_ts, cursor, waiting }: Place,
  signal: AbortSignal,
): Promise<HistoryPage | undefined> {
  const threadTs = thread_ts === CHANNEL_LEVEL ? undefined : thread_ts;
  const oldest = waiting && isEarlierTs(waiting.oldest_ts, since_ts) ? waiting.oldest_ts : since_ts;
  const request = { channel, threadTs, oldest, cursor, signal, priority: () => LOWEST_PRIORITY };
  try {
    return await readBack.tryPage(request, MAX_PERMIT_WAIT_MS);
  } catch (error) {
    if (error instanceof MessageGoneError) return EMPTY_PAGE;
    throw error;
  }
}

/** Applies the edits of waiting messages, and the deletions that left a tombstone; returns which messages the page lacks. */
async function applyChanges(
  backfill: BackfillDeps,
  workspace: WorkspaceClient,
  job: Job,
  { messages }: HistoryPage,
  waiting: Waiting['unseen'],
): Promise<Waiting['unseen']> {
  const unseen = new Set(waiting);
  for (const read of messages) {
    if (!unseen.delete(read.ts)) continue;
    const message = read.edited && toIncomingMessage(workspace, job.channel, read);
    if (read.subtype === 'tombstone') await withdraw(backfill, workspace, job, read.ts);
    else if (message !== undefined && read.edited !== undefined)
      await accept(backfill, workspace, { kind: 'edit', message, editedTs: read.edited.ts }, message);
  }
  return [...unseen];
}

/** The place was read to its end: waiting messages that it lacks are looked for once more, then count as deleted. */
async function atTheEnd(
  backfill: BackfillDeps,
  workspace: WorkspaceClient,
  job: Job,
  { since_ts }: Place,
  waiting: Waiting | undefined,
): Promise<JobOutcome> {
  if (waiting === undefined || waiting.unseen.length === 0) return 'done';
  const { lookAgainMs } = backfill.deps.settings;
  if (waiting.is_second_look !== true) {
    const held_until = waiting.held_until + lookAgainMs / 1_000;
    const again = { ...waiting, held_until, is_second_look: true };
    return { inMs: lookAgainMs, payload: { since_ts, waiting: again } };
  }
  for (const ts of waiting.unseen) await withdraw(backfill, workspace, job, ts);
  return 'done';
}

async function withdraw(
  backfill: BackfillDeps,
  workspace: WorkspaceClient,
  { channel, thread_ts }: Job,
  ts: string,
): Promise<void> {
  const at = { workspace: workspace.id, channel, thread_ts, ts };
  const outcome = await accept(
    backfill,
    workspace,
    { kind: 'deletion', ...at, person: undefined },
    { ...at, person: '' },
  );
  if (outcome.kind === 'withdrawn') backfill.deps.log.info(at, 'a waiting message was deleted in Slack');
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

/** Hands messages to the inbox. */
async function takeIn(
  backfill: BackfillDeps,
  workspace: WorkspaceClient,
  { channel }: Job,
  messages: readonly { message: IncomingMessage; hasReplies: boolean }[],
  signal: AbortSignal,
): Promise<void> {
  const { store, log } = backfill.deps;
  let recovered = 0;
  for (const { message, hasReplies } of messages) {
    signal.throwIfAborted();
    const outcome = await accept(backfill, workspace, { kind: 'message', message }, message);
    const { ts, thread_ts } = message;
    if (outcome.kind === 'admitted') recovered += 1;
    // The thread was unknown when the gap was recorded, so its replies are missing, too.
    const isOurs = outcome.kind === 'admitted' || outcome.kind === 'known';
    if (isOurs && hasReplies)
      await store.backfills.addThread({ workspace: workspace.id, channel, thread_ts }, ts);
  }
  if (recovered > 0) log.info({ workspace: workspace.id, channel, recovered }, 'recovered missed messages');
}

/** People's messages of a page, oldest first. */
function peoplesMessages(
  workspace: WorkspaceClient,
  { channel, thread_ts }: Job,
  { since_ts, mentions_only: onlyMentions = false }: Place,
  { messages }: HistoryPage,
): { message: IncomingMessage; hasReplies: boolean }[] {
  const isChannel = thread_ts === CHANNEL_LEVEL;
  const found = messages.flatMap((read) => {
    const message = isEarlierTs(read.ts, since_ts) ? undefined : toIncomingMessage(workspace, channel, read);
    if (onlyMentions && !readMentions(parseMessage(read), workspace.bot.userId).mentionsBot) return [];
    return message === undefined ? [] : [{ message, hasReplies: isChannel && (read.reply_count ?? 0) > 0 }];
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
