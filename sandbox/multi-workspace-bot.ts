import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type pg from 'pg';
import { encryptionContext, Keyring } from '../src/store/workspaces/keyring.ts';
import type { AgentService } from './agent/agent-service.ts';
import { OAUTH_SECRET_KEY } from './bot-settings.ts';

/** The memory of a bot in a container of 768 MiB, and how the image has it returned to the system. */
export async function containerMemorySettings(): Promise<Record<string, string>> {
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

/** Gives a workspace a service of its own; the bot knows it within three seconds, or at its start. */
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
