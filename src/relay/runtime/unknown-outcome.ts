import { CALL_TIMEOUT_MS } from '../../slack/slack-client.ts';
import { CHANNEL_LEVEL } from '../../store/jobs/jobs.ts';
import type { Job } from '../../store/schema.ts';
import type { RelayDeps } from './deps.ts';
import type { Lease } from './lease.ts';
import { sleepWithLease } from './retry.ts';
import { isThreadUnreachable, TakenOverElsewhere } from './turn-interruptions.ts';

/** How long (ms) a request may travel. */
const NETWORK_MARGIN_MS = 2_000;
/** How long before its call (ms) an intent may be recorded; a call that leaves later records it again. */
export const INTENT_MAX_AGE_MS = 1_000;
/** How long after its intent (ms) a call to Slack has surely ended: the longest call, and the network. */
export const SLACK_CALL_LIFETIME_MS = INTENT_MAX_AGE_MS + CALL_TIMEOUT_MS + NETWORK_MARGIN_MS;
/** How often the service is searched (ms), unless it settles sooner. */
const SEARCH_INTERVAL_MS = 5_000;

/** Milliseconds until a call that was intended then has surely ended; 0 or less if it has. A clock may have been set. */
export function msUntilCallEnded(intendedAt: Date, lifetimeMs: number): number {
  return Math.min(lifetimeMs, intendedAt.getTime() + lifetimeMs - Date.now());
}

/** Waits until a call that was intended then has surely ended. Throws like `sleepWithLease`. */
export async function waitUntilCallEnded(intendedAt: Date, lifetimeMs: number, lease: Lease): Promise<void> {
  const remainingMs = msUntilCallEnded(intendedAt, lifetimeMs);
  if (remainingMs > 0) await sleepWithLease(remainingMs, lease);
}

/** One look at the service: what was found, and a mark that differs when the list does. */
export interface ServiceLook<T> {
  found: T | undefined;
  listing: string;
}

/**
 * Searches for what a call to the service with an unknown outcome has made. The service may handle the call long after
 * it was given up: it has made nothing only if nothing is found for `settleMs`, and two looks in a row see the same
 * list. Throws like `sleepWithLease`.
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

/**
 * Posts what a job has to say in its thread or channel, once: after an unknown outcome it looks for the post first. True
 * also where nobody can post there; false if the app is removed. Throws temporary failures.
 */
export async function postJobNotice(
  deps: Pick<RelayDeps, 'store' | 'workspace'>,
  job: Job,
  lease: Lease,
  { key, text }: { key: string; text: string },
): Promise<boolean> {
  const { signal } = lease;
  const { workspace: id, channel, thread_ts, intended_at: intendedAt } = job;
  const threadTs = thread_ts === CHANNEL_LEVEL ? undefined : thread_ts;
  const workspace = deps.workspace(id);
  if (workspace === undefined) return false;
  const { posting, readBack } = workspace;
  try {
    if (intendedAt !== null) {
      await waitUntilCallEnded(intendedAt, SLACK_CALL_LIFETIME_MS, lease);
      if (await readBack.findOwnPost({ channel, threadTs, key, intendedAt, signal })) return true;
    }
    // The rate limit may have held this up so long that another process has taken over.
    const beforeSend = async () => {
      if (!(await deps.store.jobs.intend(job))) throw new TakenOverElsewhere();
    };
    await posting.post({ channel, threadTs, message: { text }, key, kind: 'notice', signal, beforeSend });
  } catch (error) {
    if (!isThreadUnreachable(error)) throw error;
  }
  return true;
}
