import { type Kysely, sql } from 'kysely';
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
