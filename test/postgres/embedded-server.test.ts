import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { unlinkSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { connectionUrl } from '../../sandbox/postgres-server.ts';
import { type EmbeddedServer, startEmbeddedServer } from '../../src/postgres/embedded-server.ts';
import { describeProcess } from '../../src/postgres/running-server.ts';
import { unpackBinaries } from '../../src/postgres/server-binaries.ts';
import { openDatabase } from '../../src/store/database.ts';
import { withinMs } from '../support/busy-machine.ts';
import { compiledProgram } from '../support/compiled-programs.ts';
import { silentLog } from '../support/silent-log.ts';
import { waitFor } from '../support/wait-for.ts';

let folder = '';
/** Files of a server that ran once: creating them takes many times as long as copying them. */
let usedFiles = '';
const running: EmbeddedServer[] = [];
const children: ChildProcess[] = [];

async function makeFolder(): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), 'taskthread-embedded-'));
  await chmod(made, 0o755);
  return made;
}

beforeAll(async () => {
  usedFiles = await makeFolder();
  const server = await startEmbeddedServer({ folder: usedFiles, log: silentLog, fsync: false });
  await ask(server, "create table saved as select 'ä' as word");
  await server.stop();
});

afterAll(() => rm(usedFiles, { recursive: true, force: true }));

beforeEach(async () => {
  folder = await makeFolder();
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const server of running.splice(0)) await server.stop();
  // The server of an owner that was killed may still be on its way out.
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

/** The folder has been in use, with the files' own user. */
async function useFolder(): Promise<void> {
  await promisify(execFile)('cp', ['-a', path.join(usedFiles, 'postgres'), folder]);
}

async function start(where = folder): Promise<EmbeddedServer> {
  const server = await startEmbeddedServer({ folder: where, log: silentLog, fsync: false });
  running.push(server);
  return server;
}

async function ask<Row extends pg.QueryResultRow>(server: EmbeddedServer, text: string): Promise<Row[]> {
  const client = new pg.Client(server.connection);
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Starts a process of its own that owns a server on our folder. */
async function startOwner(): Promise<ChildProcess> {
  const child = spawn(process.execPath, [compiledProgram('test/support/embedded-owner-process.ts'), folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  children.push(child);
  await says(child, 'ready');
  return child;
}

function says(child: ChildProcess, word: string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', (chunk) => {
      if (String(chunk).includes(word)) resolve();
    });
    child.once('exit', () => reject(new Error(`ended before it said ${word}`)));
  });
}

async function serverPid(): Promise<number> {
  const text = await readFile(path.join(folder, 'postgres', 'postmaster.pid'), 'utf8');
  return Number.parseInt(text, 10);
}

/** A process that nobody has asked for its exit status yet is dead, too: it has no command line, or ps gives its state. */
async function isAlive(pid: number): Promise<boolean> {
  const { command = '' } = (await describeProcess(pid)) ?? {};
  return command !== '' && !/<defunct>|^\(\w+\)\s*$/.test(command);
}

async function msUntil(condition: () => Promise<boolean>): Promise<number> {
  const started = performance.now();
  while (!(await condition()) && performance.now() - started < 10_000) await sleep(10);
  return performance.now() - started;
}

async function parentOf(pid: number): Promise<number> {
  return (await describeProcess(pid))?.parent ?? 0;
}

