import { type Kysely, sql } from 'kysely';
import type pg from 'pg';
import type { Logger } from 'pino';
import { ConnectionPool } from './connection-pool.ts';
import { kyselyOn } from './database.ts';
import { DatabaseAddresses, databaseClientClass } from './database-client.ts';
import { BASELINE, migrations, readAppliedMigrations } from './migrations.ts';
import type { Tables } from './schema.ts';
import { ALL_ENCRYPTED } from './workspaces/encrypted-texts.ts';

/** The state of a database before anything is changed in it. */
export interface SchemaCheck {
  /** Like 18.4. */
  serverVersion: string;
  majorVersion: number;
  /** Migrations that are still to be applied, and applied ones that only a newer release knows. */
  pending: string[];
  unknown: string[];
  /** Whether our user may create the missing tables. */
  mayCreateTables: boolean;
  /** One encrypted text for each key that was used. */
  encryptedSamples: string[];
  /** The workspaces and organisations that have installed the app, with the organisation that each belongs to. */
  installations: { workspace: string; enterprise_id: string | null }[];
  /** The database's clock. */
  databaseTime: Date;
}

/** Inspects a database, by its URL or the embedded server's address, without changing it. Throws a StoreError. */
export async function checkSchema(at: string | pg.ClientConfig, log: Logger): Promise<SchemaCheck> {
  const addresses = typeof at === 'string' ? DatabaseAddresses.ofUrl(at) : new DatabaseAddresses([at]);
  await addresses.findWritable();
  const Client = databaseClientClass(addresses);
  // A URL may be that of a pooler.
  const limits = { maxConnections: 1, timeoutMs: 5_000, isPooled: true };
  await using kysely = kyselyOn(new ConnectionPool({ name: 'taskthread doctor', ...limits, Client, log }));
  const { rows } = await sql<{ version: string; number: string; now: Date; mayCreate: boolean }>`
    select current_setting('server_version') as version, current_setting('server_version_num') as number,
      clock_timestamp() as now,
      has_schema_privilege(current_schema(), 'create')
        and (to_regnamespace('pgboss') is not null or has_database_privilege(current_database(), 'create')) as "mayCreate"
  `.execute(kysely);
  const row = rows[0];
  if (row === undefined) throw new Error('The database returned no row.');
  const applied = await readAppliedMigrations(kysely);
  return {
    serverVersion: row.version.split(' ')[0] ?? row.version,
    majorVersion: Math.floor(Number(row.number) / 10_000),
    pending: Object.keys(migrations).filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !(name in migrations)),
    ...(applied.includes(BASELINE)
      ? await readInstallations(kysely)
      : { encryptedSamples: [], installations: [] }),
    mayCreateTables: row.mayCreate,
    databaseTime: row.now,
  };
}

async function readInstallations(
  kysely: Kysely<Tables>,
): Promise<Pick<SchemaCheck, 'encryptedSamples' | 'installations'>> {
  // The format version and the key's id stand before the second dot.
  const encrypted = await sql<{ encrypted: string }>`
    select min(encrypted) as encrypted from (${sql.raw(ALL_ENCRYPTED)}) as texts
    group by split_part(encrypted, '.', 2)`.execute(kysely);
  const installations = await sql<SchemaCheck['installations'][number]>`
    select workspace, enterprise_id from installations where uninstalled_at is null order by workspace`.execute(
    kysely,
  );
  return {
    encryptedSamples: encrypted.rows.map((row) => row.encrypted),
    installations: installations.rows,
  };
}
