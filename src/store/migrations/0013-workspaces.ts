import { type Kysely, sql } from 'kysely';

/**
 * Many workspaces: installations by OAuth with their sealed tokens, and the service accounts of workspaces. Each
 * change gets the next `registry_versions`, in the order of commits, so that other processes notice it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create sequence registry_versions`.execute(db);
  await sql`
    alter table workspaces
      add column installation text,
      add column left_at timestamptz,
      add column version bigint not null default nextval('registry_versions')`.execute(db);
  await sql`create index workspaces_version on workspaces (version)`.execute(db);
  await sql`
    create table installations (
      workspace text primary key,
      enterprise text,
      organisation boolean not null,
      name text not null,
      bot_user text not null,
      bot_id text not null,
      sealed text,
      expires_at timestamptz,
      installed_at timestamptz not null default clock_timestamp(),
      left_at timestamptz,
      version bigint not null default nextval('registry_versions')
    )`.execute(db);
  await sql`create index installations_version on installations (version)`.execute(db);
  await sql`
    create index installations_expires on installations (expires_at) where expires_at is not null`.execute(
    db,
  );
  await sql`
    create table accounts (
      workspace text not null,
      account text not null,
      base_url text not null,
      sealed text,
      set_by text not null,
      set_at timestamptz not null default clock_timestamp(),
      retired_at timestamptz,
      version bigint not null default nextval('registry_versions'),
      primary key (workspace, account)
    )`.execute(db);
  await sql`create unique index accounts_current on accounts (workspace) where retired_at is null`.execute(
    db,
  );
  await sql`create index accounts_version on accounts (version)`.execute(db);
  // As in every other table, the workspace stands in the key.
  await sql`alter table turns drop constraint turns_pkey, add primary key (workspace, id)`.execute(db);
  // Of who begins to install nothing is known yet, so it carries no workspace.
  await sql`
    create table spent_states (
      state text primary key,
      spent_at timestamptz not null default clock_timestamp()
    )`.execute(db);
}
