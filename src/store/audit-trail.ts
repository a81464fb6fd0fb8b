import { type RawBuilder, sql, type Transaction } from 'kysely';
import { Queries, toPostgresJson } from './queries.ts';
import type { AuditRow, Tables } from './schema.ts';

/** What somebody did; the database itself records turns, stops and withdrawals. */
export interface AuditEntry
  extends Pick<AuditRow, 'workspace' | 'kind'>,
    Partial<Record<'user_id' | 'channel' | 'thread_ts' | 'turn_id' | 'task_id', string | undefined>> {
  /** Numbers and ids; never people's text, names or file names. */
  details?: Record<string, string | number | boolean | null>;
}

/** Which events to read: from `since` on and before `until`. */
export interface AuditRange {
  since: Date;
  until?: Date | undefined;
  workspace?: string | undefined;
}

const PAGE_SIZE = 500;

/** The audit trail: who did what, and what happened. */
export class AuditTrail extends Queries {
  async add(entry: AuditEntry): Promise<void> {
    await this.db
      .insertInto('audit_events')
      .values({ ...entry, details: toPostgresJson(entry.details ?? {}) })
      .execute();
  }

  /** Adds a refusal, or counts it in the row of the same one of this person and place in this hour: nobody can fill the trail. */
  async addRefusal(entry: Omit<AuditEntry, 'kind'>): Promise<void> {
    const { workspace, user_id = null, channel = null, details = {} } = entry;
    const { control = null, why = null } = details;
    const counted = await this.changes(sql`
      update audit_events set details = details || jsonb_build_object('count', coalesce((details->>'count')::integer, 1) + 1)
      where (workspace, id) = (
        select workspace, id from audit_events
        where ${isSince(sql`date_trunc('hour', statement_timestamp())`)} and kind = 'refusal' and workspace = ${workspace}
          and user_id is not distinct from ${user_id} and channel is not distinct from ${channel}
          and details->>'control' is not distinct from ${control} and details->>'why' is not distinct from ${why}
        order by id limit 1)`);
    if (!counted) await this.add({ ...entry, kind: 'refusal' });
  }

  /** How often a person has done something since then. */
  async countOf(
    kind: 'setting' | 'files',
    { workspace, user_id }: { workspace: string; user_id: string },
    since: Date,
  ): Promise<number> {
    const row = await this.first(sql<{ count: number }>`
      select count(*)::int as count from audit_events
      where ${isSince(sql`${since}`)} and workspace = ${workspace} and user_id = ${user_id} and kind = ${kind}`);
    return row?.count ?? 0;
  }

  /** The events of a range, oldest first. */
  async *read({ since, until, workspace }: AuditRange): AsyncGenerator<AuditRow> {
    let after = { exact: since.toISOString(), id: -1 };
    for (;;) {
      // By the whole time, as the index: one of ours has no microseconds.
      const rows = await this.rows(sql<AuditRow & { exact: string }>`
        select *, at::text as exact from audit_events
        where (at, id) > (${after.exact}::timestamptz, ${after.id}) and at < coalesce(${until ?? null}, 'infinity'::timestamptz)
          and (${workspace ?? null}::text is null or workspace = ${workspace ?? null})
        order by at, id limit ${PAGE_SIZE}`);
      for (const { exact: _, ...row } of rows) yield row;
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE_SIZE) return;
      after = last;
    }
  }
}

/** Whether an event is from then on. Ids grow with time: by them, a workspace's own are found without its older ones. */
const isSince = (time: RawBuilder<unknown>) =>
  sql`at >= ${time} and id >= (select id from audit_events where at >= ${time} order by at, id limit 1)`;

/** Lets this transaction change the trail for the reason given. */
export async function allowAuditChange(trx: Transaction<Tables>, reason: 'expire' | 'forget'): Promise<void> {
  await sql`select set_config('taskthread.audit_change', ${reason}, true)`.execute(trx);
}
