import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { encryptionContext, Keyring } from '../src/store/workspaces/encryption.ts';
import type { AgentScript } from './agent/agent-script.ts';
import { type AgentService, startAgentService } from './agent/agent-service.ts';
import { startBotProcess } from './bot-process.ts';
import { OAUTH_SECRET_KEY } from './bot-settings.ts';
import { connectionUrl } from './postgres-server.ts';
import { startSandboxServices } from './sandbox-services.ts';
import type { SlackWorkspaceOptions } from './slack/slack-workspace.ts';

/** The bot looks for new accounts every second. */
const ACCOUNTS_KNOWN_AFTER_MS = 3_000;

export interface MultiWorkspaceBotOptions {
  /** Workspaces that install the app; those of `own` have a service of their own. */
  teams: { shared: readonly string[]; own: readonly string[] };
  scripts: { shared: AgentScript; own: AgentScript };
  slack: SlackWorkspaceOptions;
  /** More of the bot's environment. */
  settings: Readonly<Record<string, string>>;
  database: pg.ClientConfig & Parameters<typeof connectionUrl>[0];
  logFile: string;
}

/** Several workspaces, two agent services, and the bot as a process of its own, with the app installed; `undo` stops it. */
export async function startMultiWorkspaceBot(
  { teams, scripts, logFile, ...options }: MultiWorkspaceBotOptions,
  undo: AsyncDisposableStack,
) {
  const ids = [...teams.shared, ...teams.own];
  const { slack, agent, settings } = await startSandboxServices(
    {
      ...{ oauth: true, databaseUrl: connectionUrl(options.database), agent: { script: scripts.shared } },
      slack: { ...options.slack, teams: ids.map((id) => ({ id, name: id })) },
      settings: { ...(await containerMemorySettings()), ...options.settings },
    },
    undo,
  );
  const own = await startAgentService({ script: scripts.own });
  undo.defer(() => own.stop());
  const start = () => startBotProcess(settings, logFile, undo);
  let bot = await start();
  for (const id of ids) await installApp(bot.port ?? 0, id);
  const database = new pg.Client(options.database);
  await database.connect();
  undo.defer(() => database.end());
  for (const id of teams.own) await setAccount(database, id, own);
  await sleep(ACCOUNTS_KNOWN_AFTER_MS);
  return {
    ...{ slack, agent },
    /** The workspaces' own service. */
    own,
    /** The bot's database, over another connection. */
    database,
    get bot() {
      return bot;
    },
    /** Starts the bot again; `meanwhile` runs while there is none. */
    restartBot: async (meanwhile: () => Promise<void>) => {
      await bot.stop();
      await meanwhile();
      bot = await start();
    },
  };
}

/** The memory of a bot in a container of 768 MiB, and how the image has it returned to the system. */
export async function containerMemorySettings() {
  const image = await readFile(new URL('../Dockerfile', import.meta.url), 'utf8');
  const found = [...image.matchAll(/\b(MALLOC_\w+)=(\d+)/g)];
  if (found.length === 0) throw new Error('The Dockerfile sets nothing about memory.');
  return {
    NODE_OPTIONS: '--max-old-space-size=384',
    ...Object.fromEntries(found.map(([, name = '', value = '']) => [name, value])),
  };
}

/** Installs the app of the bot on this port in a workspace, as a browser does. */
export async function installApp(port: number, team: string): Promise<void> {
  const open = (path: string, cookie?: string) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      redirect: 'manual',
      headers: cookie === undefined ? {} : { cookie },
    });
  const first = await open('/slack/install');
  const asked = new URL(first.headers.get('location') ?? '');
  asked.searchParams.set('team', team);
  const back = new URL((await fetch(asked, { redirect: 'manual' })).headers.get('location') ?? '');
  const cookie = (first.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const last = await open(`${back.pathname}${back.search}`, cookie);
  if (last.status !== 200) throw new Error(`The app could not be installed in ${team} (${last.status}).`);
}

/** Gives a workspace a service of its own. */
export async function setAccount(
  database: pg.Client,
  workspace: string,
  service: Pick<AgentService, 'url' | 'apiKey'>,
): Promise<void> {
  const key = { workspace, account_id: randomUUID() };
  const keyring = new Keyring([OAUTH_SECRET_KEY]);
  await database.query(
    `insert into accounts (workspace, account_id, base_url, encrypted_api_key, set_by)
     values ($1, $2, $3, $4, 'U1')`,
    [workspace, key.account_id, service.url, keyring.encrypt(service.apiKey, encryptionContext.account(key))],
  );
}
