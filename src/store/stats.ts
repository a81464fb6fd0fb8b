import { type Kysely, sql } from 'kysely';
import type { Tables } from './schema.ts';
import { type TurnState, turnState } from './threads/turn-steps.ts';

/** What is going on, over all processes. */
export interface Stats {
  /** Messages that wait. */
  waiting: number;
  /** How long the oldest of them has waited, in seconds. */
  oldestWaitingSeconds: number;
  /** Unfinished turns, by what they are doing. */
  turns: Partial<Record<TurnState, number>>;
  /** Ratings of the last 24 hours. */
  feedback: { good: number; bad: number };
}

/** Counts messages, turns and ratings for operators: three small queries on partial indexes. */
export async function readStats(db: Kysely<Tables>): Promise<Stats> {
  const waiting = await sql<{ count: number; oldest: number }>`
    select count(*) as count, coalesce(extract(epoch from now() - min(received_at)), 0)::float8 as oldest
    from messages where state = 'waiting'`.execute(db);
  const turns = await sql<{ state: TurnState; count: number }>`
    select ${turnState} as state, count(*) as count from turns where finished_at is null group by 1`.execute(
    db,
  );
  const feedback = await sql<{ good: number; bad: number }>`
    select count(*) filter (where is_positive) as good, count(*) filter (where not is_positive) as bad from feedback
    where given_at > now() - interval '1 day'`.execute(db);
  return {
    feedback: { good: feedback.rows[0]?.good ?? 0, bad: feedback.rows[0]?.bad ?? 0 },
    waiting: waiting.rows[0]?.count ?? 0,
    oldestWaitingSeconds: waiting.rows[0]?.oldest ?? 0,
    turns: Object.fromEntries(turns.rows.map(({ state, count }) => [state, count])),
  };
}
