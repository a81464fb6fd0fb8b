import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { fillHistory, type HistoryReads, historyReads } from '../../../sandbox/filled-history.ts';
import { connectionUrl } from '../../../sandbox/postgres-server.ts';
import { gapToRead } from '../../../src/relay/inbox/backfill.ts';
import { WORKFLOW_STEP } from '../../../src/relay/runtime/incoming-message.ts';
import { readDueWork } from '../../../src/store/processes/due-work.ts';
import { readStats } from '../../../src/store/stats.ts';
import { openAppScene } from '../../support/app-scene.ts';
import { copyTemplateDatabase, dropDatabase } from '../../support/fresh-database.ts';

/** A table with more rows than this is large: a small one is rightly read whole. */
const LARGE_ROWS = 1_500;
/**
 * What the scene below may read of a large table, its own rows included: what is due is read by each poll, and the slower
 * the machine, the more polls there are. Our channel alone has a quarter of the history.
 */
const MAX_ROWS_READ = 1_000;
const MAX_SHARE_READ = 0.2;

const connection = await copyTemplateDatabase();
const client = new pg.Client(connection);
// Its bot stops before this.
afterAll(async () => {
  await client.end();
  await dropDatabase(connection);
});
const scene = await openAppScene({
  databaseUrl: connectionUrl(connection),
  settings: { TURNS_PER_HOUR_WORKSPACE: '1000', PORT: '0' },
  limits: { watchIntervalMs: 200 },
});
const channel = scene.channel();

/** Workspaces in which nothing happens now: an old upload, and a job for later each. Ours has settings in many channels. */
const AT_REST = [
  `insert into installations (workspace, is_enterprise_install, name, bot_user_id, bot_id)
    select 'TREST' || n, false, '', '', '' from generate_series(1, 10000) as n`,
  `insert into workspaces (workspace, name, bot_user_id, bot_id, installation_id)
    select 'TREST' || n, '', '', '', 'TREST' || n from generate_series(1, 10000) as n`,
  `insert into settings (workspace, channel, changed_by) select 'TREST' || n, '', '' from generate_series(1, 700) as n`,
  `insert into settings (workspace, channel, changed_by) select '${scene.slack.team.id}', 'CREST' || n, '' from generate_series(1, 700) as n`,
  `insert into jobs (workspace, kind, channel, thread_ts, key, person, payload, due_at)
    select 'TREST' || n, 'follow_up', 'CREST', n, '', '', '{}', now() + interval '1 day' from generate_series(1, 20000) as n`,
  `insert into uploads (workspace, slack_file_id, project_id, started_at, uploaded_at)
    select 'TREST' || n, 'FREST', 'prj_rest', old, old
    from generate_series(1, 4000) as n, (values (now() - interval '30 days')) as times (old)`,
];

beforeAll(async () => {
  await client.connect();
  for (const statement of AT_REST) await client.query(statement);
  // Half of it is in our workspace, and half of that in our channel.
  const ours = { workspace: scene.slack.team.id, channel: channel.id };
  await fillHistory(client, { turns: 20_000, ...ours, workspaces: 2, channels: 2 });
});

/** Conversations, what people do meanwhile, and a round of everything that runs in the background. */
async function live(): Promise<void> {
  const dm = scene.slack.openDm(scene.ada);
  const files = [{ name: 'run.csv', mime: 'text/csv', bytes: Buffer.from('a,b\n1,2\n3,4\n') }];
  const root = scene.ask(channel, 'what is in there?', { files });
  const direct = scene.slack.say({ person: scene.ada, channel: dm, text: 'a question of its own' });
  const talk = scene.slack.say({ person: scene.grace, channel, text: 'who has measured this?' });
  const asked = scene.reply(channel, talk, `${scene.mention} can you tell?`);
  await Promise.all([
    scene.finished(channel, root),
    scene.finished(dm, direct),
    scene.finished(channel, asked),
  ]);
  scene.reply(channel, talk, 'was it in May?');
  const slow = scene.ask(channel, '/slow 9000');
  const seconds = () => scene.shown(channel, slow).includes('Second');
  await scene.until('the reply grows', seconds);
  const paused = scene.reply(channel, slow, 'one more thing');
  await scene.slack.settled();
  scene.reply(channel, slow, 'stop', { person: scene.grace });
  await scene.finished(channel, slow);
  scene.slack.edit(channel.id, paused.ts, 'another thing');
  scene.slack.say({ person: scene.ada, channel, text: 'not for the bot' });
  await scene.finished(channel, scene.reply(channel, root, 'and then?'));
  const { store } = scene.sandbox.bot;
  const days = { words: 7, rows: 90, audit: 365, uninstalled: 30 };
  await store.retention.deleteExpired(days);
  await readStats(store.db, WORKFLOW_STEP);
  await store.backfills.addGap(scene.slack.team.id, gapToRead(new Date(), true));
  const { changeSeq } = await readDueWork(store.db);
  await store.installations.changedSince(changeSeq);
  await lookBack();
  await scene.slack.settled();
}

