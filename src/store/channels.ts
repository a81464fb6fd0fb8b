import { sql } from 'kysely';
import { Queries, reachedWith } from './queries.ts';
import { type OneTimeNotice, type Turn, threadKeyText } from './schema.ts';

/** What channels are told once, and their move to another id. */
export class Channels extends Queries {
  /**
   * Moves a channel's rows to its new id, in a transaction, in each workspace that the same installation reaches; where both
   * ids have one, the old one stays. The audit trail stays as it was. Held jobs are lost at their next renewal, and continue
   * after their heartbeat.
   */
  async move(workspace: string, from: string, to: string): Promise<void> {
    // In one order: Slack may tell two of the workspaces at once.
    const reached = await this.rows(sql<{ workspace: string }>`${reachedWith(workspace)} order by 1`);
    for (const one of reached) await this.#moveIn(one.workspace, from, to);
  }

  async #moveIn(workspace: string, from: string, to: string): Promise<void> {
    const { db } = this;
    const { rows: tables } = await sql<{ name: string; keys: string[] }>`
      select table_name as name, array(
        select key.column_name::text from information_schema.table_constraints as rule
          join information_schema.key_column_usage as key using (constraint_schema, constraint_name)
        where rule.constraint_type = 'PRIMARY KEY' and constraint_schema = current_schema()
          and rule.table_name = columns.table_name) as keys
      from information_schema.columns as columns
      where table_schema = current_schema() and column_name = 'channel'
        and table_name <> 'audit_events' order by 1`.execute(db);
    for (const { name, keys } of tables) {
      const table = sql.table(name);
      if (keys.includes('channel')) {
        const others = keys.filter((key) => key !== 'channel');
        const isSame = others.map((key) => sql`${sql.ref(`newer.${key}`)} = ${sql.ref(`older.${key}`)}`);
        await sql`
          delete from ${table} as newer using ${table} as older
          where newer.workspace = ${workspace} and newer.channel = ${to} and older.channel = ${from}
            and ${sql.join(isSame, sql` and `)}`.execute(db);
      }
      await sql`
        update ${table} set channel = ${to}
        where workspace = ${workspace} and channel = ${from}`.execute(db);
    }
    await sql`
      update settings set answers_in_channels = array_replace(answers_in_channels, ${from}, ${to})
      where workspace = ${workspace} and ${from} = any(answers_in_channels)`.execute(db);
    const prefix = (channel: string) => threadKeyText({ workspace, channel, thread_ts: '' });
    await sql`
      update pgboss.job set data = jsonb_set(data, '{channel}', to_jsonb(${to}::text)),
        singleton_key = ${prefix(to)} || (data ->> 'thread_ts'),
        retry_count = retry_count + case when state = 'active' then 1 else 0 end
      where data ->> 'workspace' = ${workspace} and data ->> 'channel' = ${from}
        and state < 'completed'`.execute(db);
  }

  /** True if this turn must post the notice, however often it asks; false for all other turns. */
  async claimNotice(
    { workspace, channel, id }: Pick<Turn, 'workspace' | 'channel' | 'id'>,
    notice: OneTimeNotice,
  ): Promise<boolean> {
    const rows = await this.rows(sql`
      with known as (
        select turn_id from one_time_notices
        where (workspace, channel, notice) = (${workspace}, ${channel}, ${notice})),
      claimed as (
        insert into one_time_notices (workspace, channel, notice, turn_id)
        select ${workspace}, ${channel}, ${notice}, ${id} where not exists (select from known)
        on conflict do nothing returning turn_id)
      select from known where turn_id = ${id} union all select from claimed`);
    return rows.length > 0;
  }

  /** True once for each person of a channel: they are told that the bot does not answer there. */
  async claimClosedNotice(workspace: string, channel: string, person: string): Promise<boolean> {
    return this.changes(sql`
      insert into one_time_notices (workspace, channel, notice, user_id)
      values (${workspace}, ${channel}, 'closed', ${person}) on conflict do nothing`);
  }
}
