import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import type { Logger } from 'pino';
import { errorMessage } from '../postgres/errors.ts';
import { isLockConflict, StoreError } from './errors.ts';
import * as baseline from './migrations/0001-baseline.ts';
import type { Tables } from './schema.ts';

/** Creates the tables of the first release; until then, its name changes with them, so that other tables are refused. */
export const BASELINE = `0001-baseline-${baseline.FINGERPRINT}`;

/** Every change of the tables, oldest first. They only go forward, and a released one never changes. */
export const migrations: Record<string, Migration> = { [BASELINE]: baseline };

/** How long a change waits for a table in use (ms), and others behind it. An autovacuum gives way after a second. */
const LOCK_TIMEOUT_MS = 2_000;
/** How long it is tried again while another session is in the way (ms): a backup may take that long. */
const MAX_WAIT_MS = 3_600_000;

/**
 * Brings the tables up to date on the only connection of `kysely`, one process at a time (the migrator's own lock), as soon as no
 * other session is in the way. Changes of a newer release stay: in a roll-out, both versions run, and restart, side by side.
 * @throws StoreError `denied`, `disk_full`, `migration_failed`: nothing has changed.
 */
export async function migrate(kysely: Kysely<Tables>, log?: Logger): Promise<void> {
  if (await isUpToDate(kysely, log)) return;
  log?.info('bringing the tables up to date, unless another process already does: this may take minutes');
  for (const began = performance.now(); ; await sleep(2 * LOCK_TIMEOUT_MS)) {
    const { obstacle, pending, schema } = await readSchema(kysely);
    if (obstacle !== undefined) throw new StoreError('migration_failed', obstacle);
    // Named for the first, since another program may keep its own record in another schema. Later, the search path leads to ours.
    const named = pending.includes(BASELINE) ? { migrationTableSchema: schema } : {};
    const options = { db: kysely, provider: { getMigrations: async () => migrations }, ...named };
    await sql`select set_config('lock_timeout', ${String(LOCK_TIMEOUT_MS)}, false)`.execute(kysely);
    const { error } = await new Migrator(options).migrateToLatest();
    // Another process may have done all of it meanwhile.
    if (error === undefined || (await isUpToDate(kysely, log))) return;
    if (error instanceof StoreError && error.code !== 'unavailable') throw error;
    const message = `Bringing the tables up to date failed, and nothing has changed (${errorMessage(error)}): start again, and report it if it fails again.`;
    if (!isLockConflict(error) || performance.now() - began > MAX_WAIT_MS)
      throw new StoreError('migration_failed', message, { cause: error });
    log?.warn({ err: error }, 'another session, such as a backup, uses a table that must change');
  }
}

/** Whether the tables have every migration of this release; logs those that it does not know. */
export async function isUpToDate(kysely: Kysely<Tables>, log?: Logger): Promise<boolean> {
  const { pending, unknown } = await readSchema(kysely);
  if (pending.length > 0) return false;
  if (unknown.length > 0)
    log?.warn(
      { migrations: unknown },
      'a newer release has used this database; its tables are left as they are',
    );
  return true;
}

/**
 * The migrations to be applied, those that only a newer release knows, and as a sentence why the former cannot be applied, if so.
 * @throws StoreError `migration_failed` if others made the tables: another program, or an unreleased version
 */
export async function readSchema(kysely: Kysely<Tables>) {
  // The tables first: they appear together with the record of the baseline.
  const { rows } = await sql<{ schema: string; hasRecord: boolean; lacks: string | null; tables: string[] }>`
    select current_schema()::text as schema, to_regclass('kysely_migration') is not null as "hasRecord",
      case when not has_schema_privilege(current_schema(), 'create') then format(
        'The database''s user may not create tables: run "grant create on schema %I to %I".', current_schema(), current_user)
      end as lacks,
      array(select relname::text from pg_class where relnamespace = to_regnamespace(quote_ident(current_schema()))
        and relname = any(${Object.keys(baseline.DEFINITIONS)}::text[]) order by relname) as tables`.execute(
    kysely,
  );
  const { schema = '', hasRecord = false, lacks = null, tables = [] } = rows[0] ?? {};
  const records = hasRecord
    ? await sql<{ name: string }>`select name from kysely_migration order by name`.execute(kysely)
    : { rows: [] };
  const applied = records.rows.map(({ name }) => name);
  if (applied.length > 0 && !applied.includes(BASELINE))
    throw new StoreError(
      'migration_failed',
      'This database was made by another, unreleased version of Taskthread: start with an empty database (another ' +
        'DATABASE_URL or DATA_FOLDER), or empty this one first.',
    );
  if (applied.length === 0 && tables.length > 0)
    throw new StoreError(
      'migration_failed',
      `This database already has tables of another program (${tables.join(', ')}): set DATABASE_URL to a database for ` +
        'Taskthread alone.',
    );
  const pending = Object.keys(migrations).filter((name) => !applied.includes(name));
  const unknown = applied.filter((name) => !(name in migrations));
  const newer = `A newer release has used this database (${unknown.at(-1)}): start that release or a newer one.`;
  const obstacle = unknown.length > 0 ? newer : (lacks ?? undefined);
  return { schema, pending, unknown, obstacle: pending.length > 0 ? obstacle : undefined };
}
