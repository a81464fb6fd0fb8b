import { sql } from 'kysely';
import { Queries } from '../queries.ts';
import type { SlackTs, TaskStart, Turn, WorkflowStep } from '../schema.ts';
import { fromNow, isInstalled, isUnclaimed } from '../sql-expressions.ts';

/** How long a process has to complete a step before another tries (ms). */
const CLAIM_MS = 60_000;

type NewStep = Omit<WorkflowStep, 'thread_ts' | 'claimed_until' | 'completed_at' | 'created_at'>;

/** A step that is to be completed, and what its thread has come to; null where there is no thread, task or turn yet. */
export interface DueStep
  extends WorkflowStep,
    Pick<Turn, 'task_id' | 'assistant_message_id' | 'outcome' | 'finished_at'> {
  account_id: string | null;
}

/** Steps of workflows: each run of one is recorded with its start, and completed in Slack once it has come that far. */
export class WorkflowSteps extends Queries {
  /** Records a step that Slack runs; false if Slack has sent it before. */
  async add(step: NewStep): Promise<boolean> {
    const { workspace, execution_id, channel, start_id, refusal, waits_for_answer } = step;
    return this.changes(sql`
      insert into workflow_steps (workspace, execution_id, channel, start_id, refusal, waits_for_answer)
      values (${workspace}, ${execution_id}, ${channel}, ${start_id}, ${refusal}, ${waits_for_answer})
      on conflict do nothing`);
  }

  /** The question of a start is in its thread; changes nothing if no step has asked it. */
  async setThread({ workspace, id }: Pick<TaskStart, 'workspace' | 'id'>, thread_ts: SlackTs): Promise<void> {
    await this.changes(sql`
      update workflow_steps set thread_ts = ${thread_ts}
      where workspace = ${workspace} and start_id = ${id} and completed_at is null`);
  }

  /** Claims steps that can be completed and that no process is completing, the longest untried first. */
  async claimDue(limit: number): Promise<DueStep[]> {
    return this.rows(sql<DueStep>`
      with claimed as (
        update workflow_steps set claimed_until = ${fromNow(CLAIM_MS)}
        where (workspace, execution_id) in (
          select workspace, execution_id from workflow_steps where ${isStepDue}
          order by claimed_until nulls first limit ${limit} for update skip locked)
        returning *)
      select claimed.*, coalesce(turns.task_id, threads.task_id) as task_id, threads.account_id, turns.assistant_message_id, turns.outcome, turns.finished_at
      from claimed
      left join threads on (threads.workspace, threads.channel, threads.thread_ts)
        = (claimed.workspace, claimed.channel, claimed.thread_ts)
      left join turns on (turns.workspace, turns.channel, turns.message_ts)
        = (claimed.workspace, claimed.channel, claimed.thread_ts)`);
  }

  /** Slack has completed the step, or closed it before. */
  async markCompleted({ workspace, execution_id }: WorkflowStep): Promise<void> {
    await this.changes(sql`
      update workflow_steps set completed_at = clock_timestamp()
      where workspace = ${workspace} and execution_id = ${execution_id}`);
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
