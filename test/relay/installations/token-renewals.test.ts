import { pino } from 'pino';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { startSlackWorkspace } from '../../../sandbox/slack/slack-workspace.ts';
import {
  decryptTokens,
  encryptTokens,
  TokenRotation,
} from '../../../src/relay/installations/token-rotation.ts';
import { slackTokens } from '../../../src/slack/tokens.ts';
import { SharedRateLimits } from '../../../src/store/slack/shared-rate-limits.ts';
import { readStats } from '../../../src/store/stats.ts';
import { Store } from '../../../src/store/store.ts';
import { Keyring } from '../../../src/store/workspaces/encryption.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { silentLog } from '../../support/silent-log.ts';

const HOUR_MS = 3_600_000;
const { kysely } = await freshDatabase();
const store = new Store(kysely);
const keyring = new Keyring(['k'.repeat(32)]);
const teams = Array.from({ length: 16 }, (_, at) => ({ id: `T${at}`, name: `Workspace ${at}` }));
const slack = await startSlackWorkspace({ teams });
afterAll(() => slack.stop());

beforeEach(async () => {
  slack.faults.clear();
  for (const table of ['installations', 'rate_limits'] as const) await kysely.deleteFrom(table).execute();
});

/** The token of a workspace of this Slack has so much of its time left (ms). */
async function install(workspace: string, leftMs: number, refreshToken?: string): Promise<void> {
  const installation = slack.teams.find(({ id }) => id === workspace)?.installation;
  installation?.install(12 * HOUR_MS);
  const bot = {
    token: installation?.token ?? 'xoxb-1',
    refreshToken: refreshToken ?? installation?.refreshToken,
  };
  await store.installations.put({
    ...{ workspace, enterprise_id: null, is_enterprise_install: false, name: workspace },
    ...{ bot_user_id: 'U1', bot_id: 'B1', token_expires_at: new Date(Date.now() + leftMs) },
    encrypted_tokens: encryptTokens(keyring, workspace, { bot }),
  });
}

/** What renews tokens in one process; one that failed is tried again after `claimMs`. */
function rotation({ pace = 20, log = silentLog, claimMs = 60_000 } = {}): TokenRotation {
  const { clientId, clientSecret, apiUrl: slackApiUrl } = slack;
  const rateLimitStore = new SharedRateLimits(kysely);
  const tokens = slackTokens({ clientId, clientSecret, slackApiUrl, rateLimitStore, pace, log: silentLog });
  return new TokenRotation({ store, keyring, slack: tokens, log }, async () => undefined, claimMs);
}

/** The workspaces whose stored token is the one that Slack issued last. */
async function renewed(): Promise<string[]> {
  const rows = await kysely.selectFrom('installations').selectAll().execute();
  const isNewest = ({ workspace, encrypted_tokens: sealed, token_expires_at: end }: (typeof rows)[number]) =>
    sealed !== null &&
    (end?.getTime() ?? 0) > Date.now() + 11 * HOUR_MS &&
    decryptTokens(keyring, workspace, sealed).bot.token ===
      slack.teams.find(({ id }) => id === workspace)?.installation.token;
  return rows.filter(isNewest).map(({ workspace }) => workspace);
}

/** A log, and the lines that it got. */
function keptLog() {
  const lines: { level: number; workspace: string; msg: string }[] = [];
  const line = z.object({ level: z.number(), workspace: z.string(), msg: z.string() });
  return { lines, log: pino({}, { write: (text) => void lines.push(line.parse(JSON.parse(text))) }) };
}

test('tokens that are due at once are renewed at the rate that all processes share', async () => {
  for (const { id } of teams) await install(id, HOUR_MS);
  const earlier = slack.calls.length;
  const processes = [rotation({ pace: 1 }), rotation({ pace: 1 })];
  while ((await renewed()).length < teams.length)
    await Promise.all(processes.map((process) => process.renewDue()));
  const calls = slack.calls.slice(earlier);
  expect(calls.map(({ ok }) => ok)).toEqual(teams.map(() => true));
  // Ten at once, and then one in 0.8 s.
  expect((calls.at(-1)?.at ?? 0) - (calls[0]?.at ?? 0)).toBeGreaterThan(4_000);
});

