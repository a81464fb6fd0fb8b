import { type Kysely, sql } from 'kysely';

/** What people begin with a form, and the model that a thread's task was begun with. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table starts (
      workspace text not null,
      id uuid not null,
      state text not null,
      person text not null,
      channel text not null,
      root numeric(16,6),
      ts numeric(16,6),
      turn uuid,
      source jsonb,
      words jsonb,
      intended_at timestamptz,
      holder uuid,
      held_until timestamptz,
      made_at timestamptz not null default now(),
      primary key (workspace, id)
    )`.execute(db);
  await sql`create index starts_posting on starts (held_until) where state = 'posting'`.execute(db);
  await sql`alter table threads add column if not exists model text`.execute(db);
}
