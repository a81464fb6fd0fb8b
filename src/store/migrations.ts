import { type Kysely, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import type { Logger } from 'pino';
import { DatabaseError, toDatabaseError } from '../postgres/errors.ts';
import * as engine from './migrations/0000-engine.ts';
import * as product from './migrations/0001-product.ts';
import * as passingOn from './migrations/0002-passing-on.ts';
import * as receiving from './migrations/0003-receiving.ts';
import * as breaks from './migrations/0004-breaks.ts';
import * as audit from './migrations/0005-audit.ts';
import * as slackFiles from './migrations/0006-slack-files.ts';
import * as files from './migrations/0007-files.ts';
import * as channels from './migrations/0008-channels.ts';
import * as controls from './migrations/0009-controls.ts';
import * as reviews from './migrations/0010-reviews.ts';
import * as tasks from './migrations/0011-tasks.ts';
import * as starts from './migrations/0012-starts.ts';
import * as workspaces from './migrations/0013-workspaces.ts';
import * as admission from './migrations/0014-admission.ts';
import * as admitting from './migrations/0016-admitting.ts';
import * as withdrawing from './migrations/0017-withdrawing.ts';
import * as askingAgain from './migrations/0018-asking-again.ts';
import * as workspaceSettings from './migrations/0020-workspace-settings.ts';
import * as auditModel from './migrations/0021-audit-model.ts';
import * as admittingTogether from './migrations/0022-admitting-together.ts';
import * as laneSlowing from './migrations/0023-lane-slowing.ts';
import * as names from './migrations/0024-names.ts';
import type { Tables } from './schema.ts';

/** Every change of the tables, oldest first; they only go forward, and one that was released never changes. */
export const migrations: Record<string, Migration> = {
  '0000-engine': engine,
  '0001-product': product,
  '0002-passing-on': passingOn,
  '0003-receiving': receiving,
  '0004-breaks': breaks,
  '0005-audit': audit,
  '0006-slack-files': slackFiles,
  '0007-files': files,
  '0008-channels': channels,
  '0009-controls': controls,
  '0010-reviews': reviews,
  '0011-tasks': tasks,
  '0012-starts': starts,
  '0013-workspaces': workspaces,
  '0014-admission': admission,
  '0016-admitting': admitting,
  '0017-withdrawing': withdrawing,
  '0018-asking-again': askingAgain,
  '0020-workspace-settings': workspaceSettings,
  '0021-audit-model': auditModel,
  '0022-admitting-together': admittingTogether,
  '0023-lane-slowing': laneSlowing,
  '0024-names': names,
};

/**
 * Brings the tables up to date, one process at a time (the migrator's own lock). What a newer release has added to
 * them stays as it is: during a roll-out, processes of both versions run, and start again, side by side.
 * @throws StoreError `migration_failed`; nothing of a failed migration stays.
 */
export async function migrate(kysely: Kysely<Tables>, log?: Logger): Promise<void> {
  if (await isUpToDate(kysely, log)) return;
  const migrator = new Migrator({ db: kysely, provider: { getMigrations: async () => migrations } });
  const { error, results } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const databaseError = toDatabaseError(error);
  if (databaseError instanceof DatabaseError) throw databaseError;
  // A newer release may have done all of it while this one waited for the lock.
  if (await isUpToDate(kysely, log)) return;
  const failed = results?.find((result) => result.status === 'Error')?.migrationName;
  throw new DatabaseError(
    'migration_failed',
    failed === undefined
      ? 'The tables cannot be brought up to date; a database that a newer release has used needs that release or a newer one.'
      : `Migration ${failed} failed and was taken back; start again, and report it if it fails again.`,
    { cause: error },
  );
}

/** Whether the tables have every migration that this release knows; those that it does not know are logged. */
async function isUpToDate(kysely: Kysely<Tables>, log: Logger | undefined): Promise<boolean> {
  const tableExists = await sql<{ there: boolean }>`
    select to_regclass('kysely_migration') is not null as there`.execute(kysely);
  if (tableExists.rows[0]?.there !== true) return false;
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(
    kysely,
  );
  const applied = new Set(rows.map(({ name }) => name));
  if (!Object.keys(migrations).every((name) => applied.has(name))) return false;
  const unknown = [...applied].filter((name) => !(name in migrations));
  if (unknown.length > 0)
    log?.warn(
      { migrations: unknown },
      'a newer release has used this database; its tables are left as they are',
    );
  return true;
}
