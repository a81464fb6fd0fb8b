import { type RawBuilder, sql } from 'kysely';
import { inThread, millis, Queries } from '../queries.ts';
import type { Thread, ThreadKey, Turn } from '../schema.ts';
import { waitsForPerson } from './person-waits.ts';
import { hasSent, isAtWork, isOpenTurn } from './turn-phase.ts';

/** The most turns of a person and of a workspace, per hour and at once; 0: no limit. */
export interface TurnLimits {
  hourPerson: number;
  hourWorkspace: number;
  atOncePerson: number;
  atOnceWorkspace: number;
}

/** How many turns count towards a limit, at most as many as it allows: the oldest began so by the database's clock, which says `now`. */
export interface LimitUse {
  limit: keyof TurnLimits;
  most: number;
  count: number;
  began_at: Date | null;
  now: Date;
}

/** A turn at work, or one that waits for a person. */
export interface RunningTurn
  extends Pick<Turn, 'channel' | 'thread_ts' | 'asked_by' | 'started_at' | 'waits_since'>,
    Pick<Thread, 'task_title'> {
  turn_id: string;
  /** It waits for the person who asks. */
  is_waiting: boolean;
  is_running: boolean;
  /** A stop was requested. */
  is_stopping: boolean;
}

/** Turns per person, channel and workspace, and the limits that they are compared with. */
export class TurnUsage extends Queries {
  /** Locks the start of turns in the workspace until the transaction ends. */
  async lockWorkspace(workspace: string): Promise<void> {
    const name = `turn-quota/${workspace}`;
    await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(this.db);
  }

  /**
   * In a channel, the turns that wait for a person, those at work for them, and for others in threads that they started; then
   * those at work for them in other channels. Newest first. Of a message that was passed on, only the answer to both counts,
   * unless it gets one of its own.
   */
  async runningOf(
    { workspace, channel, person }: { workspace: string; channel: string; person: string },
    limit: number,
  ): Promise<RunningTurn[]> {
    const [isHere, isOwn] = [sql`channel = ${channel}`, sql`asked_by = ${person}`];
    const isWaiting = sql`(${isHere} and ${isOwn} and ${waitsForPerson})`;
    return this.rows(sql<RunningTurn>`
      select id as turn_id, channel, thread_ts, asked_by, task_title, started_at, waits_since, stop_requested_at is not null as is_stopping,
        ${isWaiting} as is_waiting, ${isAtWork} as is_running
      from turns join threads using (workspace, channel, thread_ts)
      where workspace = ${workspace} and (${isOpenTurn} or waits_since is not null)
        and (${isAtWork} and (${isOwn} or ${isHere} and started_by = ${person}) or ${isWaiting})
        and (passed_on_by_turn_id is null or first_visible_at is not null)
      order by is_waiting desc, ${isHere} and ${isOwn} desc, ${isHere} desc, started_at desc limit ${limit}`);
  }

  /** How many turns are at work in a channel. */
  async countRunning(workspace: string, channel: string): Promise<number> {
    const row = await this.first(sql<{ count: number }>`
      select count(*)::int as count from turns
      where workspace = ${workspace} and channel = ${channel} and ${isAtWork}`);
    return row?.count ?? 0;
  }

  /** Whether bots had so many turns in a thread in the last `ms`, since a person asked there: a file names its bot's user. */
  async areBotsAlone(thread: ThreadKey, { count, ms }: { count: number; ms: number }): Promise<boolean> {
    return this.exists(sql`
      select from turns where ${inThread(thread)} and asked_by like 'B%' and started_at > greatest(now() - ${millis(ms)}, (
        select max(received_at) from messages where ${inThread(thread)} and user_id not like 'B%'
          and state not in ('unsent', 'refused'))) limit 1 offset ${count - 1}::int`);
  }

  /** The skills that the service took in the workspace's newest 1,000 turns, the newest first. */
  async recentSkills(workspace: string, most: number): Promise<string[]> {
    const rows = await this.rows(sql<{ skill: string }>`
      select skill from (
        select skill, started_at, phase from turns where workspace = ${workspace} order by started_at desc limit 1000) as newest
      where skill is not null and ${hasSent} group by skill order by max(started_at) desc limit ${most}`);
    return rows.map(({ skill }) => skill);
  }

  /** What a person has used of the limits that are set: by the turns of the last `hourMs`, and those not finished. */
  async used(workspace: string, person: string, limits: TurnLimits, hourMs: number): Promise<LimitUse[]> {
    const all = sql`workspace = ${workspace}`;
    const theirs = sql`${all} and asked_by = ${person}`;
    const isRecent = sql`started_at > now() - ${millis(hourMs)}`;
    const uses = [
      limitUse('hourPerson', limits, sql`${theirs} and ${isRecent}`),
      limitUse('atOncePerson', limits, sql`${theirs} and ${isOpenTurn}`),
      limitUse('hourWorkspace', limits, sql`${all} and ${isRecent}`),
      limitUse('atOnceWorkspace', limits, sql`${all} and ${isOpenTurn}`),
    ];
    return this.rows(sql<LimitUse>`${sql.join(uses, sql` union all `)}`);
  }
}

/** The row of a limit, if it is set; no more turns are counted than it allows. */
function limitUse(limit: keyof TurnLimits, { [limit]: most }: TurnLimits, counts: RawBuilder<unknown>) {
  return sql`
    select ${limit}::text as "limit", ${most}::int as most, count(*)::int as count, min(started_at) as began_at, clock_timestamp() as now
    from (select started_at from turns where ${counts} order by started_at desc limit ${most}::int) as counted
    having ${most}::int > 0`;
}
