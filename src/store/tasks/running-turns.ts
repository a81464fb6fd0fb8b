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
    return this.#query(workspace, channel)
      .where((where) =>
        where.or([where('turns.asked_by', '=', person), where('threads.started_by', '=', person)]),
      )
      .select([
        'turns.id as turn_id',
        'turns.thread_ts',
        'threads.task_title',
        'turns.started_at',
        sql<boolean>`turns.stop_requested_at is not null`.as('is_stopping'),
      ])
      .orderBy('turns.started_at', 'desc')
      .limit(limit)
      .execute();
  }

  /** How many turns are at work in a channel. */
  async countInChannel(workspace: string, channel: string): Promise<number> {
    const { count } = await this.#query(workspace, channel)
      .select(sql<number>`count(*)::int`.as('count'))
      .executeTakeFirstOrThrow();
    return count;
  }

  #query(workspace: string, channel: string) {
    return this.db
      .selectFrom('turns')
      .innerJoin('threads', (join) =>
        join
          .onRef('threads.workspace', '=', 'turns.workspace')
          .onRef('threads.channel', '=', 'turns.channel')
          .onRef('threads.thread_ts', '=', 'turns.thread_ts'),
      )
      .where('turns.workspace', '=', workspace)
      .where('turns.channel', '=', channel)
      .where('turns.settled_at', 'is', null)
      .where('turns.finished_at', 'is', null);
  }
}
