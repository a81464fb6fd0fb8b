import type { Logger } from 'pino';
import { within } from '../../calls/retries-and-waits.ts';
import type { Config } from '../../config/environment-and-secret-files.ts';
import type { ServerConnection } from '../../postgres/data-folder.ts';
import { errorMessage } from '../../postgres/errors.ts';
import { LEAST_CONNECTIONS } from '../../store/connection-limit.ts';
import { checkSchema, QUIET_MS, type SchemaCheck } from '../../store/database.ts';
import { StoreError } from '../../store/errors.ts';
import { Keyring } from '../../store/workspaces/encryption.ts';
import { embeddedServer } from '../command-runner.ts';
import type { Check, CheckResult } from './check-result.ts';

/** How far the database's clock may be off ours (ms). */
const MAX_CLOCK_SKEW_MS = 30_000;
/** Least free space for the embedded database. */
const MIN_FREE_BYTES = 1024 ** 3;

/** Checks whether the database can be used, and reports what a start would change in it. */
export const checkDatabase: Check = async function* (config, tools) {
  const { DATABASE_URL: url, DATABASE_DIRECT_URL: directUrl, DATABASE_CONNECTIONS: wanted } = config;
  let setting = url === undefined ? 'DATA_FOLDER' : 'DATABASE_URL';
  try {
    await using cleanup = new AsyncDisposableStack();
    const embedded = await embeddedServer(config, tools.log, cleanup);
    const asked = checkSchema(embedded?.connection ?? url ?? '', tools.log, directUrl !== undefined, wanted);
    if ((await within(QUIET_MS, asked, undefined)) === undefined)
      yield 'it has not answered yet; waiting as long as a start does';
    const { pending } = await asked;
    if (directUrl !== undefined) setting = 'DATABASE_DIRECT_URL';
    const schema = await (directUrl === undefined ? asked : checkSchema(directUrl, tools.log));
    if (schema.pending.length !== pending.length)
      throw new Error('it leads to another database than DATABASE_URL. Name the same one in both.');
    if (schema.obstacle !== undefined) throw new Error(schema.obstacle);
    const skew = Math.abs(schema.databaseTime.getTime() - tools.now());
    if (skew > MAX_CLOCK_SKEW_MS)
      throw new Error(`its clock and ours are ${Math.round(skew / 1_000)} s apart. Synchronize both by NTP.`);
    yield `PostgreSQL ${schema.serverVersion}, ${describeMigrations(schema)}`;
    const { connectionLimit: limit } = schema;
    if (limit !== undefined)
      yield { what: 'connections', ok: limit.most >= LEAST_CONNECTIONS, message: limit.sentence };
    yield* checkEncryptionKeys(config, schema);
    yield* checkInstallations(config, schema);
  } catch (error) {
    throw new Error(`${setting}: ${errorMessage(error)}`, { cause: error });
  }
};

/** Throws if only another version can go on with the database of a backup. */
export async function requireUsableBackup(connection: ServerConnection, log: Logger): Promise<void> {
  const { unknown } = await checkSchema(connection, log).catch((error: unknown) => {
    if (!(error instanceof StoreError) || error.code !== 'migration_failed') throw error;
    throw new Error('an unreleased version made this backup. Restore it with that version.', {
      cause: error,
    });
  });
  const newest = unknown.at(-1);
  if (newest !== undefined)
    throw new Error(
      `a newer release has used the database of this backup (${newest}). Restore it with that release or a newer one.`,
    );
}

function describeMigrations({ pending, unknown }: SchemaCheck): string {
  if (pending.length > 0)
    return `a start will apply ${pending.length} ${pending.length === 1 ? 'migration' : 'migrations'}`;
  const newest = unknown.at(-1);
  if (newest === undefined) return 'its tables are up to date';
  return `a newer release has used it (${newest}); this one may run beside it during a roll-out`;
}

/** Whether SECRET_KEY can decrypt the tokens and keys in the database. */
function* checkEncryptionKeys(
  { SECRET_KEY }: Config,
  { encryptedSamples }: SchemaCheck,
): Iterable<CheckResult> {
  if (encryptedSamples.length === 0) return;
  const keyring = SECRET_KEY && new Keyring(SECRET_KEY);
  const ok = keyring !== undefined && encryptedSamples.every((text) => keyring.hasKeyFor(text));
  const message = ok
    ? 'SECRET_KEY decrypts them'
    : 'SECRET_KEY cannot decrypt the tokens and keys of workspaces. Append the previous key after a comma.';
  yield { what: 'encrypted tokens', ok, message };
}

/** Reports who may install the app; fails if a workspace has installed it that no longer may. */
function* checkInstallations(
  { SLACK_CLIENT_ID, INSTALL_WORKSPACES: allowed }: Config,
  { installations }: SchemaCheck,
): Iterable<CheckResult> {
  if (SLACK_CLIENT_ID === undefined) return;
  const isAnyAllowed = allowed.length === 0 || allowed.includes('*');
  const others = installations.filter(
    ({ workspace, enterprise_id }) =>
      !isAnyAllowed && !allowed.includes(workspace) && !allowed.includes(enterprise_id ?? workspace),
  );
  const who = others.map(({ workspace }) => workspace).join(', ');
  const allowedNames = isAnyAllowed ? 'any workspace' : `only ${allowed.join(', ')}`;
  const message =
    who === ''
      ? `${installations.length} so far; ${allowedNames} may install the app`
      : `INSTALL_WORKSPACES does not name ${who}, where the app is installed. Add it, or remove the app there in Slack.`;
  yield { what: 'installations', ok: who === '', message };
}

export const checkDisk: Check = async function* (config, { freeBytes }) {
  if (config.DATABASE_URL !== undefined)
    return yield 'not needed: the data is in the database of DATABASE_URL';
  const free = await freeBytes(config.DATA_FOLDER).catch((error: unknown) => {
    throw new Error(`Could not read the free space at DATA_FOLDER: ${errorMessage(error)}`);
  });
  const size = `${(free / MIN_FREE_BYTES).toFixed(1)} GiB free at DATA_FOLDER`;
  if (free < MIN_FREE_BYTES) throw new Error(`Only ${size}. Free at least 1 GiB.`);
  yield size;
};
