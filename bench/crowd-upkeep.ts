import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { pino } from 'pino';
import { OAUTH_SECRET_KEY } from '../sandbox/bot-settings.ts';
import { fillHistory } from '../sandbox/filled-history.ts';
import { startInProcessSandbox } from '../sandbox/in-process-sandbox.ts';
import { startPostgresServer } from '../sandbox/postgres-server.ts';
import { startSlackWorkspace } from '../sandbox/slack/slack-workspace.ts';
import { temporaryFolder } from '../sandbox/temporary-folder.ts';
import { encryptTokens, TokenRotation } from '../src/relay/installations/token-rotation.ts';
import { RATE_LIMITS } from '../src/slack/rate-limits.ts';
import { slackTokens } from '../src/slack/tokens.ts';
import { openDatabase } from '../src/store/database.ts';
import { SharedRateLimits } from '../src/store/slack/shared-rate-limits.ts';
import { Store } from '../src/store/store.ts';
import { Keyring } from '../src/store/workspaces/encryption.ts';
import { round } from './statistics.ts';

/** How much there is, and how long idling and renewals are watched (s). */
export interface UpkeepScale {
  workspaces: number;
  idleSeconds: number;
  renewalSeconds: number;
  /** Of one person, who is forgotten. */
  messages: number;
  /** Who ask in a year, and how often each. */
  people: number;
  questions: number;
}

/** How many tokens are due after an outage. */
const DUE_TOKENS = 8_000;
const RENEWING_PROCESSES = 2;
const HOUR_MS = 3_600_000;
/** Two heartbeats (ms): the first one of a workspace is written into its own row. */
const SETTLE_MS = 32_000;
const log = pino({ level: process.env.LOG_LEVEL ?? 'silent' });
const keyring = new Keyring([OAUTH_SECRET_KEY]);

/** What upkeep takes where there are many workspaces and people. */
export async function measureUpkeep(scale: UpkeepScale) {
  await using undo = new AsyncDisposableStack();
  const { client, store } = await openServer(undo);
  const renewals = await renewTokens(store, scale.renewalSeconds);
  const forgetSeconds = await forgetPerson(store, client, scale.messages);
  const usageSeconds = await readUsage(store, client, scale);
  // Of its own: retention still deletes what stands in the other.
  const idle = await openServer(undo);
  const idleWalMbPerHour = await watchIdling(idle.client, idle.url, scale);
  return { renewals, forgetSeconds, usageSeconds, idleWalMbPerHour };
}

async function openServer(undo: AsyncDisposableStack) {
  const folder = join(await temporaryFolder(undo), 'database');
  const { connection, url } = await startPostgresServer(folder, undo, { fsync: true });
  const opened = await openDatabase({ url, log });
  undo.defer(() => opened.close());
  const client = new pg.Client(connection);
  await client.connect();
  undo.defer(() => client.end());
  return { url, client, store: new Store(opened.kysely) };
}

/** Two processes renew what is due at once, under Slack's limit, for so long: how long as many as after an outage take. */
async function renewTokens(store: Store, seconds: number) {
  const { burst, perMinute } = RATE_LIMITS['oauth.v2.access'];
  const count = burst + Math.ceil((seconds * perMinute) / 60) + 1;
  const teams = Array.from({ length: count }, (_, at) => ({ name: `Workspace ${at}` }));
  const slack = await startSlackWorkspace({ teams });
  for (const { id, installation } of slack.teams) {
    installation.install(12 * HOUR_MS);
    const { token, refreshToken } = installation;
    await store.installations.put({
      ...{ workspace: id, enterprise_id: null, is_enterprise_install: false, name: id },
      ...{ bot_user_id: 'U1', bot_id: 'B1', token_expires_at: new Date(Date.now() + HOUR_MS) },
      encrypted_tokens: encryptTokens(keyring, id, { bot: { token, refreshToken } }),
    });
  }
  const { clientId, clientSecret, apiUrl: slackApiUrl } = slack;
  const processes = Array.from({ length: RENEWING_PROCESSES }, () => {
    const rateLimitStore = new SharedRateLimits(store.db);
    const tokens = slackTokens({ clientId, clientSecret, slackApiUrl, rateLimitStore, log });
    return new TokenRotation({ store, keyring, slack: tokens, log }, async () => undefined);
  });
  for (const process of processes) process.start();
  await sleep(seconds * 1_000);
  await Promise.all(processes.map((process) => process.stop()));
  await slack.stop();
  const calls = slack.calls.filter(({ method }) => method === 'oauth.v2.access');
  const paced = calls.filter(({ ok }) => ok).slice(burst);
  const minutes = ((paced.at(-1)?.at ?? 0) - (paced[0]?.at ?? 0)) / 60_000;
  return {
    minutesForAll: round((DUE_TOKENS * minutes) / Math.max(1, paced.length - 1), 0),
    refused: calls.filter(({ ok }) => !ok).length,
  };
}

