import { type Kysely, sql } from 'kysely';
import type { AuditRange } from './audit-trail.ts';
import { Queries } from './queries.ts';
import type { Tables, TurnPhase } from './schema.ts';
import { isOpenTurn } from './threads/turn-phase.ts';
import { isRenewalDue } from './workspaces/installations.ts';

/** What is going on, over all processes. */
export interface Stats {
  /** Messages that wait. */
  waiting: number;
  /** How long the oldest of them has waited, in seconds. */
  oldestWaitingSeconds: number;
  /** Unfinished turns, by what they are doing. */
  turns: Partial<Record<TurnPhase, number>>;
  /** Ratings of the last 24 hours. */
  feedback: { good: number; bad: number };
  /** Tokens whose renewal is due; of these, those that expire within an hour, or have expired, are late. */
  renewals: { due: number; late: number };
  /** The most turns that began in the last hour for one person, and in one workspace. */
  begun: { person: number; workspace: number };
}

type Waiting = Pick<Stats, 'waiting' | 'oldestWaitingSeconds'>;

/** From workspace to workspace by the index of turns that the second part reads: the table itself may be long. */
const begun = (unmetered: string) => sql<Stats['begun']>`
  with recursive active (workspace) as (
    select min(workspace) from turns union all
    select (select min(turns.workspace) from turns where turns.workspace > active.workspace) from active where workspace is not null)
  select coalesce(max(count), 0)::int as person, coalesce(max(total), 0)::int as workspace from active, lateral (
    select count(*) filter (where asked_by not in (${unmetered}, '')) as count, sum(count(*)) over () as total
    from turns where turns.workspace = active.workspace and started_at > now() - interval '1 hour' group by asked_by) as begun`;

/** Counts messages, turns, ratings and renewals for operators, on indexes. `unmetered`: who has no quota as a person. */
export async function readStats(db: Kysely<Tables>, unmetered: string): Promise<Stats> {
  const counts = await sql<Waiting & Stats['feedback'] & Stats['renewals']>`
    select * from (
      select count(*) as waiting, coalesce(extract(epoch from now() - min(received_at)), 0)::float8 as "oldestWaitingSeconds"
      from messages where state = 'waiting') as messages, (
      select count(*) filter (where is_positive) as good, count(*) filter (where not is_positive) as bad
      from feedback where given_at > now() - interval '1 day') as ratings, (
      select count(*) as due, count(*) filter (where token_expires_at < now() + interval '1 hour') as late
      from installations where ${isRenewalDue}) as renewals`.execute(db);
  const turns = await sql<{ state: TurnPhase; count: number }>`
    select phase as state, count(*) as count from turns where ${isOpenTurn} group by 1`.execute(db);
  const [busiest = { person: 0, workspace: 0 }] = (await begun(unmetered).execute(db)).rows;
  const none = { good: 0, bad: 0, due: 0, late: 0, waiting: 0, oldestWaitingSeconds: 0 };
  const [{ good, bad, due, late, ...waiting } = none] = counts.rows;
  const byState = Object.fromEntries(turns.rows.map(({ state, count }) => [state, count]));
  return { ...waiting, feedback: { good, bad }, renewals: { due, late }, begun: busiest, turns: byState };
}

/** What is counted; minutes are those of the agent's work, from the start of each turn to its end. */
export const USAGE_FIGURES = [
  ...(['questions', 'answers', 'minutes', 'filesIn', 'filesOut'] as const),
  ...(['stops', 'failures', 'thumbsUp', 'thumbsDown'] as const),
] as const;

/** What was asked in a month (UTC, such as 2026-11). */
export interface UsageRow extends Record<(typeof USAGE_FIGURES)[number], number> {
  month: string;
  workspace: string;
  /** '' if people are not told apart, or were erased. */
  person: string;
  channel: string;
  /** '' for the service's default. */
  model: string;
}

/** Figures about turns, counted from the audit trail. */
export class Usage extends Queries {
  /** The rows of a time, a month at a time, counted in one pass; with `by` person, each person's are apart. */
  async *read({ since, until, workspace }: AuditRange, by?: 'person'): AsyncGenerator<UsageRow> {
    const found = await this.first(sql<{ oldest: Date | null; end: Date | null }>`
      select min(at) as oldest, least(${until ?? null}::timestamptz, max(at) + interval '1 ms') as end
      from audit_events where at >= ${since}`);
    const { oldest: first = null, end = null } = found ?? {};
    for (let from = first; from !== null && end !== null && from < end; ) {
      const next = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1));
      yield* await this.#readMonth({ since: from, until: next < end ? next : end, workspace }, by);
      from = next;
    }
  }

  async #readMonth({ since, until, workspace }: AuditRange, by?: 'person'): Promise<UsageRow[]> {
    const person = by === undefined ? sql`''` : sql`coalesce(user_id, '')`;
    const key = sql`month, workspace, person, channel, model`;
    return this.rows(sql<UsageRow>`
      with ended as (
        select to_char(at at time zone 'UTC', 'YYYY-MM') as month, workspace, ${person} as person, turn_id,
          coalesce(channel, '') as channel, coalesce(details ->> 'model', '') as model,
          (details ->> 'sent')::boolean as is_sent, details ->> 'outcome' as outcome, details
        from audit_events where kind = 'turn' and at >= ${since} and at < ${until}
          and workspace = coalesce(${workspace ?? null}::text, workspace))
      select ${key}, count(*) filter (where is_sent)::int as questions,
        count(*) filter (where is_sent and outcome in ('completed', 'length'))::int as answers,
        coalesce(round(sum((details ->> 'seconds')::numeric) filter (where is_sent) / 60, 1), 0)::float8 as minutes,
        sum((details ->> 'filesIn')::int)::int as "filesIn", sum((details ->> 'filesOut')::int)::int as "filesOut",
        count(*) filter (where outcome = 'cancelled')::int as stops,
        count(*) filter (where outcome in ('failed', 'refused', 'abandoned'))::int as failures,
        coalesce(sum(up), 0)::int as "thumbsUp", coalesce(sum(down), 0)::int as "thumbsDown"
      from ended left join (
        select workspace, turn_id, count(*) filter (where is_positive) as up, count(*) filter (where not is_positive) as down
        from feedback where given_at >= ${since}::timestamptz - interval '1 day' group by workspace, turn_id) as thumbs using (workspace, turn_id)
      group by ${key}
      having bool_or(is_sent or outcome in ('cancelled', 'failed', 'refused', 'abandoned')) order by ${key}`);
  }
}
