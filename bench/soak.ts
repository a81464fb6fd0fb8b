import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { BotProcess } from '../sandbox/bot-process.ts';
import { limitsSetting } from '../sandbox/bot-settings.ts';
import { chaosAgent } from '../sandbox/chaos/chaos-agent.ts';
import { Conversation, DeliveryTracker } from '../sandbox/chaos/conversation.ts';
import { findDamage } from '../sandbox/chaos/damage.ts';
import { DatabaseObserver } from '../sandbox/chaos/database-observer.ts';
import { ALL_FAULTS } from '../sandbox/chaos/fault-profile.ts';
import { collectFindings } from '../sandbox/chaos/findings.ts';
import { createRandomStreams } from '../sandbox/chaos/random-streams.ts';
import { HeapCollector } from '../sandbox/heap-collector.ts';
import { startPostgresServer } from '../sandbox/postgres-server.ts';
import { startSandboxServices } from '../sandbox/sandbox-services.ts';
import { secondsSince } from '../sandbox/wait-until.ts';
import { ExpiringHistory, KEEP_DAYS } from './expiring-history.ts';
import { round, slope } from './statistics.ts';

/** Below Slack's limits of one post a second per channel and about 225 a minute per workspace. */
const MESSAGES_PER_MINUTE = 66;
const CHANNELS = 24;
/** Code that V8 compiles once, and caches that fill, take memory until every path was taken some times. */
const WARM_UP_MS = 60_000;
const SAMPLE_INTERVAL_MS = 2_000;
/**
 * Open turns take and free more memory within a second than a leak may add in a minute. The measure is therefore the
 * lowest reading in each stretch of this many minutes, which a leak raises too.
 */
const LOW_WATER_MINUTES = 0.5;
/** The most that memory (KiB) and handles may grow in a minute: more than the noise of a run, less than any leak seen. */
const MAX_RSS_SLOPE_KIB = 200;
const MAX_HANDLES_SLOPE = 1;
/** Bytes: a larger file is uploaded in parts of half this size. */
const MULTIPART_THRESHOLD = 1_024;

const MEBIBYTE = 1_024 * 1_024;

/** One reading of the bot's process, and of its database: rows as PostgreSQL counts them, WAL since the server began. */
interface Sample {
  minute: number;
  rssKiB: number;
  handles: number;
  heapKiB: number;
  rows: number;
  databaseMiB: number;
  walMiB: number;
}

/** Reads the bot's own metrics, each time after a full garbage collection, and its tables, until it is stopped. */
class Sampler {
  readonly samples: Sample[] = [];
  readonly #url: string;
  readonly #collector: HeapCollector;
  readonly #client: pg.Client;
  readonly #began = performance.now();
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;

  constructor(port: number, collector: HeapCollector, client: pg.Client) {
    this.#collector = collector;
    this.#client = client;
    this.#url = `http://127.0.0.1:${port}/metrics`;
    this.#running = this.#sample();
  }

