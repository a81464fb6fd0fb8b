import { CHANNEL_LEVEL } from '../../store/jobs/jobs.ts';
import type { Job } from '../../store/schema.ts';
import type { RelayDeps } from './deps.ts';
import type { Lease } from './lease.ts';
import { isThreadUnreachable, TakenOverElsewhere } from './turn-interruptions.ts';
import { SLACK_CALL_LIFETIME_MS, waitUntilCallEnded } from './unknown-outcome.ts';

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
