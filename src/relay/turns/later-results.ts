import { z } from 'zod';
import { AgentNotFoundError } from '../../agent/errors.ts';
import { valueIf } from '../../calls/retries-and-waits.ts';
import { JOB_KIND } from '../../store/jobs/jobs.ts';
import type { Job } from '../../store/schema.ts';
import { closingAt } from '../access/access-policy.ts';
import { postLaterResults } from '../replies/result-posts.ts';
import { postReviews } from '../replies/review-posts.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import type { JobKind } from '../runtime/job-runner.ts';
import type { Lease } from '../runtime/lease.ts';
import { isThreadUnreachable } from '../runtime/unreachable-or-moved.ts';
import { type OpenState, sayNobodyWatches, updateBackgroundNotices } from './background-work.ts';

/** Each pause between checks is so much longer, up to this multiple of the first. By default: 12 an hour. */
const BACKOFF_FACTOR = 1.6;
const MAX_BACKOFF_MULTIPLE = 120;

/** A thread's last turn, how often it was checked, when the checks end, and what its notice says. */
const followUpSchema = z.object({
  turn_id: z.uuid(),
  checks: z.number(),
  ends_at: z.coerce.date(),
  notice: z.string().default('working'),
});
type FollowUp = z.infer<typeof followUpSchema>;

/** When the check after this one comes: by `ends_at` at the latest; `done` if that has passed. `firstMs`: the first pause. */
export function nextCheck(
  { checks, ends_at }: Pick<FollowUp, 'checks' | 'ends_at'>,
  firstMs: number,
  now: number,
): 'done' | { inMs: number } {
  const leftMs = ends_at.getTime() - now;
  const pauseMs = firstMs * Math.min(MAX_BACKOFF_MULTIPLE, BACKOFF_FACTOR ** (checks + 1));
  return leftMs <= 0 ? 'done' : { inMs: Math.min(leftMs, pauseMs) };
}

/** A task at work in the background is checked after so many first pauses: every 30 s by default. */
const BACKGROUND_PAUSES = 3;

/** Each posts one kind of thing that a task made after its turn, once however often it is called. */
const POST_NEW_THINGS = [postLaterResults, postReviews];

/** What a check found: no more can come (`over`), work in the background, or neither for now (`quiet`). */
type Finding = 'over' | OpenState | 'quiet';

/** Jobs that check tasks after their turns: for what they made, and how their background work stands. */
export function followUpJobs(deps: RelayDeps): JobKind {
  const { watchMs, watchIntervalMs } = deps.settings;
  const isWatching = watchMs > 0; // If not, jobs that are left end with their next run.
  return {
    kind: JOB_KIND.followUp,
    share: 2,
    timeoutMs: 60_000,
    giveUpAfterMs: 24 * 60 * 60_000,
    perform: async (job, lease) => {
      const followUp = followUpSchema.parse(job.payload);
      const next = isWatching ? nextCheck(followUp, watchIntervalMs, Date.now()) : 'done';
      const found = isWatching ? await checkOnce(deps, job, followUp, lease) : 'over';
      if (found === 'over' || next === 'done') {
        await sayChecksEnded(deps, job, lease);
        return 'done';
      }
      if (found === 'quiet') return { ...next, payload: { ...job.payload, checks: followUp.checks + 1 } };
      // Checks of background work are not counted: the pauses grow only after it.
      const inMs = Math.min(next.inMs, BACKGROUND_PAUSES * watchIntervalMs);
      return { inMs, payload: { ...job.payload, notice: found } };
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
  { turn_id: turnId, notice }: FollowUp,
  lease: Lease,
): Promise<Finding> {
  const workspace = deps.workspace(job.workspace);
  const turn = await deps.store.tasks.checkedTurn(job.workspace, turnId);
  if (turn === undefined || turn.thread_task_id === null) return 'over';
  if (workspace === undefined) return 'quiet';
  const { account_id, thread_task_id: taskId } = turn;
  // Apart from the memory of the thread's next turn, which may run meanwhile.
  const holder = { workspace: turn.workspace, id: `follow-up of ${turn.id}` };
  using memory = deps.replyMemory.of(holder, account_id);
  try {
    const agent = deps.agent(account_id);
    // In a closed place, too: this also sends a stop, which must reach the service from there.
    const work = { deps, workspace, lease };
    const background = await updateBackgroundNotices(work, turn, { taskId, shown: notice });
    const isClosed = (await closingAt(deps, job, lease.signal)) !== undefined;
    // A turn at work in the thread posts the new things at its end.
    const mayPost = !turn.is_busy && !isClosed;
    const failures: unknown[] = [];
    const onFailed = (error: unknown) => void failures.push(error);
    for (const post of mayPost ? POST_NEW_THINGS : []) {
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
  await sayNobodyWatches({ deps, workspace, lease }, turn).catch(valueIf(undefined, isThreadUnreachable));
}
