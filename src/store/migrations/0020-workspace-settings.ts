import { type Kysely, sql } from 'kysely';

/** Who may use the agent, as a workspace sets it; and the bots that a channel admits. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table workspace_settings (
      workspace text primary key,
      admits text check (admits in ('members', 'guests', 'everyone')),
      bots text[],
      changed_by text not null,
      changed_at timestamptz not null default now()
    )`.execute(db);
  await sql`alter table channel_settings add column bots text[]`.execute(db);
}