test('no process renews a token for as long as Slack says after it refused one, and none is given up', async () => {
  const [first = '', ...others] = teams.slice(0, 3).map(({ id }) => id);
  await install(first, HOUR_MS);
  const fault = { kind: 'status', status: 429, headers: { 'retry-after': '2' } } as const;
  slack.faults.add({ call: 'oauth.v2.access', fault, times: 1 });
  const { log, lines } = keptLog();
  const processes = [rotation({ log, claimMs: 5_000 }), rotation({ log, claimMs: 5_000 })];
  const earlier = slack.calls.length;
  await processes[0]?.renewDue();
  const blocked = kysely.selectFrom('rate_limits').selectAll().where('blocked_until', '>', new Date());
  await expect.poll(() => blocked.execute()).toHaveLength(1);
  for (const id of others) await install(id, HOUR_MS);
  while ((await renewed()).length < 3) await Promise.all(processes.map((process) => process.renewDue()));
  const [refused, ...later] = slack.calls.slice(earlier);
  expect([refused?.ok, ...later.map(({ ok }) => ok)]).toEqual([false, true, true, true]);
  expect((later[0]?.at ?? 0) - (refused?.at ?? 0)).toBeGreaterThanOrEqual(1_990);
  expect(lines.filter(({ level }) => level >= 50)).toEqual([]);
});

test('only what Slack says of a token means that the app must be installed again', async () => {
  const [spent = '', busy = '', proxied = '', wrong = ''] = teams.map(({ id }) => id);
  await install(spent, HOUR_MS, 'xoxe-1-spent');
  for (const [id, status, body] of [
    [busy, 503, ''],
    [proxied, 403, 'Forbidden'],
    [wrong, 200, { ok: false, error: 'bad_client_secret' }],
  ] as const) {
    await install(id, HOUR_MS, `xoxe-1-${id}-`);
    const fault = { kind: 'status', status, body } as const;
    slack.faults.add({ call: 'oauth.v2.access', about: `xoxe-1-${id}-`, fault });
  }
  const { log, lines } = keptLog();
  await rotation({ log }).renewDue();
  const named = (level: number) => lines.filter((line) => line.level === level).map((line) => line.workspace);
  expect(named(50)).toEqual([spent]);
  expect(named(40).sort()).toEqual([busy, proxied, wrong].sort());
  expect(lines.find(({ level }) => level === 50)?.msg).toContain('install the app again');
});

test('tokens that were issued together are due at different times, and the metrics tell how many are late', async () => {
  const renewals = async () => (await readStats(kysely, '')).renewals;
  for (let at = 0; at < 200; at += 1) await install(`S${at}`, 3 * HOUR_MS);
  const { due, late } = await renewals();
  expect(late).toBe(0);
  expect(due).toBeGreaterThan(60);
  expect(due).toBeLessThan(140);
  const leave = async (leftMs: number) =>
    kysely
      .updateTable('installations')
      .set({ token_expires_at: new Date(Date.now() + leftMs) })
      .execute();
  await leave(4.1 * HOUR_MS);
  expect(await renewals()).toEqual({ due: 0, late: 0 });
  await leave(1.9 * HOUR_MS);
  expect(await renewals()).toEqual({ due: 200, late: 0 });
  await leave(0.9 * HOUR_MS);
  expect(await renewals()).toEqual({ due: 200, late: 200 });
});

test('a token that is still valid is tried at least each ten minutes, however long Slack is away', async () => {
  await install('T1', HOUR_MS);
  slack.faults.add({ call: 'oauth.v2.access', fault: { kind: 'status', status: 503 } });
  const tried = () => slack.calls.length;
  const process = rotation();
  await process.renewDue();
  const before = tried();
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);
  await kysely
    .updateTable('installations')
    .set({ renewal_tried_since: ago(90), renewal_due_at: ago(1) })
    .execute();
  await process.renewDue();
  expect(tried()).toBe(before + 1);
  const row = await store.installations.get('T1');
  const pauseMs = (row?.renewal_due_at?.getTime() ?? 0) - Date.now();
  expect(pauseMs).toBeGreaterThan(9 * 60_000);
  expect(pauseMs).toBeLessThanOrEqual(10 * 60_000);
});
