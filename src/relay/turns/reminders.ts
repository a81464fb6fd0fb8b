import { valueIf } from '../../calls/retries-and-waits.ts';
import * as strings from '../../render/strings/index.ts';
import { JOB_KIND } from '../../store/jobs/jobs.ts';
import { type PersonWait, PLAN_WAIT } from '../../store/threads/person-waits.ts';
import { REMINDER_PART } from '../../store/threads/posts.ts';
import { turnLocationOf } from '../../store/threads/turns.ts';
import { closingAt } from '../access/access-policy.ts';
import { IdempotentPosts } from '../replies/idempotent-posts.ts';
import type { RelayDeps, ThreadWork } from '../runtime/deps.ts';
import { isBotId, isDirectChannel } from '../runtime/incoming-message.ts';
import type { JobKind, JobOutcome } from '../runtime/job-runner.ts';
import { Interruption, isInterruption } from '../runtime/turn-exceptions.ts';
import { outcomeIfUnreachable } from '../runtime/unreachable-threads.ts';

/** How often a wait is looked at once its reminder is posted (ms): its end wakes the job, unless a process dies. */
const LOOK_AGAIN_MS = { run: 60_000, plan: 24 * 3_600_000 };
/** Further reminders in a thread wait. */
const MOST_IN_THREAD_AN_HOUR = 3;

/** Jobs that remind who asked that a run or plan waits for them: one post a turn, until the wait ends. */
export function reminderJobs(deps: RelayDeps): JobKind {
  return {
    kind: JOB_KIND.reminder,
    share: 4,
    timeoutMs: 60_000,
    perform: async (job, lease) => {
      const wait = await deps.store.personWaits.get({ workspace: job.workspace, id: job.key });
      if (wait === undefined) return 'done';
      const workspace = deps.workspace(job.workspace);
      if (workspace === undefined) return 'later';
      try {
        return await remindOrTakeBack({ deps, workspace, lease }, wait);
      } catch (error) {
        return outcomeIfUnreachable(error, job);
      }
    },
    onGivenUp: 'counted',
  };
}

/** Reminds the asker after a long wait. Deletes the reminder once the wait is over or the place is closed. */
async function remindOrTakeBack(work: ThreadWork, wait: PersonWait): Promise<JobOutcome> {
  const posts = new IdempotentPosts(work, turnLocationOf(wait));
  const restMs = work.deps.settings.remindMs - wait.waited_ms;
  const isUntold = wait.is_open && wait.reminder === null;
  if (isUntold && restMs > 0) return { inMs: restMs };
  if (isUntold && wait.reminded_lately >= MOST_IN_THREAD_AN_HOUR) return { inMs: LOOK_AGAIN_MS.run };
  const isClosed = (await closingAt(work.deps, wait, work.lease.signal)) !== undefined;
  const mayStand = wait.is_open && !isClosed;
  const isThere = wait.reminder === 'posted' || (mayStand && (await remind(work, wait, posts)));
  if (mayStand && isThere)
    return { inMs: wait.waits_for === PLAN_WAIT ? LOOK_AGAIN_MS.plan : LOOK_AGAIN_MS.run };
  // The wait is over, its place is closed, or its reminder is not wanted: nothing is posted of it later.
  await takeBack(work.deps, wait, posts);
  return 'done';
}

/** Deletes the reminder, if one may be there. Records that a wait has ended, so that it never opens again. */
async function takeBack({ store }: RelayDeps, wait: PersonWait, posts: IdempotentPosts): Promise<void> {
  if (wait.reminder !== null) {
    // Posts nothing, but looks for what an earlier attempt may have posted.
    await posts.sendOnce(REMINDER_PART, async () => undefined);
    await posts.removeAll(REMINDER_PART);
  }
  if (!wait.is_open && wait.waits_for !== null) await store.personWaits.end(wait, wait.waits_for);
}

/** Posts the reminder, if it is wanted and the wait lasts until the call. Returns whether the thread has it. */
async function remind({ deps, workspace }: ThreadWork, wait: PersonWait, posts: IdempotentPosts) {
  if (!mayRemind(wait)) return false;
  const person = isDirectChannel(wait.channel) ? undefined : wait.asked_by;
  const message = { text: strings.reminder(person, wait.waits_for === PLAN_WAIT) };
  const isPosted = await posts.sendOnce(REMINDER_PART, async (identity) => {
    const beforeSend = async () => {
      const latest = await deps.store.personWaits.get(wait);
      if (latest === undefined || !mayRemind(latest) || latest.waits_for !== wait.waits_for)
        throw new Interruption('wait_over');
      await identity.beforeSend?.();
    };
    const posted = workspace.posting.post({ ...identity, beforeSend, message, kind: 'notice' });
    return posted.catch(valueIf(undefined, (error) => isInterruption(error, 'wait_over')));
  });
  await posts.record();
  return isPosted;
}

/** Whether to post a turn's reminder. One that is `gone`, whoever deleted it, is not posted again. */
function mayRemind(wait: PersonWait): boolean {
  const { is_open, is_turned_off, is_end_told, reminded_lately, reminder, asked_by } = wait;
  const isWanted = is_open && !is_turned_off && !is_end_told && reminded_lately < MOST_IN_THREAD_AN_HOUR;
  const isPerson = asked_by !== '' && !isBotId(asked_by); // '' is an erased person.
  return isWanted && isPerson && reminder !== 'gone';
}
