import { sql } from 'kysely';
import { Jobs, TASK_DELETION_JOB } from '../jobs/jobs.ts';
import { Queries } from '../queries.ts';
import type { Job, ThreadKey } from '../schema.ts';
import { inThread } from '../sql-expressions.ts';
import { FOLLOW_UP_JOB } from './follow-up-schedule.ts';

/** Deletions of tasks: requested by a person, done at the service and announced in the thread by a job. */
export class TaskDeletions extends Queries {
  /**
   * Removes a task from its thread, whose next message starts another one, and records the job, which the caller has for
   * `holdMs`. `busy` while a turn is under way; `over` if the thread no longer has this task.
   */
  async request(
    thread: ThreadKey,
    task: string,
    person: string,
    holdMs: number,
  ): Promise<Job | 'busy' | 'over'> {
    return this.db.transaction().execute(async (trx) => {
      const { rows } = await sql<{ account_id: string; is_busy: boolean }>`
        select account_id, exists (select from turns where ${inThread(thread)} and finished_at is null) as is_busy
        from threads where ${inThread(thread)} and task_id = ${task} for update`.execute(trx);
      const [found] = rows;
      if (found === undefined) return 'over';
      const { account_id, is_busy } = found;
      if (is_busy) return 'busy';
      await sql`
        update threads set task_id = null, task_title = null, task_started_at = null, task_state = null,
          task_state_read_at = null, project_id = null, participant_ids = '{}', quotable_task_ids = '{}'
        where ${inThread(thread)}`.execute(trx);
      await sql`delete from jobs where ${inThread(thread)} and kind = ${FOLLOW_UP_JOB}`.execute(trx);
      const { workspace, channel, thread_ts } = thread;
      const job = { workspace, kind: TASK_DELETION_JOB, channel, thread_ts, key: task, person };
      return (await new Jobs(trx).add({ ...job, payload: { account_id } }, { holdMs })) ?? 'over';
    });
  }

  /** The task is gone at the service: recorded together with an audit event, by the process that has the job. */
  async markDeleted({ claim_id }: Job): Promise<void> {
    await this.changes(sql`
      with done as (
        update jobs set payload = payload || '{"is_deleted": true}'
        where claim_id = ${claim_id} and payload -> 'is_deleted' is null
        returning workspace, person, channel, thread_ts, key)
      insert into audit_events (workspace, kind, user_id, channel, thread_ts, task_id)
      select workspace, 'deletion', nullif(person, ''), channel, thread_ts, key from done`);
  }
}
