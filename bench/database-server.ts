import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { connectionUrl, withClient } from '../sandbox/postgres-server.ts';
import { startEmbeddedServer } from '../src/postgres/embedded-server.ts';

/** What the server and a bot have done so far. */
export interface Totals {
  /**
   * Statements of the bots, with BEGIN and COMMIT; those inside functions do not count, nor do renewals of leases: a
   * process takes one in 3 s, however many turns it holds.
   */
  statements: number;
  /** Transactions of the bots that wrote something, without renewals. */
  writes: number;
  /** Without the records of commits. */
  walBytes: number;
  connections: number;
  postgresCpuMs: number;
}

/** A database server with `fsync`, which counts its statements. */
export interface CountingServer {
  url: string;
  totals(): Promise<Totals>;
  /** How often each statement ran since the last `reset`, the most frequent first. */
  statements(): Promise<{ query: string; calls: number; walBytes: number }[]>;
  reset(): Promise<void>;
  /** Deletes the jobs that are due; returns how many. */
  deleteDueJobs(): Promise<number>;
}

const isRenewal = "query like '%renewed as (%update jobs set claimed_until = %'";
/** Autovacuum takes a transaction id for each table that it analyzes. */
const ANALYZED = 'select coalesce(sum(autoanalyze_count), 0)::float8 as count from pg_stat_all_tables';

const countedRow = `
  (select coalesce(sum(calls), 0)::float8 from pg_stat_statements join pg_database on oid = dbid
    where datname = $1 and toplevel and not ${isRenewal} and query not like '%autoanalyze%') as statements,
  (select coalesce(sum(wal_bytes), 0)::float8 from pg_stat_statements join pg_database on oid = dbid
    where datname = $1) as "walBytes",
  pg_snapshot_xmax(pg_current_snapshot())::text::float8 - (
    select coalesce(sum(calls), 0)::float8 from pg_stat_statements where ${isRenewal}) as writes,
  (select count(*)::float8 from pg_stat_activity where datname = $1) as connections`;

/** Starts it on an empty folder; `undo` stops it. */
export async function startCountingServer(
  folder: string,
  undo: AsyncDisposableStack,
): Promise<CountingServer> {
  const start = () => startEmbeddedServer({ folder, log: pino({ level: 'silent' }) });
  const once = await start();
  await withClient({ ...once.connection, database: 'postgres' }, (client) =>
    client.query("alter system set shared_preload_libraries = 'pg_stat_statements'"),
  );
  await once.stop();
  const server = await start();
  undo.defer(() => server.stop());
  // The counters are read from another database, so that reading them does not count.
  const client = new pg.Client({ ...server.connection, database: 'postgres' });
  await client.connect();
  undo.defer(() => client.end());
  await client.query('create extension if not exists pg_stat_statements');
  const own = new pg.Client(server.connection);
  await own.connect();
  undo.defer(() => own.end());
  const { database } = server.connection;
  return {
    url: connectionUrl(server.connection),
    totals: async () => {
      const { rows } = await client.query<Omit<Totals, 'postgresCpuMs'>>(`select ${countedRow}`, [database]);
      const analyzed = await own.query<{ count: number }>(ANALYZED);
      const [row] = rows;
      if (row === undefined) throw new Error('The server has no counters.');
      const writes = row.writes - (analyzed.rows[0]?.count ?? 0);
      return { ...row, writes, connections: row.connections - 1, postgresCpuMs: await serverCpuMs(folder) };
    },
    statements: async () => {
      const { rows } = await client.query<{ query: string; calls: number; walBytes: number }>(
        `select query, calls::float8, wal_bytes::float8 as "walBytes" from pg_stat_statements join pg_database on oid = dbid
          where datname = $1 order by calls desc`,
        [database],
      );
      return rows;
    },
    reset: async () => {
      await client.query('select pg_stat_statements_reset()');
    },
    deleteDueJobs: async () => {
      const { rowCount } = await own.query('delete from jobs where due_at < now()');
      return rowCount ?? 0;
    },
  };
}

/** The CPU time (ms) that the server's processes have taken, those that have ended included. */
async function serverCpuMs(folder: string): Promise<number> {
  const pidFile = await readFile(join(folder, 'postgres', 'postmaster.pid'), 'utf8');
  const postmaster = Number(pidFile.split('\n')[0]);
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const used = await Promise.all(pids.map(readCpu));
  return used
    .filter((one) => one !== undefined && (one.pid === postmaster || one.parent === postmaster))
    .reduce((sum, one) => sum + (one?.ms ?? 0) + (one?.pid === postmaster ? one.childrenMs : 0), 0);
}

/** Ticks of the kernel's clock are 10 ms on Linux. */
const MS_PER_TICK = 10;

async function readCpu(
  pid: number,
): Promise<{ pid: number; parent: number; ms: number; childrenMs: number } | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  if (text === '') return undefined;
  // The name, in brackets, may contain spaces.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [, parent = 0] = fields;
  const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = fields.slice(11, 15);
  return {
    pid,
    parent,
    ms: (user + system) * MS_PER_TICK,
    childrenMs: (childrenUser + childrenSystem) * MS_PER_TICK,
  };
}

/** The CPU time (ms) of a process. */
export async function processCpuMs(pid: number | undefined): Promise<number> {
  return (pid === undefined ? undefined : await readCpu(pid))?.ms ?? Number.NaN;
}
