import { sql } from 'kysely';
import type { AuditRange } from './audit-trail.ts';
import { Queries } from './queries.ts';

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

/** This month and the one before, in a workspace. */
export function lastTwoMonths({ workspace }: { workspace: string }, now = new Date()) {
  return { workspace, since: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1)) };
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
