import { sql } from 'kysely';
import {
  countChanges,
  fromNow,
  isInstalled,
  isUnclaimed,
  nextTry,
  Queries,
  toPostgresJson,
} from '../queries.ts';
import type { Job, MessageKey, SlackTs, ThreadKey } from '../schema.ts';

/** The kinds of jobs. A key is '' where there is one job of the kind in each place. */
export const JOB_KIND = {
  /** Sends a person the files of a turn; the key is the turn's id and the person. */
  answerFiles: 'answer_files',
  /** Links a thread to the one in which its question was asked again; the key is the start's id. */
  askedAgain: 'asked_again',
  /**
   * Reads a thread, or the top level of a channel, back: after a gap in receiving, for replies that overtook their mention, or
   * where the bot joined. The key is the ts of a single message.
   */
  backfill: 'backfill',
  /** Moves a channel to a new id, which is the job's; the key is the old one. */
  channelMove: 'channel_move',
  /** Tells a channel whose messages go to the agent from now on; each change has a key. */
  channelNotice: 'channel_notice',
  /** Checks a thread's task after its last turn has ended. */
  followUp: 'follow_up',
  /** Gives a project the name of its channel; the key is the account. */
  projectName: 'project_name',
  /** Reminds who asked that a turn waits for them, and takes that back; the key is the turn's id. */
  reminder: 'reminder',
  /** Asks registries about the sources that a turn's answer names, and marks them; the key is the turn's id. */
  sourceCheck: 'source_check',
  /** Deletes a task at the service and tells its thread, even where the app was removed; the key is the task's id. */
  taskDeletion: 'task_deletion',
  /** Sends a person the record of a task; the key is the task's id and the person. */
  taskRecord: 'task_record',
  /** Posts the question of a form into its channel; the key is the start's id. */
  taskStart: 'task_start',
  /** Runs a thread's open turn, or its next one. `record_message` asks for it, too. */
  turn: 'turn',
  /** Ends an installation, once it is certain that Slack's event is about it; the workspace may be an organisation. */
  uninstallation: 'uninstallation',
  /** Marks a message that waits for its turn, and takes that back; the key is the message's ts. */
  waitingReaction: 'waiting_reaction',
  /** Says in a channel, or to the person of a direct conversation, how to begin. */
  welcome: 'welcome',
  /** Completes a step of a workflow, once its turn has ended; the key is Slack's id of the run. */
  workflowStep: 'workflow_step',
} as const;

/** In place of a thread's ts: the job is about the channel, or no thread of it yet. */
export const CHANNEL_LEVEL: SlackTs = '0.000000';

/** Identifies a job. Channel and thread belong to the key, so that a job follows its channel to a new id. */
export type JobKey = Pick<Job, 'workspace' | 'kind' | 'channel' | 'thread_ts' | 'key'>;

/** A job to record. Its payload holds opaque ids and times, never what people write. */
export type NewJob = JobKey & Partial<Pick<Job, 'person' | 'payload'>>;

/**
 * How many more jobs of a kind a process takes, and the most that it has of one workspace at a time. `isUnpaced`: where its
 * process dies, the job does not wait.
 */
export interface JobRoom {
  kind: string;
  room: number;
  share: number;
  isUnpaced?: boolean;
}

/** A claim for a job that is about to be recorded, as its process makes it: for `holdMs`. */
export interface JobClaim {
  id: string;
  holder: string | undefined;
  holdMs: number;
}

/** When a job runs again, and what it knows by then. */
export interface NextRun {
  inMs: number;
  payload?: Job['payload'];
}

/** A job that fails, or whose process dies, waits as long as it has been tried so far (ms), within these limits. */
const PAUSE_MS = { shortest: 1_000, longest: 600_000 };

/** Processes that may claim at the same moment: each gets the jobs that the others do not have. */
const CLAIMS_AT_ONCE = 8;

