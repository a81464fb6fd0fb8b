import { z } from 'zod';
import { AgentNotFoundError } from '../../agent/errors.ts';
import { valueIf } from '../../calls/retries-and-waits.ts';
import type { RelayLimits } from '../../limits.ts';
import { JOB_KIND } from '../../store/jobs/jobs.ts';
import type { Job } from '../../store/schema.ts';
import { closingAt } from '../access/access-policy.ts';
import { postLaterResults } from '../replies/result-posts.ts';
import { postReviews } from '../replies/review-posts.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import type { JobKind } from '../runtime/job-runner.ts';
import type { Lease } from '../runtime/lease.ts';
import { isThreadUnreachable } from '../runtime/unreachable-threads.ts';
import { type OpenState, showBackgroundState, updateBackgroundNotices } from './background-work.ts';

/** The pause between two checks, as a share of the time that a task has been watched: by default 12 in the hour after a turn. */
const PAUSE_SHARE = { quiet: 0.65, atWork: 1 / 60 };
/** Its limits, as multiples of the first pause. */
const PAUSE_FACTOR = { least: 2, most: 120 };

/** A thread's last turn, since when its task is watched, and what the notice about its work says. */
const followUpSchema = z.object({
  turn_id: z.uuid(),
  since: z.coerce.date(),
  notice: z.string().optional(),
});

/** When the check after one at `watchedMs` comes: at the end of the watch at the latest. `done` once the watch has ended. */
export function nextCheck(
  isAtWork: boolean,
  watchedMs: number,
  { watchMs, watchIntervalMs, workWatchMs }: Pick<RelayLimits, 'watchMs' | 'watchIntervalMs' | 'workWatchMs'>,
): 'done' | { inMs: number } {
  const leftMs = (isAtWork ? workWatchMs : watchMs) - watchedMs;
  const shareMs = watchedMs * PAUSE_SHARE[isAtWork ? 'atWork' : 'quiet'];
  const factor = Math.min(PAUSE_FACTOR.most, Math.max(PAUSE_FACTOR.least, shareMs / watchIntervalMs));
  return leftMs <= 0 ? 'done' : { inMs: Math.min(leftMs, factor * watchIntervalMs) };
}

/** Jobs that check tasks after their turns: for what they made, and how their background work stands. */
export function followUpJobs(deps: RelayDeps): JobKind {
  return {
    kind: JOB_KIND.followUp,
    timeoutMs: 60_000,
    perform: async (job, lease) => {
      const { since, ...followUp } = followUpSchema.parse(job.payload);
      const found = await checkOnce(deps, job, followUp, lease);
      const isAtWork = found === 'working' || found === 'stopping';
      // What a task makes after its work, such as reviews, is watched for as long as after a turn.
      const from = followUp.notice !== undefined && !isAtWork ? new Date() : since;
      const watchedMs = Date.now() - from.getTime();
      const next = found === 'over' ? 'done' : nextCheck(isAtWork, watchedMs, deps.settings);
      const known = { turn_id: followUp.turn_id, since: from, ...(isAtWork && { notice: found }) };
      if (next !== 'done') return { ...next, payload: known };
      await sayChecksEnded(deps, job, lease);
      return 'done';
    },
    onGivenUp: (job, lease) => sayChecksEnded(deps, job, lease),
  };
}

/**
 * Checks a task once, and posts what is new. `over`: the turn is gone, its thread has no task now, or the place
 * is closed and no work goes on. `quiet`: no work goes on, or task, thread or workspace cannot be found now.
 */
async function checkOnce(
  deps: RelayDeps,
  job: Job,
  { turn_id: turnId, notice = 'working' }: Pick<z.infer<typeof followUpSchema>, 'turn_id' | 'notice'>,
  lease: Lease,
): Promise<'over' | OpenState | 'quiet'> {
  const workspace = deps.workspace(job.workspace);
  const turn = await deps.store.tasks.checkedTurn(job.workspace, turnId);
  if (turn === undefined || turn.thread_task_id === null) return 'over';
  if (workspace === undefined) return 'quiet';
  const { account_id, thread_task_id: taskId } = turn;
  // The thread's next turn may run meanwhile, and has a memory of its own.
  const holder = { workspace: turn.workspace, id: `follow-up of ${turn.id}` };
  using memory = deps.replyMemory.of(holder, account_id);
  try {
    const agent = deps.agent(account_id);
    // This also sends a stop, which must reach the service from a closed place, too.
    const work = { deps, workspace, lease };
    const background = await updateBackgroundNotices(work, turn, { taskId, shown: notice });
    const isClosed = (await closingAt(deps, job, lease.signal)) !== undefined;
    // A turn at work in the thread posts the new things at its end.
    const mayPost = !turn.is_busy && !isClosed;
    const failures: unknown[] = [];
    const onFailed = (error: unknown) => void failures.push(error);
    for (const post of mayPost ? [postLaterResults, postReviews] : []) {
      await deps.readRate(account_id).acquire(lease);
      // If one kind cannot be posted, the others still are.
      await post({ deps, workspace, agent, turn, taskId, lease, memory }).catch(onFailed);
    }
    if (failures.length > 0) throw failures[0];
    return background ?? (isClosed ? 'over' : 'quiet');
  } catch (error) {
    // The channel may get another id, and the service may say "not found" of what it has.
    if (error instanceof AgentNotFoundError || isThreadUnreachable(error)) return 'quiet';
    throw error;
  }
}

/** A task's checks have ended: notices that still say that the task works now say that nobody watches it. */
async function sayChecksEnded(deps: RelayDeps, job: Job, lease: Lease): Promise<void> {
  const workspace = deps.workspace(job.workspace);
  const { turn_id: turnId } = followUpSchema.parse(job.payload);
  const turn = await deps.store.tasks.checkedTurn(job.workspace, turnId);
  if (workspace === undefined || turn === undefined) return;
  const work = { deps, workspace, lease };
  const say = (id: string) => showBackgroundState(work, { ...turn, id }, 'unwatched');
  for (const id of turn.background_turn_ids) await say(id).catch(valueIf(undefined, isThreadUnreachable));
}