/** What is looked up of a person's last hour, and of the oldest thread of the channel. */
async function lookBack(): Promise<void> {
  const { audit, messages, turns } = scene.sandbox.bot.store;
  const { id: workspace } = scene.slack.team;
  const person = { workspace, user_id: scene.ada.id };
  await audit.addRefusal({ ...person, channel: channel.id, details: { why: 'stranger' } });
  await audit.countOf('files', person, new Date(Date.now() - 3_600_000));
  const found = await client.query<{ ts: string }>(
    'select min(ts)::text as ts from messages where workspace = $1 and channel = $2',
    [workspace, channel.id],
  );
  const key = { workspace, channel: channel.id, ts: found.rows[0]?.ts ?? '' };
  const [message, turn] = await Promise.all([messages.get(key), turns.ofMessage(key)]);
  if (message === undefined || turn === undefined) throw new Error('There is no history.');
  expect(await messages.aboutsOfSent(message)).toContain(null);
  expect(await messages.hasLater(turn)).toBe(true);
}

/** Which of these large tables were read too much. */
function readTooMuch(reads: readonly HistoryReads[]): HistoryReads[] {
  const most = (rows: number) => Math.max(MAX_ROWS_READ, rows * MAX_SHARE_READ);
  return reads.filter(({ rows, sequentialScans, rowsRead }) => sequentialScans > 0 || rowsRead > most(rows));
}

const plansSchema = z.array(
  z.object({ 'QUERY PLAN': z.array(z.object({ Plan: z.object({ 'Total Cost': z.number() }) })) }),
);

/** The text of what a client is asked: it is given alone, or with its values. */
const textSchema = z.union([z.string(), z.object({ text: z.string() }).transform(({ text }) => text)]);

/** The costliest of these statements that name one of the tables: one of them is the culprit, or a function that it calls. */
async function costliest(statements: Iterable<string>, tables: readonly string[]): Promise<string[]> {
  const costs: { statement: string; cost: number }[] = [];
  for (const statement of statements) {
    if (!tables.some((table) => statement.includes(table))) continue;
    const plan = await client
      .query(`explain (generic_plan, format json) ${statement}`)
      .catch(() => undefined);
    const cost = plansSchema.safeParse(plan?.rows).data?.[0]?.['QUERY PLAN'][0]?.Plan['Total Cost'] ?? 0;
    costs.push({ statement, cost });
  }
  return costs
    .toSorted((one, other) => other.cost - one.cost)
    .map(({ statement }) => statement)
    .slice(0, 3);
}

test.each(['force_custom_plan', 'force_generic_plan'])(
  'a conversation, upkeep, limits, a short gap, retention and metrics read no old turns, and no workspaces at rest (%s)',
  async (mode) => {
    await client.query(`alter database ${connection.database} set plan_cache_mode = ${mode}`);
    await scene.sandbox.restartBot();
    await client.query('select pg_stat_reset()');
    const query = vi.spyOn(pg.Client.prototype, 'query');
    onTestFinished(() => query.mockRestore());
    await live();
    // A connection that closes reports what it has read.
    await scene.sandbox.restartBot();
    const statements = new Set(query.mock.calls.map(([asked]) => textSchema.parse(asked)));
    query.mockRestore();
    const reads = await historyReads(client, LARGE_ROWS);
    expect(reads.length).toBeGreaterThanOrEqual(7);
    const excess = readTooMuch(reads);
    const culprits = await costliest(
      statements,
      excess.map(({ table }) => table),
    );
    expect({ excess, culprits }).toEqual({ excess: [], culprits: [] });
  },
);
