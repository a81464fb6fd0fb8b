import { type Kysely, sql } from 'kysely';
import { isUnclaimed } from '../filters.ts';
import type { Tables } from '../schema.ts';
import { hasExpiredJobs } from './thread-queue.ts';

/** The work that any process may do once it is due. */
export const WORK_KINDS = ['expiredJobs', 'stops', 'followUps', 'taskDeletions', 'projectNames'] as const;

/** Whether there is work of each kind that no process has claimed. */
export type DueWork = Record<(typeof WORK_KINDS)[number], boolean> & {
  /** The version of the last change of a workspace, an installation or an account. */
  changeSeq: number;
};

/** Looks for all kinds of due work, in one statement on small indexes: a process without work asks nothing else. */
export async function readDueWork(db: Kysely<Tables>): Promise<DueWork> {
  const { rows } = await sql<DueWork>`
    select
      ${hasExpiredJobs} as "expiredJobs",
      exists (
        select from turns where stop_requested_at is not null and finished_at is null and settled_at is null) as stops,
      exists (select from follow_ups where next_check_at <= now() and ${isUnclaimed()}) as "followUps",
      exists (select from task_deletions where notified_at is null and ${isUnclaimed()}) as "taskDeletions",
      exists (
        select from projects
        where name_sync_due_at <= now() and ${isUnclaimed('name_sync_claimed_until')}) as "projectNames",
      greatest(0, (select max(change_seq) from workspaces), (select max(change_seq) from installations),
        (select max(change_seq) from accounts)) as "changeSeq"`.execute(db);
  const [due] = rows;
  if (due === undefined) throw new Error('The database returned no row.');
  return due;
}
