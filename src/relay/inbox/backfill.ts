import { z } from 'zod';
import { neededFor } from '../../calls/askers.ts';
import * as strings from '../../render/strings/index.ts';
import { MessageGoneError, SlackError } from '../../slack/errors.ts';
import type { HistoryPage, ThreadMessage } from '../../slack/message-history.ts';
import { CHANNEL_LEVEL, JOB_KIND } from '../../store/jobs/jobs.ts';
import type { Job } from '../../store/schema.ts';
import type { Gap } from '../../store/slack/backfills.ts';
import { accessPolicyFor } from '../access/access-policy.ts';
import { mentionedIds } from '../reading/listening.ts';
import { asPersons, parseMessage, toIncomingMessage } from '../reading/message-parser.ts';
import type { ChannelActor } from '../runtime/control-request.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import {
  type InboxEvent,
  type InboxOutcome,
  type IncomingMessage,
  isDirectChannel,
  isEarlierTs,
} from '../runtime/incoming-message.ts';
import type { JobKind, JobOutcome } from '../runtime/job-runner.ts';
import type { Lease } from '../runtime/lease.ts';
import { trySendEphemeral } from '../runtime/private-notices.ts';
import { transientFailure } from '../runtime/retry-and-giving-up.ts';
import { postJobNotice } from '../runtime/unknown-outcome.ts';
import { mayHaveMoved } from '../runtime/unreachable-threads.ts';
import type { Inbox } from './inbox.ts';

/** How long a page may wait for the rate limit (ms): a distributed app has one call a minute. */
const MAX_PERMIT_WAIT_MS = 75_000;

/** Threads and channels that were active this long before a gap (ms) are read. */
const USED_BEFORE_MS = 24 * 60 * 60_000;
/** Threads that were active this long before a short gap (ms) are read; Slack redelivers what the others miss. */
const USED_BEFORE_SHORT_GAP_MS = 60 * 60_000;
/** Slack redelivers an event for a little over five minutes, so events from before the gap may be missing, too (ms). */
const REDELIVERY_MARGIN_MS = 10 * 60_000;
/** The top level of this many channels and direct messages is read, though used only this long before (ms). */
const QUIET_CHANNELS = { usedMs: 30 * 24 * 60 * 60_000, most: 100 };

/** What is read back after a gap in receiving. */
export function gapToRead(since: Date, isShort: boolean): Gap {
  return {
    since,
    threadsUsedMs: isShort ? USED_BEFORE_SHORT_GAP_MS : USED_BEFORE_MS,
    channelsUsedMs: USED_BEFORE_MS,
    quietChannels: isShort ? { usedMs: 0, most: 0 } : QUIET_CHANNELS,
    marginMs: REDELIVERY_MARGIN_MS,
    looksForWaiting: !isShort,
  };
}

/** A place without messages: a thread whose root was deleted. */
const EMPTY_PAGE: HistoryPage = { messages: [], nextCursor: undefined, isEndless: false };

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

/** What is read, and `cursor`: the next page. */
const placeSchema = z.object({
  /** Nothing before it is missing. */
  since_ts: z.string(),
  cursor: z.string().optional(),
  /** It was read from its beginning again, because Slack refused a cursor. */
  was_restarted: z.boolean().optional(),
  /** Other messages than mentions are not for the bot. */
  mentions_only: z.boolean().optional(),
  /** Only the message at `since_ts`: the inbox refused it, and the rest of its place went on without it. */
  is_single: z.boolean().optional(),
  /** Replies came before the mention that made the thread ours. */
  has_orphans: z.boolean().optional(),
  waiting: waitingSchema.optional(),
  /** Of a channel: the threads in use that no page has shown so far, which are read if they were spoken in since then. */
  roots: z.array(z.string()).optional(),
});
type Place = z.infer<typeof placeSchema>;

/**
 * Jobs that read back, of one thread or channel each, the messages of a gap in receiving, the replies that overtook a mention,
 * and the mentions before the bot joined: of a gap, the newest thread first, a page at a time. A channel with many threads in use shows which of them were spoken in: only these are read, before other places.
 * The inbox ignores messages that it has; edits and deletions of messages that wait are applied. A message counts as
 * deleted if a tombstone stands in its place, or if the whole thread lacks it twice, `lookAgainMs` apart.
 */
