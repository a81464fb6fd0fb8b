import { type Kysely, sql } from 'kysely';

/** What people set for a channel; a channel without a row has the defaults. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table channel_settings (
      workspace text not null,
      channel text not null,
      model text,
      listens text not null default 'mentions' check (listens in ('mentions', 'everything')),
      admits text check (admits in ('members', 'guests', 'everyone')),
      controls text check (controls in ('starter', 'channel', 'admins')),
      show_steps boolean not null default true,
      follows_name boolean not null default false,
      changed_by text not null,
      changed_at timestamptz not null default now(),
      primary key (workspace, channel)
    )`.execute(db);
}
