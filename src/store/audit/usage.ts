import { sql } from 'kysely';
import { Queries } from '../queries.ts';
import type { AuditRange } from './audit-trail.ts';

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

const PAGE_SIZE = 1_000;

/** Figures about turns, counted from the audit trail. */
export class Usage extends Queries {
  /** The rows of a time, by month; with `by` person, each person's are apart. */
  async *read({ since, until, workspace }: AuditRange, by?: 'person'): AsyncGenerator<UsageRow> {
    const person = by === undefined ? sql`''` : sql`coalesce(user_id, '')`;
    const key = sql`month, workspace, person, channel, model`;
    let last = { month: '', workspace: '', person: '', channel: '', model: '' };
    for (;;) {
      const rows = await this.rows(sql<UsageRow>`
        with ended as (
          select to_char(at at time zone 'UTC', 'YYYY-MM') as month, workspace, ${person} as person, turn_id,
            coalesce(channel, '') as channel, coalesce(details ->> 'model', '') as model,
            (details ->> 'sent')::boolean as is_sent, details ->> 'outcome' as outcome, details
          from audit_events where kind = 'turn' and at >= ${since} and at < coalesce(${until ?? null}::timestamptz, 'infinity')
            and workspace = coalesce(${workspace ?? null}::text, workspace))
        select ${key}, count(*) filter (where is_sent)::int as questions,
          count(*) filter (where is_sent and outcome in ('completed', 'length'))::int as answers,
          coalesce(round(sum((details ->> 'seconds')::numeric) filter (where is_sent) / 60, 1), 0)::float8 as minutes,
          sum((details ->> 'filesIn')::int)::int as "filesIn", sum((details ->> 'filesOut')::int)::int as "filesOut",
          count(*) filter (where outcome = 'cancelled')::int as stops,
          count(*) filter (where outcome in ('failed', 'refused', 'abandoned'))::int as failures,
          sum(thumbs.up)::int as "thumbsUp", sum(thumbs.down)::int as "thumbsDown"
        from ended cross join lateral (
          select count(*) filter (where is_positive) as up, count(*) filter (where not is_positive) as down
          from feedback where (feedback.workspace, feedback.turn_id) = (ended.workspace, ended.turn_id)) as thumbs
        where (${key}) > (${last.month}, ${last.workspace}, ${last.person}, ${last.channel}, ${last.model})
        group by ${key} order by ${key} limit ${PAGE_SIZE}`);
      yield* rows;
      last = rows.at(-1) ?? last;
      if (rows.length < PAGE_SIZE) return;
    }
  }
}
