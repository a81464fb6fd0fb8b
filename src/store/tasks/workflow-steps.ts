import { sql } from 'kysely';
import { fromNow } from '../clock.ts';
import { isInstalled, isUnclaimed } from '../filters.ts';
import { changesRow, Queries } from '../queries.ts';
import type { SlackTs, TaskStart, Turn, WorkflowStep } from '../schema.ts';

/** How long a process has to complete a step before another tries (ms). */
const CLAIM_MS = 60_000;

/** Identifies one run of a step. */
export type WorkflowStepKey = Pick<WorkflowStep, 'workspace' | 'execution_id'>;

/** A step that is to be completed, and what its thread has come to; null where there is no thread, task or turn yet. */
export interface DueStep extends WorkflowStep {
  task_id: string | null;
  account_id: string | null;
  assistant_message_id: string | null;
  outcome: Turn['outcome'];
  finished_at: Date | null;
}

/** Steps of workflows: each run of one is recorded with its start, and completed in Slack once it has come that far. */
export class WorkflowSteps extends Queries {
  /** Records a step that Slack runs; false if Slack has sent it before. */
  async add(
    step: WorkflowStepKey & Pick<WorkflowStep, 'channel' | 'start_id' | 'refusal' | 'waits_for_answer'>,
  ): Promise<boolean> {
    return changesRow(
      this.db
        .insertInto('workflow_steps')
        .values(step)
        .onConflict((conflict) => conflict.columns(['workspace', 'execution_id']).doNothing()),
    );
  }

  /** The question of a start is in its thread; changes nothing if no step has asked it. */
  async setThread({ workspace, id }: Pick<TaskStart, 'workspace' | 'id'>, thread_ts: SlackTs): Promise<void> {
    await this.db
      .updateTable('workflow_steps')
      .set({ thread_ts })
      .where((row) => row.and({ workspace, start_id: id }))
      .where('completed_at', 'is', null)
      .execute();
  }

  /** Claims steps that can be completed and that no process is completing, the longest untried first. */
  async claimDue(limit: number): Promise<DueStep[]> {
    const { rows } = await sql<DueStep>`
      with claimed as (
        update workflow_steps set claimed_until = ${fromNow(CLAIM_MS)}
        where (workspace, execution_id) in (
          select workspace, execution_id from workflow_steps where ${isStepDue}
          order by claimed_until nulls first limit ${limit} for update skip locked)
        returning *)
      select claimed.*, threads.task_id, threads.account_id, turns.assistant_message_id, turns.outcome, turns.finished_at
      from claimed
      left join threads on (threads.workspace, threads.channel, threads.thread_ts)
        = (claimed.workspace, claimed.channel, claimed.thread_ts)
      left join turns on (turns.workspace, turns.channel, turns.message_ts)
        = (claimed.workspace, claimed.channel, claimed.thread_ts)`.execute(this.db);
    return rows;
  }

  /** Slack has completed the step, or closed it before. */
  async markCompleted({ workspace, execution_id }: WorkflowStepKey): Promise<void> {
    await this.db
      .updateTable('workflow_steps')
      .set({ completed_at: sql<Date>`clock_timestamp()` })
      .where((row) => row.and({ workspace, execution_id }))
      .execute();
  }
}

/** Rows of the message that a step has posted. */
const ofStep = (table: string, ts: string) => sql`
  (${sql.ref(`${table}.workspace`)}, ${sql.ref(`${table}.channel`)}, ${sql.ref(`${table}.${ts}`)})
    = (workflow_steps.workspace, workflow_steps.channel, workflow_steps.thread_ts)`;

/** Whether a step can be completed and no process is completing it. For the table of steps. */
export const isStepDue = sql<boolean>`completed_at is null and ${isUnclaimed()} and ${isInstalled} and (
  refusal is not null
  or thread_ts is null and not exists (
    select from task_starts where (task_starts.workspace, task_starts.id)
      = (workflow_steps.workspace, workflow_steps.start_id) and task_starts.state <> 'done')
  or not waits_for_answer and exists (
    select from threads where ${ofStep('threads', 'thread_ts')} and threads.task_id is not null)
  or exists (select from turns where ${ofStep('turns', 'message_ts')} and turns.finished_at is not null)
  or exists (select from messages where ${ofStep('messages', 'ts')} and messages.state in ('refused', 'withdrawn')))`;
