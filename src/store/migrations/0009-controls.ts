import { type Kysely, sql } from 'kysely';

/** Stops that are carried out for certain, messages that wait for a go, retries, feedback, and introductions. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table turns
      add column task_id text,
      add column stop_ts numeric(16,6),
      add column stop_sent_at timestamptz,
      add column force_asked_at timestamptz,
      add column force_sent_at timestamptz`.execute(db);
  await sql`
    create index turns_stopping on turns (workspace, id)
    where stop_asked_at is not null and finished_at is null`.execute(db);
  await sql`
    alter table threads
      add column held_turn uuid,
      add column former_tasks text[] not null default '{}'`.execute(db);
  await sql`alter table messages add column resends uuid`.execute(db);
  await sql`
    create table feedback (
      workspace text not null,
      turn uuid not null,
      person text not null,
      good boolean not null,
      comment text,
      said_at timestamptz not null default now(),
      primary key (workspace, turn, person)
    )`.execute(db);
  await sql`
    create table introductions (
      workspace text not null,
      channel text not null,
      turn uuid not null,
      said_at timestamptz not null default now(),
      primary key (workspace, channel)
    )`.execute(db);
}