export function backfillJobs(backfill: BackfillDeps): JobKind {
  return {
    kind: JOB_KIND.backfill,
    share: 1,
    timeoutMs: 2 * 60_000,
    giveUpAfterMs: 3 * 24 * 60 * 60_000,
    perform: (job, lease) => readPlace(backfill, job, lease),
    onGivenUp: (job, lease) => tellIncomplete(backfill.deps, job, lease),
  };
}

/**
 * Tells a thread, or a direct message, that people may have written there in vain; a whole channel is not disturbed: the
 * threads that it was to show are read by themselves. Of replies that overtook a mention, only its writer is told.
 */
async function tellIncomplete(deps: RelayDeps, job: Job, lease: Lease): Promise<void> {
  const { roots = [], since_ts, has_orphans: hasOrphans } = placeSchema.parse(job.payload);
  if (hasOrphans === true) return await tellOrphansUnread(deps, job);
  for (const root of roots) await deps.store.backfills.addThread({ ...job, thread_ts: root }, since_ts);
  if (job.thread_ts === CHANNEL_LEVEL && !isDirectChannel(job.channel)) return;
  const key = `backfill/${since_ts}`;
  await postJobNotice(deps, job, lease, { key, text: strings.messagesNotRead });
}

async function tellOrphansUnread(deps: RelayDeps, job: Job): Promise<void> {
  const { workspace, channel, thread_ts: threadTs } = job;
  const person = (await deps.store.threads.get(job))?.started_by;
  if (person === undefined) return;
  trySendEphemeral(deps, { workspace, channel, threadTs, person }, strings.repliesUnread);
}

async function readPlace(backfill: BackfillDeps, job: Job, lease: Lease): Promise<JobOutcome> {
  const { deps } = backfill;
  const { signal } = lease;
  const workspace = deps.workspace(job.workspace);
  if (workspace === undefined) return 'later';
  const place = placeSchema.parse(job.payload);
  const { cursor, waiting } = place;
  try {
    const { allowedBots: askers } = await accessPolicyFor(deps, job);
    const work = { ...backfill, workspace, job, askers };
    const page = await readPage(workspace, job, place, signal);
    if (page === undefined) return 'later';
    const unseen = await applyChanges(work, page, waiting?.unseen ?? []);
    await takeIn(work, place, page, signal);
    const left = waiting && { ...waiting, unseen };
    const roots = await addSpokenIn(work, place, page);
    // The rest of the place stays unknown.
    if (page.isEndless) return await endIncomplete(deps, job, lease);
    if (page.nextCursor === undefined) return await atTheEnd(work, place, left, deps.settings.lookAgainMs);
    return { inMs: 0, payload: { ...place, roots, waiting: left, cursor: page.nextCursor } };
  } catch (error) {
    if (signal.aborted || !(error instanceof SlackError) || transientFailure(error) !== undefined)
      throw error;
    if (mayHaveMoved(error, job.tried_since)) return 'later';
    const { channel, thread_ts } = job;
    deps.log.warn({ workspace: workspace.id, channel, thread_ts, err: error }, 'backfill of a thread failed');
    // Slack may have forgotten the cursor, but not twice; without one, it refuses the place.
    if (cursor === undefined && place.has_orphans !== true) return 'given_up';
    if (cursor === undefined || place.was_restarted === true) return await endIncomplete(deps, job, lease);
    return { inMs: 0, payload: { ...place, cursor: undefined, was_restarted: true } };
  }
}

async function endIncomplete(deps: RelayDeps, job: Job, lease: Lease): Promise<JobOutcome> {
  await tellIncomplete(deps, job, lease);
  return 'given_up';
}

