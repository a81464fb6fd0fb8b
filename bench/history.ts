import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { pino } from 'pino';
import { z } from 'zod';
import { fillHistory, HISTORY_DAYS, historyReads } from '../sandbox/filled-history.ts';
import { type InProcessSandbox, startInProcessSandbox } from '../sandbox/in-process-sandbox.ts';
import { connectionUrl, startPostgresServer } from '../sandbox/postgres-server.ts';
import type { Channel } from '../sandbox/slack/slack-workspace.ts';
import { temporaryFolder } from '../sandbox/temporary-folder.ts';
import type { EmbeddedServer } from '../src/postgres/embedded-server.ts';
import { openDatabase } from '../src/store/database.ts';
import { Store } from '../src/store/store.ts';
import { percentile, round } from './statistics.ts';

/** The two sides take turns this often, with so many questions each time. */
const ROUNDS = 8;
const QUESTIONS = 5;
/** A table with fewer rows is rightly read whole. */
const LARGE_ROWS = 10_000;
const TURN_TIMEOUT_MS = 60_000;
/** Between questions: each reply is posted in one channel, where Slack permits a post a second. */
const PAUSE_MS = 500;
/** What retention deletes at the end: what a busy hour makes. */
const DUE_TURNS = 100_000;

const statementsSchema = z.array(z.object({ query: z.string(), ms: z.number() }));

/** Quotas that nobody reaches: they are still counted. */
const QUOTAS = {
  settings: { TURNS_PER_HOUR_PERSON: '100000', TURNS_PER_HOUR_WORKSPACE: '100000' },
  limits: { atOncePerson: 100_000, atOnceWorkspace: 100_000 },
};

/** A bot on a database of its own, with what was measured of it. */
class Side {
  readonly sandbox: InProcessSandbox;
  readonly channel: Channel;
  readonly client: pg.Client;
  readonly firstVisibleMs: number[] = [];
  readonly metricsMs: number[] = [];
  databaseMs = 0;
  readonly #ada;

  constructor(sandbox: InProcessSandbox, client: pg.Client) {
    this.sandbox = sandbox;
    this.client = client;
    this.#ada = sandbox.slack.createPerson({ name: 'ada' });
    this.channel = sandbox.slack.createChannel({ name: 'history' });
  }

