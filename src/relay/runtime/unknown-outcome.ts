import { AgentError } from '../../agent/errors.ts';
import { databaseNow } from '../../calls/clocks.ts';
import { SlackError } from '../../slack/errors.ts';
import type { PostRequest } from '../../slack/posting.ts';
import type { SlackMessage } from '../../slack/slack-message.ts';
import { CHANNEL_LEVEL } from '../../store/jobs/jobs.ts';
import type { Job } from '../../store/schema.ts';
import type { RelayDeps, WorkspaceClient } from './deps.ts';
import { type Lease, sleepWithLease } from './lease.ts';
import { Interruption, TurnEnded } from './turn-exceptions.ts';
import { outcomeIfUnreachable } from './unreachable-threads.ts';

/** How long before its call (ms) an intent may be recorded; a call that leaves later records it again. */
export const INTENT_MAX_AGE_MS = 1_000;
/** How often the service is searched (ms), unless it settles sooner. */
const SEARCH_INTERVAL_MS = 5_000;

/** Waits until a call to Slack intended then has surely ended. Throws an Interruption, or the lease's reason. */
export async function waitUntilCallEnded(
  { callLifetimeMs }: Pick<WorkspaceClient, 'callLifetimeMs'>,
  intendedAt: Date,
  lease: Lease,
): Promise<void> {
  // A clock may have been set back.
  const remainingMs = Math.min(0, intendedAt.getTime() - databaseNow()) + callLifetimeMs;
  if (remainingMs > 0) await sleepWithLease(remainingMs, lease);
}

/** One look at the service: what was found, and a mark that changes with the list. */
export interface ServiceLook<T> {
  found: T | undefined;
  listing: string;
}

/**
 * Searches for what a call to the service with an unknown outcome has made. The service may handle the call long after
 * it was given up: it has made nothing only if nothing is found for `settleMs`, and two looks in a row see the same
 * list. Throws what `look` throws, an Interruption, or the lease's reason.
 */
export async function searchUntilSettled<T>(
  look: () => Promise<ServiceLook<T>>,
  settleMs: number,
  lease: Lease,
): Promise<T | undefined> {
  const startedAt = performance.now();
  let previous: string | undefined;
  for (;;) {
    const isDue = performance.now() - startedAt >= settleMs;
    const { found, listing } = await look();
    if (found !== undefined) return found;
    if (isDue && listing === previous) return undefined;
    previous = listing;
    await sleepWithLease(Math.min(SEARCH_INTERVAL_MS, settleMs / 4), lease);
  }
}

/** A call that must not have its effect twice. */
interface Effect<T> {
  /** Looks for the effect of an earlier call whose outcome is unknown; left out if there was none. */
  look?: (() => Promise<T | undefined>) | undefined;
  /** Makes the call, after the record that it is about to be made. */
  act: () => Promise<T>;
  /** Called if the error of the call says that it had no effect: takes back the record that it is about to be made. */
  ifNoEffect: (error: unknown) => Promise<void>;
}

/** Has an effect once: looks for it if it may be there, and makes the call if it is not. Throws what these throw. */
export async function once<T>({ look, act, ifNoEffect }: Effect<T>, lease: Lease): Promise<T> {
  const found = await look?.();
  if (found !== undefined) return found;
  try {
    return await act();
  } catch (error) {
    const failure = error instanceof TurnEnded ? error.cause : error;
    const isOfCall = failure instanceof SlackError || failure instanceof AgentError;
    // After the lease has ended, the record may belong to the process that has the work now.
    if (isOfCall && failure.outcome !== 'unknown' && lease.remainingMs() > 0) await ifNoEffect(failure);
    throw error;
  }
}

/** When a post was first about to be sent (null: never), and what records that it is about to be sent, or was not sent. */
interface PostIntent extends Pick<Effect<unknown>, 'ifNoEffect'> {
  at: Date | null;
  record: () => Promise<void>;
}

/** Posts once. Throws a SlackError, a StoreError of the record, an Interruption, or the lease's reason. */
export async function postOnce(
  workspace: WorkspaceClient,
  { message, ...post }: Omit<PostRequest, 'message'> & { message: () => Promise<SlackMessage> },
  { at, record, ifNoEffect }: PostIntent,
  lease: Lease,
): Promise<string> {
  const { posting, readBack } = workspace;
  const { channel, threadTs, key } = post;
  const find = async (intendedAt: Date) => {
    await waitUntilCallEnded(workspace, intendedAt, lease);
    return readBack.findOwnPost({ channel, threadTs, key, intendedAt, guard: lease });
  };
  const act = async () =>
    posting.post({ ...post, message: await message(), guard: lease, beforeSend: record });
  return (await once({ look: at === null ? undefined : () => find(at), act, ifNoEffect }, lease)).ts;
}

/** The intent of a job's one post. The rate limit may hold the post up for so long that another process has the job. */
export function jobPostIntent({ store }: Pick<RelayDeps, 'store'>, job: Job): PostIntent {
  const record = async () => {
    if (!(await store.jobs.intend(job))) throw new Interruption('taken_over');
  };
  return { at: job.intended_at, record, ifNoEffect: () => store.jobs.forgetIntent(job) };
}

/**
 * Posts what a job has to say in its thread or channel, or to `person` alone, once. Where nobody can post there, the job's
 * person gets `orPrivately`, if that is given. `later` if the app is removed, or the channel may have another id. Throws
 * other SlackErrors, a StoreError, an Interruption, or the lease's reason.
 */
export async function postJobNotice(
  deps: Pick<RelayDeps, 'store' | 'workspace'>,
  job: Job,
  lease: Lease,
  notice: SlackMessage & { key: string; person?: string; orPrivately?: string },
): Promise<'done' | 'later'> {
  const { key, person, orPrivately, ...message } = notice;
  const workspace = deps.workspace(job.workspace);
  if (workspace === undefined) return 'later';
  try {
    const place =
      person === undefined
        ? { channel: job.channel, threadTs: job.thread_ts === CHANNEL_LEVEL ? undefined : job.thread_ts }
        : { channel: await workspace.posting.openDm(person, lease) };
    const post = { ...place, key, kind: 'notice', message: async () => message } as const;
    await postOnce(workspace, post, jobPostIntent(deps, job), lease);
  } catch (error) {
    if (outcomeIfUnreachable(error, job) === 'later') return 'later';
    if (orPrivately !== undefined && job.person !== '')
      return postJobNotice(deps, job, lease, { key: `${key}/lost`, text: orPrivately, person: job.person });
  }
  return 'done';
}
