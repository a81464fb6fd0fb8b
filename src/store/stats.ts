import { type Kysely, sql } from 'kysely';
import type { Tables } from './schema.ts';

/** What is going on, over all processes. */
export interface Stats {
  /** Messages that wait their turn. */
  waiting: number;
  /** How long the oldest of them has waited, in seconds. */
  oldestWaitingSeconds: number;
  /** Turns that are not finished, by the last step that was recorded. */
  turns: Partial<Record<TurnState, number>>;
  /** Thumbs that are kept. */
  feedback: { good: number; bad: number };
}

/** Where an unfinished turn can be, in their order. */
export const TURN_STATES = ['opening', 'preparing', 'sending', 'sent', 'following', 'finishing'] as const;
export type TurnState = (typeof TURN_STATES)[number];

/** Counts over the product's tables, for operators; two small queries on partial indexes. */
export async function readStats(db: Kysely<Tables>): Promise<Stats> {
  const waiting = await sql<{ count: number; oldest: number }>`
    select count(*) as count, coalesce(extract(epoch from now() - min(received_at)), 0)::float8 as oldest
    from messages where state = 'waiting'`.execute(db);
  const turns = await sql<{ state: TurnState; count: number }>`
    select case
        when settled_at is not null then 'finishing'
        when assistant_message_id is not null then 'following'
        when user_message_id is not null then 'sent'
        when content is not null then 'sending'
        when first_visible_at is not null then 'preparing'
        else 'opening'
      end as state, count(*) as count
    from turns where finished_at is null group by 1`.execute(db);
  const feedback = await sql<{ good: number; bad: number }>`
    select count(*) filter (where good) as good, count(*) filter (where not good) as bad from feedback`.execute(
    db,
  );
  return {
    feedback: { good: feedback.rows[0]?.good ?? 0, bad: feedback.rows[0]?.bad ?? 0 },
    waiting: waiting.rows[0]?.count ?? 0,
    oldestWaitingSeconds: waiting.rows[0]?.oldest ?? 0,
    turns: Object.fromEntries(turns.rows.map(({ state, count }) => [state, count])),
  };
}