/** Work to do later, by any process. A job that is asked for again while it runs, runs again. */
export class Jobs extends Queries {
  /** Asks for a job in `inMs`; of one that waits already, payload and time are replaced. */
  async want(job: NewJob, inMs = 0): Promise<void> {
    await this.changes(jobWanted(job, inMs));
  }

  /** Asks for a job unless it is known; false if it was. */
  async add(job: NewJob, inMs = 0): Promise<boolean> {
    return this.changes(sql`${jobInsert(job, inMs)} on conflict do nothing`);
  }

  async wake(job: Omit<JobKey, 'key'>): Promise<void> {
    await this.changes(jobWake(job, [job.kind]));
  }

  /** A job is no longer needed, also one that runs. */
  async remove({ workspace, kind, channel, thread_ts, key }: JobKey): Promise<void> {
    await this.changes(sql`
      delete from jobs where (${JOB_KEY}) = (${workspace}, ${kind}, ${channel}, ${thread_ts}, ${key})`);
  }

  /** A job that waits or runs, or was done and is remembered. */
  async get({ workspace, kind, channel, thread_ts, key }: JobKey): Promise<Job | undefined> {
    return this.first(sql<Job>`
      select ${jobColumns()} from jobs where (${JOB_KEY}) = (${workspace}, ${kind}, ${channel}, ${thread_ts}, ${key})`);
  }

  /**
   * Claims due jobs for `holdMs`, of each workspace some: its people take turns, the longest due first. Where a workspace has
   * one at a time, a person's others are due from now on, behind those of other people. `held`: the claims of
   * this process that count for its shares; `holder`: its id. A job that fails, or whose process dies, goes to the end of
   * its person's queue, each time for longer.
   */
  async claim(
    rooms: readonly JobRoom[],
    held: readonly string[],
    holdMs: number,
    holder?: string,
  ): Promise<Job[]> {
    const unpaced = rooms.flatMap(({ kind, isUnpaced }) => (isUnpaced === true ? [kind] : []));
    // Joined by ctid: without statistics, a join of many due rows by their keys takes seconds.
    return this.rows(sql<Job>`
      with rooms as (
        select * from unnest(${rooms.map(({ kind }) => kind)}::text[], ${rooms.map(({ room }) => room)}::int[],
          ${rooms.map(({ share }) => share)}::int[]) as rooms (kind, room, share)
      ), ours as (
        select kind, workspace, count(*) as held from jobs where claim_id = any(${held}::uuid[]) group by kind, workspace
      ), waiting as materialized (
        select jobs.ctid as at, kind, workspace, due_at, share,
          row_number() over (partition by kind, workspace, person order by due_at) as turn
        from jobs join rooms using (kind) where ${isJobDue}
      ), due as (
        select at, kind, due_at, share, coalesce(held, 0)
          + row_number() over (partition by kind, workspace order by turn, due_at) as place
        from waiting left join ours using (kind, workspace)
      ), chosen as materialized (
        select at, kind, row_number() over (partition by kind order by place, due_at) as position
        from due where place <= share
      ), locked as materialized (
        select free.at from rooms cross join lateral (
          select jobs.ctid as at from chosen join jobs on jobs.ctid = chosen.at
          where chosen.kind = rooms.kind and position <= room * ${CLAIMS_AT_ONCE} and ${isJobDue}
          order by position limit room for update of jobs skip locked
        ) as free
      ), served as (
        select distinct kind, workspace, person from jobs
        where person <> '' and ctid = any(array(select at from locked))
      ), behind as materialized (
        select jobs.ctid as at, jobs.due_at from jobs join served using (kind, workspace, person) join rooms using (kind)
        where share = 1 and jobs.ctid <> all(array(select at from locked)) and ${isJobDue} for update of jobs skip locked
      ), moved as (
        update jobs set due_at = clock_timestamp() + place * interval '1 microsecond'
        from (select at, row_number() over (order by due_at) as place from behind) as others where jobs.ctid = at
      )
      update jobs set claim_id = gen_random_uuid(), claimed_until = ${fromNow(holdMs)}, holder = ${holder ?? null}::uuid,
        tried_since = coalesce(tried_since, clock_timestamp()),
        due_at = case when kind = any(${unpaced}::text[]) then due_at else ${nextTry('tried_since', PAUSE_MS)} end
      where ctid = any(array(select at from locked))
      returning ${jobColumns()}`);
  }