/** A page of a thread or a channel; undefined if the rate limit allows none for now. */
async function readPage(
  { readBack, people, bot }: WorkspaceClient,
  { channel, thread_ts }: Job,
  { since_ts, cursor, waiting, roots = [], is_single: isSingle }: Place,
  signal: AbortSignal,
): Promise<HistoryPage | undefined> {
  const threadTs = thread_ts === CHANNEL_LEVEL ? undefined : thread_ts;
  const known = [...roots, ...(waiting === undefined ? [] : [waiting.oldest_ts])];
  const oldest = known.reduce((first, ts) => (isEarlierTs(ts, first) ? ts : first), since_ts);
  const latest = isSingle === true ? since_ts : undefined;
  const request = { channel, threadTs, oldest, latest, cursor, signal };
  try {
    // Reading for a lost post, or for the messages before a question, goes first.
    const page = await neededFor('missed', () => readBack.tryPage(request, MAX_PERMIT_WAIT_MS));
    const isHuman = async (id: string) => (await people.requirePerson(id, signal)).isHuman;
    return (
      page && {
        ...page,
        messages: await Promise.all(page.messages.map((one) => asPersons(one, bot, isHuman))),
      }
    );
  } catch (error) {
    if (error instanceof MessageGoneError) return EMPTY_PAGE;
    throw error;
  }
}

/** The place was read to its end: waiting messages that it lacks are looked for once more, then count as deleted. */
async function atTheEnd(
  work: PlaceWork,
  { since_ts }: Place,
  waiting: Waiting | undefined,
  lookAgainMs: number,
): Promise<JobOutcome> {
  if (waiting === undefined || waiting.unseen.length === 0) return 'done';
  if (waiting.is_second_look !== true) {
    const held_until = waiting.held_until + lookAgainMs / 1_000;
    const again = { ...waiting, held_until, is_second_look: true };
    return { inMs: lookAgainMs, payload: { since_ts, waiting: again } };
  }
  for (const ts of waiting.unseen) await withdraw(work, ts);
  return 'done';
}

interface BackfillDeps {
  deps: RelayDeps;
  inbox: Pick<Inbox, 'accept'>;
  /** Called with each message's outcome, as for a message that Slack delivered. */
  onOutcome: (outcome: InboxOutcome, event: ChannelActor & { ts: string }) => void;
}

/** A place that is read, who reads it, and which apps (B…) may ask there. */
interface PlaceWork extends BackfillDeps {
  workspace: WorkspaceClient;
  job: Job;
  askers: readonly string[];
}

/** Applies the edits of waiting messages, and the deletions that left a tombstone; returns which messages the page lacks. */
async function applyChanges(work: PlaceWork, { messages }: HistoryPage, waiting: readonly string[]) {
  const unseen = new Set(waiting);
  for (const read of messages) {
    if (!unseen.delete(read.ts)) continue;
    const message = read.edited && asIncoming(work, read);
    if (read.subtype === 'tombstone') await withdraw(work, read.ts);
    else if (message !== undefined && read.edited !== undefined)
      await acceptChange(work, { kind: 'edit', message, editedTs: read.edited.ts });
  }
  return [...unseen];
}

/** Asks for the threads of a channel that were spoken in, by this page; after the last one, also for those that none had. */
async function addSpokenIn({ deps, job }: PlaceWork, { roots = [], since_ts }: Place, page: HistoryPage) {
  const unseen = new Set(roots);
  const wasSpokenIn = ({ ts, reply_count: replies = 0, latest_reply: last }: ThreadMessage) =>
    unseen.delete(ts) && (last === undefined ? replies > 0 : !isEarlierTs(last, since_ts));
  const found = page.messages.filter(wasSpokenIn).map(({ ts }) => ts);
  const isLast = page.nextCursor === undefined && !page.isEndless;
  for (const thread_ts of isLast ? [...found, ...unseen] : found)
    await deps.store.backfills.addThread({ ...job, thread_ts }, since_ts);
  return [...unseen];
}

async function withdraw(work: PlaceWork, ts: string): Promise<void> {
  const { channel, thread_ts } = work.job;
  const at = { workspace: work.workspace.id, channel, thread_ts, ts };
  const outcome = await acceptChange(work, { kind: 'deletion', ...at, person: undefined });
  if (outcome?.kind === 'withdrawn') work.deps.log.info(at, 'a waiting message was deleted in Slack');
}

