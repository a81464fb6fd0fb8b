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

/** pg-boss, the queue, needs 13. */
const MIN_POSTGRES_VERSION = 13;
/** How far the database's clock may be from ours (ms). */
const MAX_CLOCK_SKEW_MS = 30_000;

/** The database: whether it can be reached and used, and what a start would change in it. */
export const checkDatabase: Check = async (config, instruments) => {
  const what = 'database';
  try {
    if (config.DATABASE_URL !== undefined) {
      return await inspect(config, 'DATABASE_URL', { connectionString: config.DATABASE_URL }, instruments);
    }
    const running = await findRunningServer(config.DATA_FOLDER);
    if (running !== undefined) return await inspect(config, 'DATA_FOLDER', running, instruments);
    const server = await startEmbeddedServer({ folder: config.DATA_FOLDER, log: instruments.log });
    try {
      return await inspect(config, 'DATA_FOLDER', server.connection, instruments);
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
  settings: Parameters<typeof checkSchema>[0],
  { now }: CheckTools,
): Promise<CheckResult[]> {
  const inspection = await checkSchema(settings);
  const {
    serverVersion: version,
    majorVersion: major,
    pending,
    unknown,
    mayCreateTables: mayCreate,
    databaseTime: databaseNow,
  } = inspection;
  const what = 'database';
  if (major < MIN_POSTGRES_VERSION)
    return [failed(what, `${setting}: PostgreSQL ${version} is too old; ${MIN_POSTGRES_VERSION} is needed.`)];
  if (unknown.length > 0 && pending.length > 0) {
    const newest = unknown.at(-1) ?? '';
    return [
      failed(what, `${setting}: a newer release has used it (${newest}); start that release or a newer one.`),
    ];
  }
  if (pending.length > 0 && !mayCreate) {
    return [
      failed(
        what,
        `${setting}: its user may not make tables; grant it CREATE on the schema and, for the queue, on the database.`,
      ),
    ];
  }
  const skew = Math.abs(databaseNow.getTime() - now());
  if (skew > MAX_CLOCK_SKEW_MS) {
    return [
      failed(
        what,
        `${setting}: its clock and ours are ${Math.round(skew / 1_000)} s apart; keep both by NTP.`,
      ),
    ];
  }
  return [
    passed(what, `PostgreSQL ${version}, ${describeMigrations(inspection)}`),
    ...checkEncryptionKeys(config, inspection),
    ...checkInstallations(config, inspection),
  ];
}

function describeMigrations({ pending, unknown }: SchemaCheck): string {
  if (pending.length > 0) return `a start will make ${pending.join(', ')}`;
  const newest = unknown.at(-1);
  if (newest === undefined) return 'its tables are up to date';
  return `a newer release has used it (${newest}), beside which this one may run during a roll-out`;
}

/** Whether what is sealed can be opened. */
function checkEncryptionKeys(
  { SECRET_KEY }: Pick<Config, 'SECRET_KEY'>,
  { encryptedSamples: sealed }: SchemaCheck,
): CheckResult[] {
  const what = 'sealed tokens';
  if (sealed.length === 0) return [];
  const keyring = SECRET_KEY && new Keyring(SECRET_KEY);
  if (keyring !== undefined && sealed.every((text) => keyring.hasKeyFor(text)))
    return [passed(what, 'SECRET_KEY opens them')];
  const says =
    'SECRET_KEY does not open what is kept of workspaces: add the key that was used before, behind a comma.';
  return [failed(what, says)];
}

/** Who may install the app, and whether anybody has who may not. */
function checkInstallations(
  config: Pick<Config, 'SLACK_CLIENT_ID' | 'INSTALL_WORKSPACES'>,
  { installations: installed }: SchemaCheck,
): CheckResult[] {
  const what = 'installations';
  const { SLACK_CLIENT_ID, INSTALL_WORKSPACES: named } = config;
  if (SLACK_CLIENT_ID === undefined) return [];
  const count = `${installed.length} so far`;
  if (named.length === 0)
    return [passed(what, `${count}; any workspace may install the app (INSTALL_WORKSPACES is not set)`)];
  const others = installed.filter(
    ({ workspace, enterprise }) => !named.includes(workspace) && !named.includes(enterprise ?? workspace),
  );
  if (others.length === 0) return [passed(what, `${count}; only ${named.join(', ')} may install the app`)];
  const who = others.map(({ workspace }) => workspace).join(', ');
  const says = `INSTALL_WORKSPACES does not name ${who}, where the app is installed: add it, or remove the app there in Slack.`;
  return [failed(what, says)];
}
