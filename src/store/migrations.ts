import { type Kysely, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import type { Logger } from 'pino';
import { errorMessage } from '../postgres/errors.ts';
import { StoreError } from './errors.ts';
import * as baseline from './migrations/0001-baseline.ts';
import type { Tables } from './schema.ts';

/**
 * The migration that creates the tables of the first release. Until that release it changes, and its name with it, so that
 * a database with other tables is refused.
 */
export const BASELINE = `0001-baseline-${baseline.FINGERPRINT}`;

/** Every change of the tables, oldest first. They only go forward, and a released one never changes. */
export const migrations: Record<string, Migration> = { [BASELINE]: baseline };

/**
 * Brings the tables up to date, one process at a time (the migrator's own lock). Changes of a newer release stay as
 * they are: during a roll-out, processes of both versions run, and restart, side by side.
 * @throws StoreError `migration_failed`; a failed migration is rolled back.
 */
export async function migrate(kysely: Kysely<Tables>, log?: Logger): Promise<void> {
  if (await isUpToDate(kysely, log)) return;
  log?.info('bringing the tables up to date, unless another process already does: this may take minutes');
  const migrator = new Migrator({ db: kysely, provider: { getMigrations: async () => migrations } });
  const { error, results } = await migrator.migrateToLatest();
  if (error === undefined) return;
  if (error instanceof StoreError) throw error;
  // A newer release may have done all of it while this one waited for the lock.
  if (await isUpToDate(kysely, log)) return;
  const isNewer = (await readAppliedMigrations(kysely)).some((name) => !(name in migrations));
  const { migrationName = 'of the tables' } = results?.find((result) => result.status === 'Error') ?? {};
  throw new StoreError(
    'migration_failed',
    isNewer
      ? 'The tables cannot be brought up to date: a newer release has used this database. Start that release or a newer one.'
      : `Migration ${migrationName} failed and was rolled back (${errorMessage(error)}): start again, and report it if it fails again.`,
    { cause: error },
  );
}

/**
 * The names of the applied migrations, in order.
 * @throws StoreError `migration_failed` if others made the tables: another program, or an unreleased version
 */
export async function readAppliedMigrations(kysely: Kysely<Tables>): Promise<string[]> {
  // The tables first: they appear together with the record of the baseline.
  const { rows } = await sql<{ hasMigrations: boolean; tables: string[] }>`
    select to_regclass('kysely_migration') is not null as "hasMigrations",
      array(select relname::text from pg_class where relnamespace = to_regnamespace(quote_ident(current_schema()))
        and relname = any(${Object.keys(baseline.DEFINITIONS)}::text[]) order by relname) as tables`.execute(
    kysely,
  );
  const { hasMigrations = false, tables = [] } = rows[0] ?? {};
  const records = hasMigrations
    ? await sql<{ name: string }>`select name from kysely_migration order by name`.execute(kysely)
    : { rows: [] };
  const applied = records.rows.map(({ name }) => name);
  if (applied.includes(BASELINE)) return applied;
  if (applied.length > 0)
    throw new StoreError(
      'migration_failed',
      'This database was made by another, unreleased version of Taskthread: start with an empty database (another ' +
        'DATABASE_URL or DATA_FOLDER), or empty this one first.',
    );
  if (tables.length > 0)
    throw new StoreError(
      'migration_failed',
      `This database already has tables of another program (${tables.join(', ')}): set DATABASE_URL to a database for ` +
        'Taskthread alone.',
    );
  return applied;
}

/** Whether the tables have every migration of this release; logs those that it does not know. */
async function isUpToDate(kysely: Kysely<Tables>, log: Logger | undefined): Promise<boolean> {
  const applied = await readAppliedMigrations(kysely);
  if (!Object.keys(migrations).every((name) => applied.includes(name))) return false;
  const unknown = applied.filter((name) => !(name in migrations));
  if (unknown.length > 0)
    log?.warn(
      { migrations: unknown },
      'a newer release has used this database; its tables are left as they are',
    );
  return true;
}