/** Hands a page's messages to the inbox. One that it refuses becomes a place of its own, which is tried again. */
async function takeIn(work: PlaceWork, place: Place, page: HistoryPage, signal: AbortSignal): Promise<void> {
  const { store, log } = work.deps;
  const { workspace, channel } = work.job;
  let recovered = 0;
  let hasFailed = false;
  for (const { message, hasReplies } of incomingMessages(work, place, page)) {
    signal.throwIfAborted();
    try {
      const outcome = await accept(work, { kind: 'message', message });
      if (outcome.kind === 'admitted') recovered += 1;
      // The thread was unknown when the gap was recorded, so its replies are missing, too.
      const isOurs = outcome.kind === 'admitted' || outcome.kind === 'known';
      if (isOurs && hasReplies) await store.backfills.addThread(message, message.ts);
    } catch (error) {
      const isLasting = transientFailure(error) === undefined;
      // One statement may take too long by itself; two in a page are an outage.
      if (signal.aborted || place.is_single === true || (!isLasting && hasFailed)) throw error;
      hasFailed ||= !isLasting;
      await passOver(work, message, error);
    }
  }
  if (recovered > 0) log.info({ workspace, channel, recovered }, 'recovered missed messages');
}

type MessageEvent = Extract<InboxEvent, { message: IncomingMessage } | { kind: 'deletion' }>;

async function accept({ inbox, onOutcome, workspace: { id, bot } }: PlaceWork, event: MessageEvent) {
  const outcome = await inbox.accept(event, bot);
  const { channel, ts, person = '' } = 'message' in event ? event.message : event;
  onOutcome(outcome, { workspace: id, channel, ts, person });
  return outcome;
}

/** Hands the change of a waiting message to the inbox. One that it refuses leaves that message as it was. */
async function acceptChange(work: PlaceWork, event: MessageEvent): Promise<InboxOutcome | undefined> {
  try {
    return await accept(work, event);
  } catch (error) {
    if (transientFailure(error) !== undefined) throw error;
    const { channel, ts } = 'message' in event ? event.message : event;
    const lost = { workspace: work.workspace.id, channel, ts, err: error };
    work.deps.log.error(lost, 'the change of a waiting message is lost');
    return undefined;
  }
}

/** Has a message tried again by itself. In an outage, this throws a StoreError: then all wait. */
async function passOver({ deps }: PlaceWork, message: IncomingMessage, error: unknown): Promise<void> {
  const { workspace, channel, thread_ts, ts, person } = message;
  const isNew = await deps.store.backfills.addMessage({ workspace, channel, thread_ts }, ts);
  const about = { workspace, channel, thread_ts, ts, err: error };
  deps.log.warn(about, 'a message read back cannot be recorded');
  if (!isNew || transientFailure(error) !== undefined) return;
  const threadTs = thread_ts === ts ? undefined : thread_ts;
  trySendEphemeral(deps, { workspace, channel, person, threadTs }, strings.messageGivenUp);
}

/** The messages of people and apps of a page, oldest first. */
function incomingMessages(
  work: PlaceWork,
  { since_ts, mentions_only: onlyMentions = false, is_single: isSingle = false }: Place,
  { messages }: HistoryPage,
): { message: IncomingMessage; hasReplies: boolean }[] {
  const isChannel = work.job.thread_ts === CHANNEL_LEVEL;
  const found = messages.flatMap((read) => {
    const message = isEarlierTs(read.ts, since_ts) ? undefined : asIncoming(work, read);
    if (onlyMentions && !mentionedIds(parseMessage(read)).includes(work.workspace.bot.userId)) return [];
    const hasReplies = (isChannel || isSingle) && (read.reply_count ?? 0) > 0;
    return message === undefined ? [] : [{ message, hasReplies }];
  });
  return isChannel ? found.reverse() : found;
}

function asIncoming({ workspace: { id, bot }, job: { channel }, askers }: PlaceWork, read: ThreadMessage) {
  return toIncomingMessage({ workspace: id, channel }, read, bot, askers);
}
