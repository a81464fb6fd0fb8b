import { sql } from 'kysely';
import { Queries } from '../queries.ts';
import type { Thread, Turn } from '../schema.ts';

/** A turn at work. */
export interface RunningTurn extends Pick<Turn, 'thread_ts' | 'started_at'>, Pick<Thread, 'task_title'> {
  turn_id: string;
  /** A stop was requested. */
  is_stopping: boolean;
}

/** The turns at work in a channel. */
export class RunningTurns extends Queries {
  /** The turns at work that a person asked for, or whose task they started, newest first. */
  async ofUser(
    { workspace, channel, person }: { workspace: string; channel: string; person: string },
    limit: number,
  ): Promise<RunningTurn[]> {
    return this.rows(sql<RunningTurn>`
      select id as turn_id, thread_ts, task_title, started_at, stop_requested_at is not null as is_stopping
      from ${runningIn(workspace, channel)} and ${person} in (asked_by, started_by)
      order by started_at desc limit ${limit}`);
  }

  /** How many turns are at work in a channel. */
  async countInChannel(workspace: string, channel: string): Promise<number> {
    const row = await this.first(sql<{ count: number }>`
      select count(*)::int as count from ${runningIn(workspace, channel)}`);
    return row?.count ?? 0;
  }
}

function runningIn(workspace: string, channel: string) {
  return sql`turns join threads using (workspace, channel, thread_ts)
    where workspace = ${workspace} and channel = ${channel} and settled_at is null and finished_at is null`;
}
