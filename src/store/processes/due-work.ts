import { type Kysely, sql } from 'kysely';
import { isJobDue } from '../jobs/jobs.ts';
import type { Tables } from '../schema.ts';
import { isStopOpen } from '../threads/stops.ts';
import { unlockedProcesses } from './process-registry.ts';

/** Whether there is work of each kind that any process may do, and none has claimed. */
export interface DueWork {
  stops: boolean;
  jobs: boolean;
  urgentMessages: boolean;
  /** Processes that may be dead; see `takeUnlocked`. */
  unlocked: string[];
  /** The version of the last change of a workspace, an installation or an account. */
  changeSeq: number;
  now: Date;
}

/** Looks for all due work in one statement on small indexes, planned once as it has a value: an idle process asks no more. */
export async function readDueWork(db: Kysely<Tables>): Promise<DueWork> {
  const { rows } = await sql<DueWork>`
    select
      exists (select from turns where ${isStopOpen}) as stops,
      exists (select from (select from jobs where ${isJobDue} order by due_at limit 1) as next) as jobs,
      exists (select from messages where is_urgent and state = 'waiting') as "urgentMessages",
      ${unlockedProcesses} as unlocked,
      greatest(${0}::bigint, (select max(change_seq) from workspaces), (select max(change_seq) from installations),
        (select max(change_seq) from accounts)) as "changeSeq", clock_timestamp() as now`.execute(db);
  const [due] = rows;
  if (due === undefined) throw new Error('The database returned no row.');
  return due;
}