describe('one start after the other', () => {
  test('the data persists, in UTF8, and the server has no TCP port', async () => {
    await useFolder();
    const second = await start();
    expect(await ask(second, 'select word from saved')).toEqual([{ word: 'ä' }]);
    expect(
      await ask(
        second,
        "select current_setting('server_encoding') as encoding, current_setting('listen_addresses') as tcp, " +
          "current_setting('fsync') as fsync, current_setting('max_wal_size') as wal",
      ),
    ).toEqual([{ encoding: 'UTF8', tcp: '', fsync: 'off', wal: '256MB' }]);
  });

  test('only the password in a private file opens the database', async () => {
    await useFolder();
    const { connection } = await start();
    const file = path.join(folder, 'postgres', 'taskthread.password');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await readFile(file, 'utf8')).length).toBeGreaterThanOrEqual(32);
    const stranger = new pg.Client({ ...connection, password: 'guess', database: 'postgres' });
    await expect(stranger.connect()).rejects.toThrow('password authentication failed');
    const owner = new pg.Client({ connectionString: connectionUrl({ ...connection, database: 'postgres' }) });
    await owner.connect();
    await owner.end();
  });

  /** A `postmaster.pid` of a server that is gone, whose pid another process has. */
  async function leavePidFile(): Promise<{ pidFile: string; pid: number }> {
    const sleeper = spawn('sleep', ['60']);
    children.push(sleeper);
    const data = path.join(folder, 'postgres');
    const pidFile = path.join(data, 'postmaster.pid');
    const lines = [sleeper.pid, data, 1, 5432, '/tmp/tt-pg-gone', '', '1 1', 'ready', ''];
    await writeFile(pidFile, lines.join('\n'));
    return { pidFile, pid: sleeper.pid ?? 0 };
  }

  test('a leftover pid of another process does not block the start', async () => {
    await useFolder();
    const { pid } = await leavePidFile();
    expect(await ask(await start(), 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(await isAlive(pid)).toBe(true);
  });

  test('nor does its file that goes while it is looked at, as of a server that ends just then', async () => {
    await useFolder();
    const { pidFile } = await leavePidFile();
    const said: string[] = [];
    const write = (line: string) => {
      if (/another process has its pid/.test(line)) unlinkSync(pidFile);
      said.push(line);
    };
    const server = await startEmbeddedServer({ folder, log: pino({}, { write }), fsync: false });
    running.push(server);
    expect(await ask(server, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(said.join('')).toContain('another process has its pid');
  });
});

describe('two processes on the same folder', () => {
  test('the second start is rejected, and the first keeps running', async () => {
    await useFolder();
    const first = await start();
    await expect(start()).rejects.toMatchObject({ code: 'already_running' });
    expect(await ask(first, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('one of three simultaneous first starts wins', async () => {
    const outcomes = await Promise.allSettled([start(), start(), start()]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    const refused = expect.objectContaining({ code: 'already_running' });
    expect(refusals).toEqual([refused, refused]);
  });
});

describe('an owner that is killed', () => {
  beforeEach(useFolder);

  test('takes its server with it', async () => {
    const owner = await startOwner();
    const pid = await serverPid();
    owner.kill('SIGKILL');
    expect(await msUntil(async () => !(await isAlive(pid)))).toBeLessThan(withinMs(8_000));
    expect(await ask(await start(), 'select word from kept')).toEqual([{ word: 'kept' }]);
  });

  test("and whose server's supervisor is killed too leaves an orphan, which the next start stops", async () => {
    const owner = await startOwner();
    const orphan = await serverPid();
    // The shell that holds the server, and its child that waits at the pipe, are one process group.
    const holder = await parentOf(orphan);
    process.kill(holder, 'SIGSTOP');
    const watcher = await siblingOf(orphan, holder);
    process.kill(watcher, 'SIGKILL');
    process.kill(holder, 'SIGKILL');
    owner.kill('SIGKILL');
    await sleep(200);
    expect(await isAlive(orphan)).toBe(true);
    expect(await ask(await start(), 'select word from kept')).toEqual([{ word: 'kept' }]);
    expect(await isAlive(orphan)).toBe(false);
  });

  test('Ctrl-C does not stop the server before its owner has ended', async () => {
    const owner = await startOwner();
    process.kill(-(owner.pid ?? 0), 'SIGINT');
    await expect(says(owner, 'alive')).resolves.toBeUndefined();
  });
});

async function siblingOf(pid: number, parent: number): Promise<number> {
  const sibling = (await childrenOf(parent)).find((child) => child !== pid);
  if (sibling === undefined) throw new Error('the holder has no watcher');
  return sibling;
}

async function childrenOf(parent: number): Promise<number[]> {
  if (process.platform === 'linux') {
    const text = await readFile(`/proc/${parent}/task/${parent}/children`, 'utf8');
    return text.trim().split(' ').map(Number);
  }
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=']);
  const rows = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  return rows.flatMap(([pid = 0, owner]) => (owner === parent ? [pid] : []));
}

describe('a server that fails while we live', () => {
  beforeEach(useFolder);

  test('a crash of one of its processes is survived, and the folder stays ours', async () => {
    const server = await start();
    const walwriter = () =>
      ask<{ pid: number }>(server, "select pid from pg_stat_activity where backend_type = 'walwriter'");
    const victim = await walwriter();
    process.kill(victim[0]?.pid ?? 0, 'SIGKILL');
    await waitFor(async () => expect(await walwriter()).not.toEqual(victim));
    expect(await ask(server, 'select 1 as one')).toEqual([{ one: 1 }]);
    await expect(start()).rejects.toMatchObject({ code: 'already_running' });
  });

  test('its end is reported', async () => {
    const server = await start();
    process.kill(await serverPid(), 'SIGKILL');
    expect(await server.lost).toMatchObject({ code: 'server_failed' });
  });
});

describe('a folder that cannot be used is rejected with a remedy', () => {
  test('with data of another major version', async () => {
    await useFolder();
    await writeFile(path.join(folder, 'postgres', 'PG_VERSION'), '17\n');
    await expect(start()).rejects.toMatchObject({
      code: 'other_version',
      message: expect.stringContaining('pg_dump'),
    });
  });

  test('with other files in place of the database', async () => {
    await mkdir(path.join(folder, 'postgres'));
    await writeFile(path.join(folder, 'postgres', 'letter.txt'), 'hello');
    await expect(start()).rejects.toMatchObject({ code: 'folder_unusable' });
  });

  test('below a folder that the server cannot open', async () => {
    const closed = path.join(folder, 'closed');
    await mkdir(closed, { mode: 0o500 });
    await expect(start(path.join(closed, 'data'))).rejects.toMatchObject({
      code: 'folder_unusable',
      message: expect.stringContaining('closed'),
    });
  });
});

describe("the server's programs", () => {
  test('are unpacked by several processes at once, and again if some are missing', async () => {
    const all = await Promise.all([1, 2, 3].map(() => unpackBinaries(folder)));
    const { postgres, major } = all[0] ?? { postgres: '', major: '' };
    expect(all.every((binaries) => binaries.postgres === postgres)).toBe(true);
    expect(major).toBe('18');
    await unlink(postgres);
    await unpackBinaries(folder);
    expect((await readFile(postgres)).byteLength).toBeGreaterThan(1_000_000);
  });

  test('are not used from a folder that others can change', async () => {
    const { postgres } = await unpackBinaries(folder);
    await chmod(path.join(postgres, '..', '..'), 0o777);
    await expect(unpackBinaries(folder)).rejects.toMatchObject({ code: 'folder_unusable' });
  });
});

test("PostgreSQL's variables in the environment do not reach it", async ({ onTestFinished }) => {
  await useFolder();
  for (const [name, value] of Object.entries({
    PGHOST: 'elsewhere.invalid',
    PGPORT: '1',
    PGUSER: 'somebody',
    PGPASSWORD: 'secret',
    PGDATABASE: 'elsewhere',
    PGSSLMODE: 'verify-full',
    PGSSLNEGOTIATION: 'direct',
    PGOPTIONS: '-c search_path=nowhere -c default_transaction_read_only=on',
    PGCLIENT_ENCODING: 'LATIN1',
    PGREPLICATION: 'database',
    PGBINARY: '1',
    PGCONNECT_TIMEOUT: '1',
  }))
    vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const embedded = await start();
  const database = await openDatabase({ embedded, log: silentLog });
  const { rows } = await database.pool.query('select word, current_schema() as schema from saved');
  await database.close();
  expect(rows).toEqual([{ word: 'ä', schema: 'public' }]);
});

describe.skipIf(process.getuid?.() !== 0)('as root', () => {
  test.each([
    ['its user', 'setuid,-setgid'],
    ["its files' owner", 'chown'],
  ])('that may not change %s, it is refused with what to do', async (_what, dropped) => {
    const program = compiledProgram('test/support/embedded-owner-process.ts');
    const caps = [`--bounding-set=-${dropped}`, `--inh-caps=-${dropped}`];
    const child = spawn('setpriv', [...caps, process.execPath, program, folder], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.push(child);
    let said = '';
    child.stderr?.on('data', (chunk) => {
      said += String(chunk);
    });
    await once(child, 'close');
    expect(said).toContain('runs as root and may not change');
    expect(said).toContain('docker run --user');
  });
});
