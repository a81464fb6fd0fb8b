import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { unpackBinaries } from '../../src/postgres/server-binaries.ts';
import { withinMs } from '../support/busy-machine.ts';
import { compiledProgram } from '../support/compiled-programs.ts';

const root = path.join(import.meta.dirname, '../..');
const DEMO = compiledProgram('sandbox/demo.ts');
const PROGRAMS = /^taskthread-postgres-/;

interface Run {
  child: ChildProcess;
  /** Its exit code and all that it printed, when it has ended. */
  ended: Promise<{ code: unknown; printed: string; errors: string }>;
}

/** Starts a program of the repository with a temporary folder of its own, as `sh` does after `setUp`. */
function start(program: string[], { folder, setUp = ':' }: { folder: string; setUp?: string }): Run {
  const child = spawn('/bin/sh', ['-c', `${setUp}; exec "$@"`, 'sh', process.execPath, ...program], {
    cwd: root,
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]);
  return { child, ended: ended.then(([[code], printed, errors]) => ({ code, printed, errors })) };
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'taskthread-demo-'));
  await chmod(folder, 0o711);
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** What is in the temporary folder besides the server's programs, which the next start uses again. */
async function leftIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => !PROGRAMS.test(name));
}

describe('the demo', () => {
  // It takes as long as the machine needs.
  test('ends soon after its last answer, under a strict umask too, and leaves no folder', {
    timeout: 600_000,
  }, async () => {
    const folder = await temporaryFolder();
    const { code, printed, errors } = await start([DEMO], { folder, setUp: 'umask 077' }).ended;
    expect(errors).toBe('');
    expect(code).toBe(0);
    const [, seconds] = /the whole conversation +([\d.]+) s/.exec(printed) ?? [];
    const [last] = [...printed.matchAll(/^ *([\d.]+) s {2}\S/gm)].slice(-1);
    // The kill cuts off the delivery of an event, which Slack would repeat half a minute after the last answer.
    expect(Number(seconds) - Number(last?.[1])).toBeLessThan(withinMs(20_000) / 1_000);
    expect(await leftIn(folder)).toEqual([]);
  });

  test('says in one sentence why it cannot start, such as where no program may run, and leaves no folder', async () => {
    const folder = await temporaryFolder();
    const { postgres } = await unpackBinaries(folder);
    await chmod(postgres, 0o644);
    const { code, errors } = await start([DEMO], { folder }).ended;
    expect(errors).toMatch(/^The command failed: No program may run from .*: set TMPDIR to a folder .*\.\n$/);
    expect(code).toBe(1);
    expect(await leftIn(folder)).toEqual([]);
  });

  test('that is stopped during its start leaves no folder', async () => {
    const folder = await temporaryFolder();
    const { child, ended } = start([DEMO], { folder });
    child.stdout?.once('data', () => child.kill('SIGTERM'));
    const { code, errors } = await ended;
    expect(errors).toBe('');
    expect(code).toBe(130);
    expect(await leftIn(folder)).toEqual([]);
  });
});

test.each(['sandbox/demo.ts', 'sandbox/main.ts', 'setup/connect.ts'])(
  '%s says how to install the packages that NODE_ENV=production leaves out',
  async (program) => {
    const names = JSON.stringify(Object.keys(packageJson.devDependencies));
    const hook = `import { registerHooks } from 'node:module';
    registerHooks({ resolve: (name, context, next) => next(${names}.includes(name) ? name + '-left-out' : name, context) });`;
    const imported = ['--import', `data:text/javascript,${encodeURIComponent(hook)}`];
    const { ended } = start([...imported, program], { folder: await temporaryFolder() });
    const { code, errors } = await ended;
    expect(errors).toMatch(
      /^The package [\w@/-]+-left-out is not installed, .*NODE_ENV is production.*"npm ci --include=dev"\.\n$/,
    );
    expect(code).toBe(1);
  },
);