  async stop(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  /** The readings of the second half. */
  get lastHalf(): Sample[] {
    const middle = (this.samples.at(-1)?.minute ?? 0) / 2;
    return this.samples.filter(({ minute }) => minute >= middle);
  }

  async #sample(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await this.#collector.collect();
      const page = await (await fetch(this.#url)).text();
      const minute = (performance.now() - this.#began) / 60_000;
      this.samples.push({
        minute: round(minute),
        rssKiB: metricValue(page, 'process_resident_memory_bytes') / 1_024,
        handles: metricValue(page, 'nodejs_active_handles_total'),
        heapKiB: Math.round(metricValue(page, 'nodejs_heap_size_used_bytes') / 1_024),
        ...(await this.#readDatabase()),
      });
      await sleep(SAMPLE_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async #readDatabase(): Promise<Pick<Sample, 'rows' | 'databaseMiB' | 'walMiB'>> {
    const { rows } = await this.#client.query<{ rows: number; database: number; wal: number }>(
      `select (select sum(n_live_tup) from pg_stat_user_tables)::int as rows,
        pg_database_size(current_database())::float8 as database,
        pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as wal`,
    );
    const { rows: live = Number.NaN, database = Number.NaN, wal = Number.NaN } = rows[0] ?? {};
    return { rows: live, databaseMiB: round(database / MEBIBYTE, 1), walMiB: round(wal / MEBIBYTE, 1) };
  }
}

/** The sample with the least in each stretch of time. */
function lowWaterMarks(
  samples: readonly Sample[],
  of: (sample: Sample) => number,
  stretchMinutes: number,
): Sample[] {
  const least = new Map<number, Sample>();
  // The last few seconds belong to the stretch before them.
  const last = Math.round((samples.at(-1)?.minute ?? 0) / stretchMinutes) - 1;
  for (const sample of samples) {
    const stretch = Math.min(Math.floor(sample.minute / stretchMinutes), last);
    const known = least.get(stretch);
    if (known === undefined || of(sample) < of(known)) least.set(stretch, sample);
  }
  return [...least.values()];
}

function metricValue(page: string, name: string): number {
  const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(page)?.[1];
  if (value === undefined) throw new Error(`/metrics has no ${name}.`);
  return Number(value);
}

/** People send messages at a fixed rate for so long. */
async function talk(conversation: Conversation, ms: number): Promise<void> {
  const began = performance.now();
  for (let said = 0; performance.now() - began < ms; said += 1) {
    const wait = began + (said * 60_000) / MESSAGES_PER_MINUTE - performance.now();
    if (wait > 0) await sleep(wait);
    conversation.sayOne();
  }
}

async function measure(minutes: number, seed: number) {
  await using undo = new AsyncDisposableStack();
  const random = createRandomStreams(seed);
  const { slack, agent, settings, folder } = await startSandboxServices(
    {
      slack: {
        random: random.slack,
        limits: 'off',
        // An event that is not acknowledged in time comes again while its message is still waited for.
        retryScale: 1 / 60,
        clientMsgIdDedupe: false,
        delivery: { order: 'random', duplicateChance: 0.15 },
      },
      agent: {
        script: chaosAgent(),
        behaviour: {
          multipartThreshold: MULTIPART_THRESHOLD,
          partSize: MULTIPART_THRESHOLD / 2,
          minPartSize: 1,
        },
      },
      settings: {
        ...limitsSetting({ editsPerMinute: 400 }),
        KEEP_ROWS_DAYS: String(KEEP_DAYS),
        KEEP_AUDIT_DAYS: String(KEEP_DAYS),
      },
    },
    undo,
  );
  const database = await startPostgresServer(join(folder, 'database'), undo, { fsync: true });
  const logFile = join(folder, 'bot.log');
  const bot = new BotProcess(
    { ...settings, ...HeapCollector.environment, DATABASE_URL: database.url },
    logFile,
  );
  undo.defer(async () => void (await bot.stop()));
  await bot.ready();
  if (bot.port === undefined) throw new Error('The bot did not start.');
  const collector = await HeapCollector.open(logFile);
  undo.defer(async () => collector.close());
  await collector.stopOptimising();
  const [reader, writer] = [new pg.Client(database.connection), new pg.Client(database.connection)];
  for (const client of [reader, writer]) {
    await client.connect();
    undo.defer(() => client.end());
  }
  const history = new ExpiringHistory(writer);
  undo.defer(() => history.stop());
  const observer = new DatabaseObserver(async () => database.connection);
  undo.defer(() => observer.stop());
  for (const rule of ALL_FAULTS.slack) slack.faults.add(rule);
  for (const rule of ALL_FAULTS.agent) agent.faults.add(rule);

  const conversation = new Conversation(slack, random.people, { maxChannels: CHANNELS });
  const deliveries = new DeliveryTracker(slack);
  await talk(conversation, WARM_UP_MS);
  const before = conversation.said.length;
  console.log(`warmed up after ${before} messages`);
  const sampler = new Sampler(bot.port, collector, reader);
  await talk(conversation, minutes * 60_000);
  // Messages of the warm-up do not count.
  const asked = new Set(conversation.said.slice(before).map(({ channel, ts }) => `${channel}/${ts}`));
  await Promise.all([sampler.stop(), history.stop()]);
  const expired = await history.expiredTurnsLeft();
  slack.faults.clear();
  agent.faults.clear();
  const { findings, turns } = await collectFindings(slack, agent, observer, conversation);
  // What Slack gave up delivering never was the bot's.
  const said = findings.said.map((message) => ({
    ...message,
    wasDelivered: deliveries.wasDelivered(message),
  }));
  const { lost, stuck, duplicated, outOfOrder, repliesWrong } = findDamage({ ...findings, said });
  return {
    asked: asked.size,
    files: conversation.said.filter(({ files }) => files.length > 0).length,
    turns: turns.filter(({ finished, channel, ts }) => finished && asked.has(`${channel}/${ts}`)).length,
    samples: sampler.samples,
    lastHalf: sampler.lastHalf,
    expired,
    lost: [...lost, ...stuck],
    duplicated,
    outOfOrder,
    repliesWrong,
  };
}

/**
 * Sends messages with files and faults for minutes, while rows expire, and measures the bot's memory, handles, tables and
 * WAL. The last line is JSON; the exit code is 1 if anything was lost, duplicated, out of order or wrong, if memory or
 * handles grow, or if expired rows are left.
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { minutes: { type: 'string', default: '5' }, seed: { type: 'string', default: '1' } },
  });
  const minutes = Number(values.minutes);
  const seed = Number(values.seed);
  const began = performance.now();
  const seen = await measure(minutes, seed);
  const every = Math.ceil(seen.samples.length / 20);
  console.table(seen.samples.filter((_, index) => index % every === 0));
  const { lost, duplicated, outOfOrder, repliesWrong } = seen;
  const damage = [...lost, ...duplicated, ...outOfOrder, ...repliesWrong];
  for (const sentence of damage) console.error(sentence);
  console.log(`${seen.asked} messages measured; including the warm-up, ${seen.files} messages had files`);
  const slopeOf = (samples: readonly Sample[], of: (sample: Sample) => number) =>
    round(slope(samples.map((sample) => [sample.minute, of(sample)])), 1);
  const rssOf = ({ rssKiB }: Sample) => rssKiB;
  const rowsOf = ({ rows }: Sample) => rows;
  const perMinute = round(seen.turns / minutes, 1);
  console.log(`${perMinute} turns a minute (at least 60 required)`);
  console.log(
    `memory grew by ${slopeOf(seen.lastHalf, rssOf)} KiB a minute over all samples, open turns included`,
  );
  const stats = {
    turns: seen.turns,
    rssSlopeKiBPerMinute: slopeOf(lowWaterMarks(seen.lastHalf, rssOf, LOW_WATER_MINUTES), rssOf),
    handlesSlopePerMinute: slopeOf(seen.lastHalf, ({ handles }) => handles),
    // Expired rows come and go within a minute.
    rowsPerTurn: round(slopeOf(lowWaterMarks(seen.samples, rowsOf, 1), rowsOf) / perMinute, 1),
    databaseSlopeMiBPerMinute: slopeOf(seen.lastHalf, ({ databaseMiB }) => databaseMiB),
    walMiBPerMinute: slopeOf(seen.lastHalf, ({ walMiB }) => walMiB),
    expiredTurnsLeft: seen.expired,
    lost: lost.length,
    duplicated: duplicated.length,
    outOfOrder: outOfOrder.length,
    repliesWrong: repliesWrong.length,
  };
  console.log(JSON.stringify({ bench: 'soak', minutes, seed, seconds: secondsSince(began), ...stats }));
  // NaN, the slope of too few samples, is no pass.
  const isSteady =
    stats.rssSlopeKiBPerMinute <= MAX_RSS_SLOPE_KIB &&
    stats.handlesSlopePerMinute <= MAX_HANDLES_SLOPE &&
    stats.expiredTurnsLeft === 0;
  if (damage.length > 0 || perMinute < 60 || !isSteady) process.exitCode = 1;
}