  /** Extends claims to `holdMs` from now; returns those that this process still has. One that changes just now is left for the next time. */
  async renew(held: readonly string[], holdMs: number): Promise<{ claim_id: string; isRenewed: boolean }[]> {
    return this.rows(sql<{ claim_id: string; isRenewed: boolean }>`
      with free as materialized (
        select ctid as at from jobs where claim_id = any(${held}::uuid[]) and claimed_until > clock_timestamp()
        for no key update skip locked
      ), renewed as (
        update jobs set claimed_until = ${fromNow(holdMs)} where ctid = any(array(select at from free)) returning claim_id
      )
      select jobs.claim_id, renewed.claim_id is not null as "isRenewed" from jobs left join renewed using (claim_id)
      where jobs.claim_id = any(${held}::uuid[]) and jobs.claimed_until > clock_timestamp()`);
  }

  /** Ends the claims of these holders, or all: their processes have ended. How many there were. */
  async releaseHeld(holders?: readonly string[]): Promise<number> {
    const isTheirs = holders === undefined ? sql`true` : sql`holder = any(${holders}::uuid[])`;
    return countChanges(
      this.db,
      sql`update jobs set ${UNCLAIMED} where claim_id is not null and ${isTheirs}`,
    );
  }

  /** Something is about to happen that must not be repeated, and is `known`; false if the claim has expired. */
  async intend({ claim_id }: Job, known: Job['payload'] = {}): Promise<boolean> {
    return this.changes(sql`
      update jobs set intended_at = coalesce(intended_at, clock_timestamp()),
        payload = payload || ${toPostgresJson(known)}::jsonb
      where claim_id = ${claim_id} and claimed_until > clock_timestamp()`);
  }

  /** What was intended has certainly not happened. */
  async forgetIntent({ claim_id }: Job): Promise<void> {
    await this.changes(sql`update jobs set intended_at = null where claim_id = ${claim_id}`);
  }

  /** A claimed job is done, unless it was asked for again; `isRemembered`: its row stays for some days. */
  async done(job: Job, isRemembered: boolean): Promise<void> {
    const over = isRemembered
      ? sql`update jobs set done_at = clock_timestamp(), ${RELEASED} where ${isAsClaimed(job)} returning 1`
      : jobDeletion(job);
    await this.changes(sql`
      with over as (${over})
      update jobs set ${RELEASED} where claim_id = ${job.claim_id} and not exists (select from over)`);
  }

  /** A claimed job made progress and runs again, at once if it was asked for again meanwhile. */
  async again({ claim_id, version }: Job, { inMs, payload }: NextRun): Promise<void> {
    const isSame = sql`version = ${version}`;
    await this.changes(sql`
      update jobs set ${RELEASED},
        due_at = case when ${isSame} then ${fromNow(inMs)} else due_at end,
        payload = case when ${isSame} then coalesce(${payload === undefined ? null : toPostgresJson(payload)}::jsonb, payload)
          else payload end
      where claim_id = ${claim_id}`);
  }

  /** The process stops: claimed jobs are due at once, for another. */
  async release(jobs: readonly Pick<Job, 'claim_id'>[]): Promise<void> {
    await this.changes(sql`
      update jobs set ${UNCLAIMED}, due_at = clock_timestamp()
      where claim_id = any(${jobs.map(({ claim_id }) => claim_id)}::uuid[])`);
  }

