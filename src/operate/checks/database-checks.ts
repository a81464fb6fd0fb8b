import type { Config } from '../../config.ts';
import { startEmbedded } from '../../store/embedded.ts';
import { runningEmbedded } from '../../store/embedded-running.ts';
import { type Inspection, inspectDatabase } from '../../store/inspection.ts';
import { Keyring } from '../../store/keyring.ts';
import { type Check, type Finding, fine, type Instruments, sayingOf, wrong } from './finding.ts';

/** pg-boss, the queue, needs 13. */
const oldest = 13;
/** How far the database's clock may be from ours (ms). */
const mostSkewMs = 30_000;

/** The database: whether it can be reached and used, and what a start would change in it. */
export const checkDatabase: Check = async (config, instruments) => {
  const what = 'database';
  try {
    if (config.DATABASE_URL !== undefined) {
      return await looked(config, 'DATABASE_URL', { connectionString: config.DATABASE_URL }, instruments);
    }
    const running = await runningEmbedded(config.DATA_FOLDER);
    if (running !== undefined) return await looked(config, 'DATA_FOLDER', running, instruments);
    const server = await startEmbedded({ folder: config.DATA_FOLDER, log: instruments.log });
    try {
      return await looked(config, 'DATA_FOLDER', server.connection, instruments);
    } finally {
      await server.stop();
    }
  } catch (error) {
    const setting = config.DATABASE_URL === undefined ? 'DATA_FOLDER' : 'DATABASE_URL';
    return [wrong(what, `${setting}: ${sayingOf(error)}`)];
  }
};

async function looked(
  config: Pick<Config, 'SECRET_KEY' | 'SLACK_CLIENT_ID' | 'INSTALL_WORKSPACES'>,
  setting: string,
  settings: Parameters<typeof inspectDatabase>[0],
  { now }: Instruments,
): Promise<Finding[]> {
  const found = await inspectDatabase(settings);
  const { version, major, pending, unknown, mayCreate, now: there } = found;
  const what = 'database';
  if (major < oldest)
    return [wrong(what, `${setting}: PostgreSQL ${version} is too old; ${oldest} is needed.`)];
  if (unknown.length > 0 && pending.length > 0) {
    const newest = unknown.at(-1) ?? '';
    return [
      wrong(what, `${setting}: a newer release has used it (${newest}); start that release or a newer one.`),
    ];
  }
  if (pending.length > 0 && !mayCreate) {
    return [
      wrong(
        what,
        `${setting}: its user may not make tables; grant it CREATE on the schema and, for the queue, on the database.`,
      ),
    ];
  }
  const skew = Math.abs(there.getTime() - now());
  if (skew > mostSkewMs) {
    return [
      wrong(
        what,
        `${setting}: its clock and ours are ${Math.round(skew / 1_000)} s apart; keep both by NTP.`,
      ),
    ];
  }
  return [
    fine(what, `PostgreSQL ${version}, ${tablesOf(found)}`),
    ...keysOf(config, found),
    ...installationsOf(config, found),
  ];
}

function tablesOf({ pending, unknown }: Inspection): string {
  if (pending.length > 0) return `a start will make ${pending.join(', ')}`;
  const newest = unknown.at(-1);
  if (newest === undefined) return 'its tables are up to date';
  return `a newer release has used it (${newest}), beside which this one may run during a roll-out`;
}

/** Whether what is sealed can be opened. */
function keysOf({ SECRET_KEY }: Pick<Config, 'SECRET_KEY'>, { sealed }: Inspection): Finding[] {
  const what = 'sealed tokens';
  if (sealed.length === 0) return [];
  const keyring = SECRET_KEY && new Keyring(SECRET_KEY);
  if (keyring !== undefined && sealed.every((text) => keyring.knows(text)))
    return [fine(what, 'SECRET_KEY opens them')];
  const says =
    'SECRET_KEY does not open what is kept of workspaces: add the key that was used before, behind a comma.';
  return [wrong(what, says)];
}

/** Who may install the app, and whether anybody has who may not. */
function installationsOf(
  config: Pick<Config, 'SLACK_CLIENT_ID' | 'INSTALL_WORKSPACES'>,
  { installed }: Inspection,
): Finding[] {
  const what = 'installations';
  const { SLACK_CLIENT_ID, INSTALL_WORKSPACES: named } = config;
  if (SLACK_CLIENT_ID === undefined) return [];
  const count = `${installed.length} so far`;
  if (named.length === 0)
    return [fine(what, `${count}; any workspace may install the app (INSTALL_WORKSPACES is not set)`)];
  const others = installed.filter(
    ({ workspace, enterprise }) => !named.includes(workspace) && !named.includes(enterprise ?? workspace),
  );
  if (others.length === 0) return [fine(what, `${count}; only ${named.join(', ')} may install the app`)];
  const who = others.map(({ workspace }) => workspace).join(', ');
  const says = `INSTALL_WORKSPACES does not name ${who}, where the app is installed: add it, or remove the app there in Slack.`;
  return [wrong(what, says)];
}
