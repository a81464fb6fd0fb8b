import { type Kysely, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import type { Logger } from 'pino';
import { StoreError, toStoreError } from './errors.ts';
import * as baseline from './migrations/0001-baseline.ts';
import type { Tables } from './schema.ts';

/** The migration that creates the tables of the first release. */
export const BASELINE = '0001-baseline';

/** Every change of the tables, oldest first. They only go forward, and a released one never changes. */
export const migrations: Record<string, Migration> = { [BASELINE]: baseline };

/**
 * Brings the tables up to date, one process at a time (the migrator's own lock). Changes of a newer release stay as
 * they are: during a roll-out, processes of both versions run, and restart, side by side.
 * @throws StoreError `migration_failed`; a failed migration is rolled back.
 */
export async function migrate(kysely: Kysely<Tables>, log?: Logger): Promise<void> {
  if (await isUpToDate(kysely, log)) return;
  const migrator = new Migrator({ db: kysely, provider: { getMigrations: async () => migrations } });
  const { error, results } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const storeError = toStoreError(error);
  if (storeError instanceof StoreError) throw storeError;
  // A newer release may have done all of it while this one waited for the lock.
  if (await isUpToDate(kysely, log)) return;
  const failed = results?.find((result) => result.status === 'Error')?.migrationName;
  throw new StoreError(
    'migration_failed',
    failed === undefined
      ? 'The tables cannot be brought up to date: a newer release has used this database. Start that release or a newer one.'
      : `Migration ${failed} failed and was rolled back: start again, and report it if it fails again.`,
    { cause: error },
  );
}

/** Throws `migration_failed` for a database made before the baseline, given the names of its applied migrations. */
export function refuseUnreleasedSchema(applied: readonly string[]): void {
  if (applied.length === 0 || applied.includes(BASELINE)) return;
  throw new StoreError(
    'migration_failed',
    'This database was made by an older, unreleased version of Taskthread: start with an empty database (another ' +
      'DATABASE_URL or DATA_FOLDER), or empty this one first.',
  );
}

/** Whether the tables have every migration of this release; logs those that it does not know. */
async function isUpToDate(kysely: Kysely<Tables>, log: Logger | undefined): Promise<boolean> {
  const tableExists = await sql<{ exists: boolean }>`
    select to_regclass('kysely_migration') is not null as exists`.execute(kysely);
  if (tableExists.rows[0]?.exists !== true) return false;
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(
    kysely,
  );
  const applied = rows.map(({ name }) => name);
  refuseUnreleasedSchema(applied);
  if (!Object.keys(migrations).every((name) => applied.includes(name))) return false;
  const unknown = applied.filter((name) => !(name in migrations));
  if (unknown.length > 0)
    log?.warn(
      { migrations: unknown },
      'a newer release has used this database; its tables are left as they are',
    );
  return true;
}