  /** Asks some questions, one after the other; only a measured round counts. */
  async askAll(isMeasured: boolean): Promise<void> {
    const before = await this.#totalDatabaseMs();
    const visible: number[] = [];
    for (let asked = 0; asked < QUESTIONS; asked += 1) {
      visible.push(await this.#ask());
      await sleep(PAUSE_MS);
    }
    if (!isMeasured) return;
    this.databaseMs += (await this.#totalDatabaseMs()) - before;
    this.firstVisibleMs.push(...visible);
    const scrapedAt = performance.now();
    await (await fetch(`http://127.0.0.1:${this.sandbox.bot.port}/metrics`)).text();
    this.metricsMs.push(performance.now() - scrapedAt);
  }

  /** Asks a question; returns the time until the first reply (ms), and waits for the turn's end. */
  async #ask(): Promise<number> {
    const { slack, bot } = this.sandbox;
    const visible = Promise.withResolvers<number>();
    const askedAt = performance.now();
    const text = `<@${slack.bot.userId}> a question`;
    const root = slack.say({ person: this.#ada, channel: this.channel, text });
    const stop = slack.onChange(({ kind, message }) => {
      if (kind === 'posted' && message.threadTs === root.ts && message.user === slack.bot.userId)
        visible.resolve(performance.now() - askedAt);
    });
    const ms = await Promise.race([visible.promise, sleep(TURN_TIMEOUT_MS, Number.NaN, { ref: false })]);
    stop();
    const key = { workspace: root.teamId, channel: root.channel, ts: root.ts };
    const isFinished = async () => (await bot.store.turns.ofMessage(key))?.finished_at != null;
    while (performance.now() - askedAt < TURN_TIMEOUT_MS && !(await isFinished())) await sleep(100);
    return ms;
  }

  /** The database's time for each statement since the reset (ms), planning included. */
  async statementMs(): Promise<Map<string, number>> {
    const { rows } = await this.client.query(
      `select query, sum(total_plan_time + total_exec_time)::float8 as ms from pg_stat_statements
      where dbid = (select oid from pg_database where datname = current_database())
        and query not like '%pg_stat_statements%' group by 1`,
    );
    return new Map(statementsSchema.parse(rows).map(({ query, ms }) => [query, ms]));
  }

  async #totalDatabaseMs(): Promise<number> {
    return [...(await this.statementMs()).values()].reduce((sum, ms) => sum + ms, 0);
  }
}

/** Asks questions beside an empty and a full history in turns. The last line is JSON. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { turns: { type: 'string', default: '2000000' } } });
  const turns = Number(values.turns);
  await using undo = new AsyncDisposableStack();
  const server = await startServer(undo);
  const empty = await openSide(server, 'empty', undo);
  const full = await openSide(server, 'full', undo);
  const workspace = full.sandbox.slack.team.id;
  const fillingAt = performance.now();
  await fillHistory(full.client, { turns, workspace, channel: full.channel.id });
  console.log(`filled in ${Math.round((performance.now() - fillingAt) / 1_000)} s`);
  const diskBytesPerTurn = Math.round(((await databaseBytes(full)) - (await databaseBytes(empty))) / turns);
  await full.client.query('checkpoint');
  await full.client.query('select pg_stat_reset()');
  await full.client.query('select pg_stat_statements_reset()');
  for (let count = 0; count <= ROUNDS; count += 1)
    for (const side of count % 2 === 0 ? [empty, full] : [full, empty]) await side.askAll(count > 0);
  await printDifferences(empty, full);
  for (const { sandbox } of [empty, full]) await sandbox.bot.stop();
  const reads = await historyReads(full.client, LARGE_ROWS);
  console.table(reads);
  const stats = (side: Side) => ({
    firstVisibleMs: round(percentile(side.firstVisibleMs, 0.5), 1),
    databaseMs: round(side.databaseMs / side.firstVisibleMs.length, 1),
    metricsMs: round(percentile(side.metricsMs, 0.5), 1),
  });
  const retentionSeconds = await measureRetention(full.client, turns);
  const [before, after] = [stats(empty), stats(full)];
  console.table({ empty: before, full: after });
  const result = {
    firstVisibleRatio: round(after.firstVisibleMs / before.firstVisibleMs),
    databaseMsRatio: round(after.databaseMs / before.databaseMs),
    metricsMs: after.metricsMs,
    sequentialScansOfLargeTables: reads.reduce((sum, { sequentialScans }) => sum + sequentialScans, 0),
    diskBytesPerTurn,
    retentionSeconds,
  };
  console.log(JSON.stringify({ bench: 'history', turns, ...result }));
}

/** Prints the statements whose share of a turn differs most. */
async function printDifferences(empty: Side, full: Side): Promise<void> {
  const [before, after] = [await empty.statementMs(), await full.statementMs()];
  const differences = [...after].map(([statement, ms]) => ({
    statement: statement.replaceAll(/\s+/g, ' ').slice(0, 70),
    moreMs: round((ms - (before.get(statement) ?? 0)) / (QUESTIONS * (ROUNDS + 1)), 2),
  }));
  console.table(differences.toSorted((one, other) => other.moreMs - one.moreMs).slice(0, 6));
}

async function databaseBytes({ client }: Side): Promise<number> {
  const { rows } = await client.query('select pg_database_size(current_database())::float8 as bytes');
  return z.array(z.object({ bytes: z.number() })).parse(rows)[0]?.bytes ?? Number.NaN;
}

/** How long retention takes to delete the oldest turns (s), as if they were due at once. */
async function measureRetention(client: pg.Client, turns: number): Promise<number> {
  const { host, port, user, password, database } = client;
  const connection = { host, port, user: user ?? '', password: password ?? '', database: database ?? '' };
  const opened = await openDatabase({ embedded: { connection }, log: pino({ level: 'silent' }) });
  const due = Math.min(DUE_TURNS, turns);
  const rows = HISTORY_DAYS * (1 - due / turns);
  const startedAt = performance.now();
  await new Store(opened.kysely).retention.deleteExpired({ words: 7, rows, audit: 365, uninstalled: 30 });
  const seconds = round((performance.now() - startedAt) / 1_000, 1);
  await opened.close();
  return seconds;
}

/** A server that counts its statements. */
async function startServer(undo: AsyncDisposableStack): Promise<EmbeddedServer['connection']> {
  const folder = join(await temporaryFolder(undo), 'database');
  await using once = new AsyncDisposableStack();
  const { connection } = await startPostgresServer(folder, once);
  const client = new pg.Client(connection);
  await client.connect();
  await client.query(`alter system set shared_preload_libraries = 'pg_stat_statements'`);
  await client.query('alter system set pg_stat_statements.track_planning = on');
  await client.end();
  await once.disposeAsync();
  return (await startPostgresServer(folder, undo)).connection;
}

async function openSide(
  server: EmbeddedServer['connection'],
  database: string,
  undo: AsyncDisposableStack,
): Promise<Side> {
  const administrator = new pg.Client(server);
  await administrator.connect();
  await administrator.query(`create database "${database}"`);
  await administrator.end();
  const connection = { ...server, database };
  const sandbox = await startInProcessSandbox({
    log: pino({ level: process.env.LOG_LEVEL ?? 'silent' }),
    databaseUrl: connectionUrl(connection),
    slack: { limits: 'off' },
    agent: { script: async (turn) => turn.write('Done.') },
    ...QUOTAS,
  });
  undo.defer(() => sandbox.stop());
  const client = new pg.Client(connection);
  await client.connect();
  undo.defer(() => client.end());
  await client.query('create extension pg_stat_statements');
  return new Side(sandbox, client);
}
