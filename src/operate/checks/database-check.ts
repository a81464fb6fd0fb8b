import type { Config } from '../../config.ts';
import { startEmbeddedServer } from '../../postgres/embedded-server.ts';
import { findRunningServer } from '../../postgres/running-server.ts';
import { checkSchema, type SchemaCheck } from '../../store/schema-check.ts';
import { Keyring } from '../../store/workspaces/keyring.ts';
import {
  type Check,
  type CheckResult,
  type CheckTools,
  errorMessage,
  failed,
  passed,
} from './check-result.ts';

/** What pg-boss, the queue, requires. */
const MIN_POSTGRES_VERSION = 13;
/** How far the database's clock may be off ours (ms). */
const MAX_CLOCK_SKEW_MS = 30_000;

/** Checks whether the database can be used, and reports what a start would change in it. */
export const checkDatabase: Check = async (config, tools) => {
  const what = 'database';
  try {
    if (config.DATABASE_URL !== undefined) {
      return await inspect(config, 'DATABASE_URL', { connectionString: config.DATABASE_URL }, tools);
    }
    const running = await findRunningServer(config.DATA_FOLDER);
    if (running !== undefined) return await inspect(config, 'DATA_FOLDER', running, tools);
    const server = await startEmbeddedServer({ folder: config.DATA_FOLDER, log: tools.log });
    try {
      return await inspect(config, 'DATA_FOLDER', server.connection, tools);
    } finally {
      await server.stop();
    }
  } catch (error) {
    const setting = config.DATABASE_URL === undefined ? 'DATA_FOLDER' : 'DATABASE_URL';
    return [failed(what, `${setting}: ${errorMessage(error)}`)];
  }
};

async function inspect(
  config: Pick<Config, 'SECRET_KEY' | 'SLACK_CLIENT_ID' | 'INSTALL_WORKSPACES'>,
  setting: string,
  connection: Parameters<typeof checkSchema>[0],
  { now }: CheckTools,
): Promise<CheckResult[]> {
  const schema = await checkSchema(connection);
  const { serverVersion, majorVersion, pending, unknown, mayCreateTables, databaseTime } = schema;
  const what = 'database';
  if (majorVersion < MIN_POSTGRES_VERSION)
    return [
      failed(
        what,
        `${setting}: PostgreSQL ${serverVersion} is too old. Use ${MIN_POSTGRES_VERSION} or newer.`,
      ),
    ];
  if (unknown.length > 0 && pending.length > 0) {
    const newest = unknown.at(-1) ?? '';
    return [
      failed(what, `${setting}: a newer release has used it (${newest}). Start that release or a newer one.`),
    ];
  }
  if (pending.length > 0 && !mayCreateTables) {
    return [
      failed(
        what,
        `${setting}: its user may not create tables. Grant it CREATE on the schema and, for the queue, on the database.`,
      ),
    ];
  }
  const skew = Math.abs(databaseTime.getTime() - now());
  if (skew > MAX_CLOCK_SKEW_MS) {
    return [
      failed(
        what,
        `${setting}: its clock and ours are ${Math.round(skew / 1_000)} s apart. Synchronize both by NTP.`,
      ),
    ];
  }
  return [
    passed(what, `PostgreSQL ${serverVersion}, ${describeMigrations(schema)}`),
    ...checkEncryptionKeys(config, schema),
    ...checkInstallations(config, schema),
  ];
}

function describeMigrations({ pending, unknown }: SchemaCheck): string {
  if (pending.length > 0) return `a start will apply ${pending.join(', ')}`;
  const newest = unknown.at(-1);
  if (newest === undefined) return 'its tables are up to date';
  return `a newer release has used it (${newest}); this one may run beside it during a roll-out`;
}

/** Whether SECRET_KEY can decrypt the tokens and keys in the database. */
function checkEncryptionKeys(
  { SECRET_KEY }: Pick<Config, 'SECRET_KEY'>,
  { encryptedSamples }: SchemaCheck,
): CheckResult[] {
  const what = 'encrypted tokens';
  if (encryptedSamples.length === 0) return [];
  const keyring = SECRET_KEY && new Keyring(SECRET_KEY);
  if (keyring !== undefined && encryptedSamples.every((text) => keyring.hasKeyFor(text)))
    return [passed(what, 'SECRET_KEY decrypts them')];
  const message =
    'SECRET_KEY cannot decrypt the tokens and keys of workspaces. Append the previous key after a comma.';
  return [failed(what, message)];
}

/** Reports who may install the app; fails if a workspace has installed it that no longer may. */
function checkInstallations(
  config: Pick<Config, 'SLACK_CLIENT_ID' | 'INSTALL_WORKSPACES'>,
  { installations }: SchemaCheck,
): CheckResult[] {
  const what = 'installations';
  const { SLACK_CLIENT_ID, INSTALL_WORKSPACES: allowed } = config;
  if (SLACK_CLIENT_ID === undefined) return [];
  const count = `${installations.length} so far`;
  if (allowed.length === 0 || allowed.includes('*'))
    return [passed(what, `${count}; any workspace may install the app`)];
  const others = installations.filter(
    ({ workspace, enterprise_id }) =>
      !allowed.includes(workspace) && !allowed.includes(enterprise_id ?? workspace),
  );
  if (others.length === 0) return [passed(what, `${count}; only ${allowed.join(', ')} may install the app`)];
  const who = others.map(({ workspace }) => workspace).join(', ');
  const message = `INSTALL_WORKSPACES does not name ${who}, where the app is installed. Add it, or remove the app there in Slack.`;
  return [failed(what, message)];
}
