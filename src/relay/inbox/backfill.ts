import { z } from 'zod';
import { SlackError } from '../../slack/errors.ts';
import type { HistoryPage, ThreadMessage } from '../../slack/message-history.ts';
import { CHANNEL_LEVEL } from '../../store/jobs/jobs.ts';
import type { Job } from '../../store/schema.ts';
import { BACKFILL_JOB } from '../../store/slack/backfills.ts';
import { isUserMessageSubtype } from '../reading/message-parser.ts';
import type { ChannelActor } from '../runtime/actors.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import {
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

/** Nothing before `since_ts` is missing; `cursor`: the next page. */
const placeSchema = z.object({ since_ts: z.string(), cursor: z.string().optional() });
type Place = z.infer<typeof placeSchema>;

export interface BackfillDeps {
  deps: RelayDeps;
  inbox: Pick<Inbox, 'accept'>;
  /** Called with each message's outcome, as for a message that Slack delivered. */
  onOutcome: (outcome: InboxOutcome, event: ChannelActor & { ts: string }) => void;
}

/**
 * Jobs that read the messages of a gap in receiving, of one thread or channel each: the newest thread first, a page at a
 * time. The inbox ignores messages that it has.
 */
export function backfillJobs(backfill: BackfillDeps): JobKind {
  return {
    kind: BACKFILL_JOB,
    share: 1,
    timeoutMs: 2 * 60_000,
    giveUpAfterMs: 3 * 24 * 60 * 60_000,
    perform: (job, { signal }) => readPlace(backfill, job, signal),
  };
}

async function readPlace(backfill: BackfillDeps, job: Job, signal: AbortSignal): Promise<JobOutcome> {
  const { deps } = backfill;
  const workspace = deps.workspace(job.workspace);
  if (workspace === undefined) return 'later';
  const place = placeSchema.parse(job.payload);
  const { since_ts, cursor } = place;
  try {
    const page = await readPage(workspace, job, place, signal);
    if (page === undefined) return 'later';
    await takeIn(backfill, workspace, job, peoplesMessages(workspace, job, place, page), signal);
    return page.nextCursor === undefined
      ? 'done'
      : { inMs: 0, payload: { since_ts, cursor: page.nextCursor } };
  } catch (error) {
    if (signal.aborted || !(error instanceof SlackError) || transientFailure(error) !== undefined)
      throw error;
    const { channel, thread_ts } = job;
    deps.log.warn({ workspace: workspace.id, channel, thread_ts, err: error }, 'backfill of a thread failed');
    // Slack may have forgotten the cursor; without one, it refuses the place.
    return cursor === undefined ? 'done' : { inMs: 0, payload: { since_ts } };
  }
}

/** A page of a thread or a channel; undefined if the rate limit allows none for now. */
function readPage(
  { readBack }: WorkspaceClient,
  { channel, thread_ts }: Job,
  { since_ts: oldest, cursor }: Place,
  signal: AbortSignal,
): Promise<HistoryPage | undefined> {
  const threadTs = thread_ts === CHANNEL_LEVEL ? undefined : thread_ts;
  const request = { channel, threadTs, oldest, cursor, signal, priority: () => LOWEST_PRIORITY };
  return readBack.tryPage(request, MAX_PERMIT_WAIT_MS);
}

/** Hands messages to the inbox. */
async function takeIn(
  { deps, inbox, onOutcome }: BackfillDeps,
  { id, bot }: WorkspaceClient,
  { channel: place }: Job,
  messages: readonly { message: IncomingMessage; hasReplies: boolean }[],
  signal: AbortSignal,
): Promise<void> {
  let recovered = 0;
  for (const { message, hasReplies } of messages) {
    signal.throwIfAborted();
    const outcome = await inbox.accept({ kind: 'message', message }, bot);
    const { channel, ts, thread_ts, person } = message;
    onOutcome(outcome, { workspace: id, channel, ts, person });
    if (outcome.kind === 'admitted') recovered += 1;
    // The thread was unknown when the gap was recorded, so its replies are missing, too.
    const isOurs = outcome.kind === 'admitted' || outcome.kind === 'known';
    if (isOurs && hasReplies) await deps.store.backfills.addThread({ workspace: id, channel, thread_ts }, ts);
  }
  if (recovered > 0) deps.log.info({ workspace: id, channel: place, recovered }, 'recovered missed messages');
}

/** People's messages of a page, oldest first. */
function peoplesMessages(
  workspace: WorkspaceClient,
  { channel, thread_ts }: Job,
  { since_ts }: Place,
  { messages }: HistoryPage,
): { message: IncomingMessage; hasReplies: boolean }[] {
  const isChannel = thread_ts === CHANNEL_LEVEL;
  const found = messages.flatMap((read) => {
    const message = isEarlierTs(read.ts, since_ts) ? undefined : toIncomingMessage(workspace, channel, read);
    return message === undefined ? [] : [{ message, hasReplies: isChannel && (read.reply_count ?? 0) > 0 }];
  });
  return isChannel ? found.reverse() : found;
}

function toIncomingMessage(
  workspace: WorkspaceClient,
  channel: string,
  read: ThreadMessage,
): IncomingMessage | undefined {
  const { ts, user, bot_id, subtype } = read;
  const isPersons = user !== workspace.bot.userId && bot_id === undefined && isUserMessageSubtype(subtype);
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