/** How long it takes to erase a person with so many messages, half of those of a workspace (s). */
async function forgetPerson(store: Store, client: pg.Client, messages: number): Promise<number> {
  const whose = { workspace: 'T1', channel: 'C1' };
  await fillHistory(client, { turns: messages * 2, ...whose, workspaces: 1, channels: 40, textDays: 90 });
  await client.query(
    `update messages set user_id = 'U1' where ctid = any (array(select ctid from messages limit ${messages}))`,
  );
  await client.query(`
    update turns set asked_by = 'U1' from messages
    where (turns.workspace, turns.channel, turns.message_ts) = (messages.workspace, messages.channel, messages.ts)
      and user_id = 'U1'`);
  await client.query('vacuum analyze');
  const began = performance.now();
  const erased = await store.personErasure.eraseUser('T1', 'U1');
  if (erased !== messages) throw new Error(`${erased} messages were erased, not ${messages}.`);
  return round((performance.now() - began) / 1_000, 1);
}

/** How long the figures of a year take, of each person (s). */
async function readUsage(store: Store, client: pg.Client, { people, questions }: UpkeepScale) {
  const details = { sent: true, outcome: 'completed', seconds: 30, filesIn: 1, filesOut: 2 };
  await client.query(
    `insert into audit_events (workspace, at, kind, user_id, channel, turn_id, details)
     select 'T2', now() - random() * interval '365 days', 'turn', 'U' || person, 'C' || person % 500, gen_random_uuid(), $3
     from generate_series(1, $1::int) as person cross join generate_series(1, $2::int)`,
    [people, questions, details],
  );
  await client.query('vacuum analyze audit_events');
  const began = performance.now();
  const since = new Date(Date.now() - 366 * 24 * HOUR_MS);
  let asked = 0;
  for await (const row of store.usage.read({ since, workspace: 'T2' }, 'person')) asked += row.questions;
  if (asked !== people * questions) throw new Error(`The figures count ${asked} questions.`);
  return round((performance.now() - began) / 1_000, 1);
}

/**
 * The WAL of a process with so many workspaces in which nobody writes, for an hour (MB): that of a minute, in which all
 * happens that happens each minute, without the whole pages after a checkpoint.
 */
async function watchIdling(client: pg.Client, url: string, { workspaces, idleSeconds }: UpkeepScale) {
  const sandbox = await startInProcessSandbox({ log, oauth: true, databaseUrl: url });
  try {
    const ids = Array.from(
      { length: workspaces },
      (_, at) => `T${at}${randomUUID().slice(0, 8).toUpperCase()}`,
    );
    const sealed = ids.map((id) => encryptTokens(keyring, id, { bot: { token: `xoxb-${id}` } }));
    await client.query(
      `insert into installations (workspace, is_enterprise_install, name, bot_user_id, bot_id, encrypted_tokens)
       select id, false, id, 'U1', 'B1', sealed from unnest($1::text[], $2::text[]) as given (id, sealed)`,
      [ids, sealed],
    );
    await client.query(`
      insert into workspaces (workspace, name, bot_user_id, bot_id, installation_id)
      select workspace, name, bot_user_id, bot_id, workspace from installations`);
    await sleep(SETTLE_MS);
    const written = async () => {
      const { rows } = await client.query<{ bytes: number }>(
        `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as bytes`,
      );
      return rows[0]?.bytes ?? Number.NaN;
    };
    const before = await written();
    await sleep(idleSeconds * 1_000);
    return round((((await written()) - before) * 3_600) / idleSeconds / 1e6, 1);
  } finally {
    await sandbox.stop();
  }
}
