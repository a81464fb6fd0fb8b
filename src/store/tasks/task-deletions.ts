import { sql } from 'kysely';
import { Queries } from '../queries.ts';
import type { TaskDeletion, ThreadKey } from '../schema.ts';
import { fromNow, inThread, isInstalled, isUnclaimed, placeInWorkspace } from '../sql-expressions.ts';

/** How long a process has for a deletion before another continues it (ms). */
const CLAIM_MS = 60_000;

type TaskDeletionKey = Pick<TaskDeletion, 'workspace' | 'task_id'>;

/** Deletions of tasks: requested by a person, done at the service, announced in the thread. */
export class TaskDeletions extends Queries {
  /**
   * Removes a task from its thread, whose next message starts another one, and records the deletion. `busy` while a turn
   * is under way; `over` if the thread no longer has this task.
   */
  async request(thread: ThreadKey, task: string, person: string): Promise<TaskDeletion | 'busy' | 'over'> {
    return this.db.transaction().execute(async (trx) => {
      const { workspace, channel, thread_ts } = thread;
      const { rows } = await sql<{ account_id: string; is_busy: boolean }>`
        select account_id, exists (select from turns where ${inThread(thread)} and finished_at is null) as is_busy
        from threads where ${inThread(thread)} and task_id = ${task} for update`.execute(trx);
      const [found] = rows;
      if (found === undefined) return 'over';
      const { account_id, is_busy } = found;
      if (is_busy) return 'busy';
      await sql`
        update threads set task_id = null, task_title = null, task_started_at = null, task_state = null,
          task_state_read_at = null, project_id = null, participant_ids = '{}'
        where ${inThread(thread)}`.execute(trx);
      const { rows: requested } = await sql<TaskDeletion>`
        with cancelled as (delete from follow_ups where ${inThread(thread)})
        insert into task_deletions (workspace, channel, thread_ts, task_id, requested_by, account_id, claimed_until)
        values (${workspace}, ${channel}, ${thread_ts}, ${task}, ${person}, ${account_id}, ${fromNow(CLAIM_MS)})
        returning *`.execute(trx);
      return requested[0] ?? 'over';
    });
  }

  /** The deletion of a task, if it was requested. */
  async get({ workspace, task_id }: TaskDeletionKey): Promise<TaskDeletion | undefined> {
    return this.first(sql<TaskDeletion>`
      select * from task_deletions where workspace = ${workspace} and task_id = ${task_id}`);
  }

  /**
   * Claims deletions that are not announced yet and that no process is working on, of each workspace some. Where the app
   * was removed, only the service is told.
   */
  async claimDue(limit: number): Promise<TaskDeletion[]> {
    return this.rows(sql<TaskDeletion>`
      with due as (
        select workspace, task_id, ${placeInWorkspace(sql`claimed_until`)} from task_deletions where ${isDeletionDue}
      )
      update task_deletions set claimed_until = ${fromNow(CLAIM_MS)}
      where (workspace, task_id) in (
        select workspace, task_id from task_deletions join due using (workspace, task_id)
        where ${isDeletionDue} order by place, claimed_until limit ${limit} for update of task_deletions skip locked)
      returning *`);
  }

  /** The task is gone at the service: recorded together with an audit event. */
  async markDeleted(deletion: TaskDeletion): Promise<void> {
    const { workspace, channel, thread_ts, task_id, requested_by } = deletion;
    await this.changes(sql`
      with done as (
        update task_deletions set deleted_at = clock_timestamp()
        where workspace = ${workspace} and task_id = ${task_id} and deleted_at is null returning workspace)
      insert into audit_events (workspace, kind, user_id, channel, thread_ts, task_id)
      select workspace, 'deletion', nullif(${requested_by}, ''), ${channel}, ${thread_ts}::numeric, ${task_id} from done`);
  }

  /** The thread is about to be notified; false if the claim has expired: another process may do it. */
  async intendNotice({ workspace, task_id, claimed_until }: TaskDeletion): Promise<boolean> {
    return this.changes(sql`
      update task_deletions set notice_intended_at = coalesce(notice_intended_at, clock_timestamp())
      where workspace = ${workspace} and task_id = ${task_id} and claimed_until > clock_timestamp()
        -- A later claim ends at least a minute after this one.
        and claimed_until < ${new Date(claimed_until.getTime() + 1_000)}`);
  }

  /** The thread was notified, or cannot be. */
  async markNotified({ workspace, task_id }: TaskDeletionKey): Promise<void> {
    await this.changes(sql`
      update task_deletions set notified_at = ${new Date()} where workspace = ${workspace} and task_id = ${task_id}`);
  }
}

/** Whether a deletion is unfinished and no process is working on it. For the table of deletions. */
export const isDeletionDue = sql<boolean>`notified_at is null and (deleted_at is null or ${isInstalled}) and ${isUnclaimed()}`;