  /** A claimed job failed: it is due when the pauses say, not before `waitMs`. */
  async failed({ claim_id }: Job, waitMs: number): Promise<void> {
    await this.changes(sql`
      update jobs set ${UNCLAIMED}, due_at = greatest(due_at, ${fromNow(waitMs)})
      where claim_id = ${claim_id}`);
  }
}

const KEY = ['workspace', 'kind', 'channel', 'thread_ts', 'key'];
const JOB_KEY = sql.raw(KEY.join(', '));

/** What a run knows of its job, in a row of the table. */
export function jobColumns(row = 'jobs') {
  const more = [
    'person',
    'payload',
    'version',
    'created_at',
    'claim_id',
    'tried_since',
    'intended_at',
    'done_at',
  ];
  return sql.raw([...KEY, ...more].map((name) => `(${row}).${name}`).join(', '));
}
const UNCLAIMED = sql.raw('claim_id = null, claimed_until = null, holder = null');
const RELEASED = sql`${UNCLAIMED}, tried_since = null, intended_at = null`;

/** A statement that records a job if `only` holds, without what happens where it is known. */
export function jobInsert(job: NewJob, inMs = 0, only = sql`true`) {
  const { workspace, kind, channel, thread_ts, key, person = '', payload = {} } = job;
  return sql`
    insert into jobs (${JOB_KEY}, person, payload, due_at)
    select ${workspace}, ${kind}, ${channel}, ${thread_ts}::numeric, ${key}, ${person}, ${toPostgresJson(payload)}::jsonb,
      ${fromNow(inMs)}
    where ${only}`;
}

/** After an insertion into the table of jobs: of one that waits already, payload and time are replaced. */
export const OR_WANT_AGAIN = sql.raw(`
  on conflict (workspace, kind, channel, thread_ts, key) do update
  set version = jobs.version + 1, payload = excluded.payload, due_at = excluded.due_at, tried_since = null, done_at = null`);

/** A statement that asks for a job in `inMs`, as `Jobs.want` does. */
export function jobWanted(job: NewJob, inMs: number) {
  return sql`${jobInsert(job, inMs)} ${OR_WANT_AGAIN}`;
}

/** Whether a job is still claimed, and was not asked for again. */
function isAsClaimed({ claim_id, version }: Job) {
  return sql`claim_id = ${claim_id} and version = ${version}`;
}

/** A statement that deletes a claimed job, unless it was asked for again, or `only` does not hold. */
export function jobDeletion(job: Job, only = sql`true`) {
  return sql`delete from jobs where ${isAsClaimed(job)} and ${only} returning 1`;
}

/** Of a job that is due now; one that runs runs again. */
const DUE_NOW = sql.raw('version = version + 1, due_at = clock_timestamp()');

/**
 * A statement that makes waiting jobs due now, which are a thread's or name it in their payload: something they wait for has
 * happened.
 */
export function jobWake({ workspace, channel, thread_ts }: ThreadKey, kinds: readonly string[]) {
  return sql`
    update jobs set ${DUE_NOW} where (workspace, channel) = (${workspace}, ${channel}) and kind = any(${kinds}::text[])
      and (thread_ts = ${thread_ts} or payload ->> 'thread_ts' = ${thread_ts}) and done_at is null`;
}

/** A statement that makes the job of a message's mark due now, or those of several: they no longer wait. */
export function markWake({ workspace, channel, ts }: MessageKey, marked: readonly SlackTs[] = [ts]) {
  return sql`
    update jobs set ${DUE_NOW}
    where (workspace, kind, channel) = (${workspace}, ${JOB_KIND.waitingReaction}, ${channel})
      and key = any(${[...marked]}::text[])`;
}

/** Whether a job waits for a process. For the table of jobs, whose index is found by a time that stands still. */
export const isJobDue = sql<boolean>`jobs.done_at is null and jobs.due_at <= statement_timestamp()
  and ${isUnclaimed('jobs.claimed_until')} and (jobs.kind = ${sql.lit(JOB_KIND.taskDeletion)} or ${isInstalled})`;
