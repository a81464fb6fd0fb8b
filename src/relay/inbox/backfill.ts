import { z } from 'zod';
import * as strings from '../../render/strings/index.ts';
import { MessageGoneError, SlackError } from '../../slack/errors.ts';
import type { HistoryPage } from '../../slack/message-history.ts';
import { CHANNEL_LEVEL, JOB_KIND } from '../../store/jobs/jobs.ts';
import type { Job } from '../../store/schema.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import { isDirectChannel, isEarlierTs } from '../runtime/incoming-message.ts';
import type { JobKind, JobOutcome } from '../runtime/job-runner.ts';
import type { Lease } from '../runtime/lease.ts';
import { transientFailure } from '../runtime/outage-waits.ts';
import { mayHaveMoved } from '../runtime/turn-interruptions.ts';
import { postJobNotice } from '../runtime/unknown-outcome.ts';
import { type BackfillDeps, BackfilledMessages } from './backfilled-messages.ts';

/** Reading for a lost post, or for the messages before a question, goes first. */
const LOWEST_PRIORITY = { order: 9, since: 0 };
/** How long a page may wait for the rate limit (ms): a distributed app has one call a minute. */
const MAX_PERMIT_WAIT_MS = 75_000;

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
  since_ts: z.string(),
  cursor: z.string().optional(),
  /** It was read from its beginning again, because Slack refused a cursor. */
  was_restarted: z.boolean().optional(),
  mentions_only: z.boolean().optional(),
  is_single: z.boolean().optional(),
  waiting: waitingSchema.optional(),
});
type Place = z.infer<typeof placeSchema>;

/**
 * Jobs that read the messages of a gap in receiving, of one thread or channel each: the newest thread first, a page at a
 * time. The inbox ignores messages that it has; edits and deletions of messages that wait are applied. A message counts as
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

/** Tells a thread, or a direct message, that people may have written there in vain; a whole channel is not disturbed. */
async function tellIncomplete(deps: RelayDeps, job: Job, lease: Lease): Promise<void> {
  if (job.thread_ts === CHANNEL_LEVEL && !isDirectChannel(job.channel)) return;
  const key = `backfill/${placeSchema.parse(job.payload).since_ts}`;
  await postJobNotice(deps, job, lease, { key, text: strings.messagesNotRead });
}

async function readPlace(backfill: BackfillDeps, job: Job, lease: Lease): Promise<JobOutcome> {
  const { deps } = backfill;
  const { signal } = lease;
  const workspace = deps.workspace(job.workspace);
  if (workspace === undefined) return 'later';
  const place = placeSchema.parse(job.payload);
  const { cursor, waiting } = place;
  const messages = new BackfilledMessages(backfill, workspace, job);
  try {
    const page = await readPage(workspace, job, place, signal);
    if (page === undefined) return 'later';
    const unseen = await messages.applyChanges(page, waiting?.unseen ?? []);
    await messages.takeIn(place, page, signal);
    const left = waiting && { ...waiting, unseen };
    // The rest of the place stays unknown.
    if (page.isEndless) return await endIncomplete(deps, job, lease);
    if (page.nextCursor === undefined)
      return await atTheEnd(messages, place, left, deps.settings.lookAgainMs);
    return { inMs: 0, payload: { ...place, waiting: left, cursor: page.nextCursor } };
  } catch (error) {
    if (signal.aborted || !(error instanceof SlackError) || transientFailure(error) !== undefined)
      throw error;
    if (mayHaveMoved(error, job.tried_since)) return 'later';
    const { channel, thread_ts } = job;
    deps.log.warn({ workspace: workspace.id, channel, thread_ts, err: error }, 'backfill of a thread failed');
    // Slack may have forgotten the cursor, but not twice; without one, it refuses the place.
    if (cursor === undefined) return 'given_up';
    if (place.was_restarted === true) return await endIncomplete(deps, job, lease);
    return { inMs: 0, payload: { ...place, cursor: undefined, was_restarted: true } };
  }
}

async function endIncomplete(deps: RelayDeps, job: Job, lease: Lease): Promise<JobOutcome> {
  await tellIncomplete(deps, job, lease);
  return 'given_up';
}

/** A page of a thread or a channel; undefined if the rate limit allows none for now. */
async function readPage(
  { readBack }: WorkspaceClient,
  { channel, thread_ts }: Job,
  { since_ts, cursor, waiting, is_single: isSingle }: Place,
  signal: AbortSignal,
): Promise<HistoryPage | undefined> {
  const threadTs = thread_ts === CHANNEL_LEVEL ? undefined : thread_ts;
  const oldest = waiting && isEarlierTs(waiting.oldest_ts, since_ts) ? waiting.oldest_ts : since_ts;
  const latest = isSingle === true ? since_ts : undefined;
  const request = { channel, threadTs, oldest, latest, cursor, signal, priority: () => LOWEST_PRIORITY };
  try {
    return await readBack.tryPage(request, MAX_PERMIT_WAIT_MS);
  } catch (error) {
    if (error instanceof MessageGoneError) return EMPTY_PAGE;
    throw error;
  }
}

/** The place was read to its end: waiting messages that it lacks are looked for once more, then count as deleted. */
async function atTheEnd(
  messages: BackfilledMessages,
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
  for (const ts of waiting.unseen) await messages.withdraw(ts);
  return 'done';
}
