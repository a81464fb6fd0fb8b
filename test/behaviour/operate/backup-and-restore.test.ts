import { execFile, execFileSync } from 'node:child_process';
import { appendFile, copyFile, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { withClient } from '../../../sandbox/postgres-server.ts';
import { startSandboxServices } from '../../../sandbox/sandbox-services.ts';
import type { Message } from '../../../sandbox/slack/slack-workspace.ts';
import { backUp } from '../../../setup/backup.ts';
import { restore } from '../../../setup/restore.ts';
import { startApp } from '../../../src/app.ts';
import { readConfig } from '../../../src/config/environment-and-secret-files.ts';
import { startEmbeddedServer } from '../../../src/postgres/embedded-server.ts';
import { compiledProgram } from '../../support/compiled-programs.ts';
import { silentLog } from '../../support/silent-log.ts';
import { waitFor } from '../../support/wait-for.ts';

const undo = new AsyncDisposableStack();
afterAll(() => undo.disposeAsync());
const { slack, agent, settings, folder } = await startSandboxServices(
  {
    slack: { limits: 'off' },
    agent: {
      script: async (turn) =>
        turn.write(`After ${turn.history.filter(({ role }) => role === 'user').length} others.`),
    },
  },
  undo,
);
const ada = slack.createPerson({ name: 'ada' });
const channel = slack.createChannel({ name: 'lab' });
const archive = join(folder, 'saved.tar.gz');

/** The program on the data of a machine. */
const startOn = (dataFolder: string) =>
  startApp(readConfig({ ...settings, DATA_FOLDER: join(folder, dataFolder) }), silentLog);

/** Runs `npm run backup` or `npm run restore` on a machine; resolves to its exit code and its words. */
function run(command: 'backup' | 'restore', dataFolder: string, ...args: string[]) {
  const { PATH, TMPDIR, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, TMPDIR, NODE_COMPILE_CACHE, DATA_FOLDER: join(folder, dataFolder) };
  return new Promise<{ code: unknown; words: string }>((resolve) => {
    execFile(
      process.execPath,
      [compiledProgram(`setup/${command}.ts`), ...args],
      { env },
      (error, stdout, stderr) => resolve({ code: error?.code ?? 0, words: `${stdout}${stderr}` }),
    );
  });
}

const never = new AbortController().signal;

/** What `npm run backup` does, without a process of its own. */
const backUpOf = (dataFolder: string, file: string, signal = never) =>
  backUp(join(folder, dataFolder), file, () => undefined, signal);

/** Packs what `backUp` does. Packing as hard would take longer than all the rest. */
const pack = (from: string, file: string) =>
  execFileSync('sh', ['-c', 'tar -C "$0" -cf - . | gzip -1 >"$1"', from, file]);

/** What `npm run restore` does, without a process of its own. */
const restoreOn = (dataFolder: string, file: string) =>
  restore({ dataFolder: join(folder, dataFolder), file, replace: false }, () => undefined, never);

/** The first machine's database, on another one: cheaper than a restore. */
const copyTo = (dataFolder: string) =>
  execFileSync('cp', ['-a', join(folder, 'data'), join(folder, dataFolder)]);

async function answered(root: Message, words: string): Promise<void> {
  const look = async () => {
    const shown = slack.thread(channel.id, root.ts).map((message) => slack.visibleText(message));
    expect(shown.join('\n')).toContain(words);
  };
  // Far more than it takes, for machines that are busy.
  await waitFor(look, { timeout: 100_000 });
}

const first = await startOn('data');
const root = slack.say({ person: ada, channel, text: '@taskthread remember this' });
await answered(root, 'After 0 others.');
const whileRunning = await run('backup', 'data', '--to', archive);
await first.stop();
const afterStop = await run('backup', 'data', '--to', archive);

test('a backup is refused while Taskthread runs, and made once it has stopped', async () => {
  expect(whileRunning).toMatchObject({
    code: 1,
    words: expect.stringContaining('Taskthread is already running'),
  });
  expect(afterStop).toMatchObject({ code: 0, words: expect.stringMatching(/^Saved \d+ MB in /) });
  expect((await stat(archive)).mode & 0o777).toBe(0o600);
});

test('a backup that is restored on an empty machine goes on with its threads', async () => {
  const restored = { code: 0, words: expect.stringContaining('Restored') };
  expect(await run('restore', 'elsewhere', '--from', archive)).toMatchObject(restored);
  const second = await startOn('elsewhere');
  undo.defer(() => second.stop());
  slack.say({ person: ada, channel, thread: root.ts, text: 'what was it?' });
  await answered(root, 'After 1 others.');
  expect(agent.tasks).toHaveLength(1);
});

test.each([
  [
    'a newer release',
    "insert into kysely_migration values ('9999-future', now()::text)",
    /newer release.*\(9999-future\)/,
  ],
  [
    'another, unreleased version',
    "update kysely_migration set name = '0001-baseline-0123456789ab'",
    /unreleased/,
  ],
])('a backup of %s is refused before it replaces anything', async (version, change, reason) => {
  const [theirs, data] = [`of ${version}`, `for ${version}`];
  for (const to of [theirs, data]) copyTo(to);
  const server = await startEmbeddedServer({ folder: join(folder, theirs), log: silentLog });
  await withClient(server.connection, (client) => client.query(change));
  await server.stop();
  const file = join(folder, `${theirs}.tar.gz`);
  pack(join(folder, theirs, 'postgres'), file);
  const request = { dataFolder: join(folder, data), file, replace: true };
  await expect(restore(request, () => undefined, never)).rejects.toThrow(reason);
  expect(await readdir(join(folder, data))).toEqual(['postgres']);
  await (await startOn(data)).stop();
});

test('a backup never replaces a file, and needs a database', async () => {
  expect(await run('backup', 'data', '--to', archive)).toMatchObject({
    code: 1,
    words: expect.stringContaining('exists already'),
  });
  await expect(backUpOf('nowhere', join(folder, 'nothing.tar.gz'))).rejects.toThrow('Check DATA_FOLDER');
});

test('a backup that is interrupted leaves no file', async () => {
  const file = join(folder, 'unfinished.tar.gz');
  await expect(backUpOf('data', file, AbortSignal.abort())).rejects.toBeInstanceOf(Error);
  expect((await readdir(folder)).filter((name) => name.startsWith('unfinished'))).toEqual([]);
});

test('a restore replaces a database only if it is told to, and keeps that one', async () => {
  await expect(restoreOn('data', archive)).rejects.toThrow('Add --replace');
  const replaced = { code: 0, words: expect.stringContaining('The database that was there is in') };
  expect(await run('restore', 'data', '--from', archive, '--replace')).toMatchObject(replaced);
  const [here, aside, ...others] = (await readdir(join(folder, 'data'))).sort();
  expect([here, others]).toEqual(['postgres', []]);
  expect(aside).toMatch(/^postgres\.replaced-/);
});

test('a restore follows no link of the file, and takes none of its configuration', async () => {
  const [data, letter] = [join(folder, 'opened'), join(folder, 'letter.txt')];
  await writeFile(letter, 'Dear machine');
  await mkdir(data);
  execFileSync('tar', ['-C', data, '-xzf', archive]);
  const marker = join(folder, 'ran');
  await appendFile(join(data, 'postgresql.conf'), `archive_mode = on\narchive_command = 'touch ${marker}'\n`);
  pack(data, join(folder, 'strange.tar.gz'));
  const withLink = join(folder, 'with-link');
  await mkdir(join(withLink, 'base'), { recursive: true });
  for (const name of ['PG_VERSION', 'taskthread.password'])
    await copyFile(join(data, name), join(withLink, name));
  await symlink(letter, join(withLink, 'base', 'letter'));
  pack(withLink, join(folder, 'linked.tar.gz'));
  const before = await stat(letter);
  await expect(restoreOn('third', join(folder, 'linked.tar.gz'))).rejects.toThrow(
    'The backup has base/letter, which is no plain file.',
  );
  expect(await stat(letter)).toMatchObject({ uid: before.uid, mode: before.mode });
  expect(await readdir(join(folder, 'third'))).toEqual([]);
  const restored = { code: 0, words: expect.stringContaining('Restored') };
  expect(await run('restore', 'third', '--from', join(folder, 'strange.tar.gz'))).toMatchObject(restored);
  const settingsFile = join(folder, 'third', 'postgres', 'postgresql.conf');
  expect(await readFile(settingsFile, 'utf8')).toBe('');
  expect(await readdir(folder)).not.toContain('ran');
});

test('a restore of anything else changes nothing', async () => {
  const file = join(folder, 'letter.tar.gz');
  await writeFile(file, 'Dear database');
  await mkdir(join(folder, 'untouched'));
  await expect(restoreOn('untouched', file)).rejects.toThrow('tar has failed');
  expect(await readdir(join(folder, 'untouched'))).toEqual([]);
});
