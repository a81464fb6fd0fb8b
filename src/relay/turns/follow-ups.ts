import { z } from 'zod';
import { AgentNotFoundError } from '../../agent/errors.ts';
import type { Job } from '../../store/schema.ts';
import { FOLLOW_UP_JOB } from '../../store/tasks/follow-up-schedule.ts';
import type { RelayDeps, SettledTurnContext } from '../runtime/deps.ts';
import type { JobKind } from '../runtime/job-runner.ts';
import type { Lease } from '../runtime/lease.ts';
import type { ReadRate } from '../runtime/read-rate.ts';
import { isThreadUnreachable } from '../runtime/turn-interruptions.ts';

/**
 * The pause between two checks grows by this factor, up to this multiple of the first pause: with the default settings,
 * a task is checked twelve times in an hour.
 */
const BACKOFF_FACTOR = 1.6;
const MAX_BACKOFF_MULTIPLE = 120;

/** The pause before the check after `checks` others (ms); `firstMs` is the one before the first. */
export function followUpPauseMs(checks: number, firstMs: number): number {
  return firstMs * Math.min(MAX_BACKOFF_MULTIPLE, BACKOFF_FACTOR ** checks);
}

/** The last turn that ended in a thread, how often it was checked, and when the checks end. */
const followUpSchema = z.object({ turn_id: z.uuid(), checks: z.number(), ends_at: z.coerce.date() });

/** When a task is checked after another check: at the end, if that comes before the pause is over, and then no more. */
export function nextCheck(
  { checks, ends_at }: Pick<z.infer<typeof followUpSchema>, 'checks' | 'ends_at'>,
  firstMs: number,
  now: number,
): 'done' | { inMs: number } {
  const leftMs = ends_at.getTime() - now;
  return leftMs <= 0 ? 'done' : { inMs: Math.min(leftMs, followUpPauseMs(checks + 1, firstMs)) };
}

/** Posts what a task made after its turn. It is repeated, and posts each thing once. */
export type FollowUpCheck = (context: SettledTurnContext) => Promise<void>;

/**
 * Jobs that check tasks for a time after their turns, without holding their threads. `readRateFor`: the read rate of a
 * service account, which follow-ups share with live replies.
 */
export function followUpJobs(
  deps: RelayDeps,
  checks: readonly FollowUpCheck[],
  readRateFor: (account: string) => ReadRate,
): JobKind {
  const { followUpMs, followUpIntervalMs } = deps.settings.results;
  return {
    kind: FOLLOW_UP_JOB,
    share: 2,
    timeoutMs: 60_000,
    giveUpAfterMs: 24 * 60 * 60_000,
    perform: async (job, lease) => {
      const followUp = followUpSchema.parse(job.payload);
      if (followUpMs === 0 || (await isOver(job, followUp.turn_id, lease))) return 'done';
      const next = nextCheck(followUp, followUpIntervalMs, Date.now());
      return next === 'done' ? next : { ...next, payload: { ...job.payload, checks: followUp.checks + 1 } };
    },
  };

  /** Checks a task once; true if nothing more can come. */
  async function isOver(job: Job, turnId: string, lease: Lease): Promise<boolean> {
    const workspace = deps.workspace(job.workspace);
    const turn = await deps.store.tasks.checkedTurn(job.workspace, turnId);
    if (turn === undefined || turn.thread_task_id === null) return true;
    if (workspace === undefined || turn.is_busy) return false;
    const { account_id, thread_task_id: taskId } = turn;
    // The thread's next turn may run meanwhile.
    const holder = { workspace: turn.workspace, id: `follow-up of ${turn.id}` };
    const memory = deps.replyMemory.of(holder, account_id);
    try {
      const agent = deps.agent(account_id);
      for (const check of checks) {
        await readRateFor(account_id).acquire(lease.signal);
        await check({ deps, workspace, agent, turn, taskId, lease, memory });
      }
      return false;
    } catch (error) {
      if (error instanceof AgentNotFoundError || isThreadUnreachable(error)) return true;
      throw error;
    } finally {
      memory.release();
    }
  }
}
