import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';

const root = fileURLToPath(new URL('../../', import.meta.url));
const packageName = `node-linux-${process.arch}`;
const OLD = { version: 'v20.20.2', platform: 'linux' };

/** Says who runs it and how, then waits for a line and ends with its number; SIGTERM and SIGHUP end it with 7 and 8. */
const PROGRAM = `
process.on('SIGTERM', () => process.exit(7));
process.on('SIGHUP', () => process.exit(8));
process.stdin.on('data', (line) => process.exit(Number(line)));
const { pid, argv, env, execArgv } = process;
console.log(JSON.stringify({ pid, args: argv.slice(2), options: execArgv, path: env.PATH, isMain: import.meta.main }));
`;
const saidSchema = z.object({
  pid: z.number(),
  args: z.array(z.string()),
  options: z.array(z.string()),
  path: z.string(),
  isMain: z.boolean(),
});

/** A clone with nothing but the launcher, the program, and what npm has installed for the package of Node. */
async function makeClone(packagedNode: 'runs' | 'cannot run' | 'is not there'): Promise<string> {
  const clone = await mkdtemp(join(tmpdir(), 'taskthread-launcher-'));
  onTestFinished(() => rm(clone, { recursive: true }));
  const bin = join(clone, 'node_modules', packageName, 'bin');
  await Promise.all([mkdir(join(clone, 'setup')), mkdir(bin, { recursive: true })]);
  await copyFile(join(root, 'setup/launcher.mjs'), join(clone, 'setup/launcher.mjs'));
  await writeFile(join(clone, 'program.mjs'), PROGRAM);
  if (packagedNode === 'is not there') return clone;
  await writeFile(join(bin, '../package.json'), '{}');
  if (packagedNode === 'runs') {
    await symlink(process.execPath, join(bin, 'node'));
  } else {
    // As on Alpine Linux: the file is there, its loader is not.
    await writeFile(join(bin, 'node'), '#!/no/loader\n');
    await chmod(join(bin, 'node'), 0o755);
  }
  return clone;
}

/** Starts the program in a clone, by a Node that says of itself what `machine` says. */
function launch(clone: string, machine: Readonly<Record<string, string>> = {}): ChildProcess {
  const disguise = `for (const [name, value] of Object.entries(${JSON.stringify(machine)})) Object.defineProperty(process, name, { value });`;
  const options = ['--import', `data:text/javascript,${encodeURIComponent(disguise)}`];
  const nodeOptions = ['--settings-file=.env', '--no-warnings'];
  const args = ['setup/launcher.mjs', ...nodeOptions, 'program.mjs', 'an argument', '--help'];
  const child = spawn(process.execPath, [...options, ...args], {
    cwd: clone,
    env: { PATH: '/usr/bin:/bin' },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

async function firstLine(child: ChildProcess) {
  if (child.stdout === null) throw new Error('the program has no output');
  const [line] = await once(child.stdout, 'data');
  return saidSchema.parse(JSON.parse(String(line)));
}

describe("npm's scripts on a machine whose Node is too old", () => {
  test.each(['v22.20.0', 'v24.4.1'])(
    'run with the Node among the dependencies, found without its link: %s',
    async (version) => {
      const clone = await makeClone('runs');
      const child = launch(clone, { ...OLD, version });
      expect(await firstLine(child)).toEqual({
        pid: expect.toSatisfy((pid) => pid !== child.pid),
        args: ['an argument', '--help'],
        options: ['--no-warnings'],
        path: `${clone}/node_modules/${packageName}/bin:/usr/bin:/bin`,
        isMain: true,
      });
      child.stdin?.write('5');
      expect(await once(child, 'exit')).toEqual([5, null]);
    },
  );

  test.each([
    ['SIGTERM', [7, null]],
    ['SIGHUP', [8, null]],
    ['SIGINT', [null, 'SIGINT']],
  ] as const)('get a %s that only npm was sent, and end as the program does', async (signal, end) => {
    const child = launch(await makeClone('runs'), OLD);
    const { pid } = await firstLine(child);
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual(end);
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  test.each([
    ['is not there', {}, 'install it, or run npm ci with optional packages, which brings one.'],
    ['cannot run', {}, 'install it, because the Node 24 that npm ci brings cannot run here (ENOENT).'],
    ['is not there', { platform: 'darwin' }, 'install it.'],
    ['is not there', { arch: 's390x' }, 'install it.'],
  ] as const)('say what to install if the packaged Node %s: %j', async (packagedNode, machine, advice) => {
    const child = launch(await makeClone(packagedNode), { ...OLD, ...machine });
    const [said] = await Promise.all([child.stderr === null ? '' : text(child.stderr), once(child, 'exit')]);
    expect(said).toBe(`Taskthread needs Node 24.5 or newer, and this is 20.20.2: ${advice}\n`);
    expect(child.exitCode).toBe(1);
  });
});

test('Windows is refused in a sentence, with any Node', async () => {
  const child = launch(await makeClone('is not there'), { platform: 'win32' });
  const [said] = await Promise.all([child.stderr === null ? '' : text(child.stderr), once(child, 'exit')]);
  expect(said).toBe('Taskthread runs on Linux and macOS: on Windows, run it in WSL2.\n');
  expect(child.exitCode).toBe(1);
});

test('a Node that is new enough goes on as the same process', async () => {
  const child = launch(await makeClone('is not there'));
  expect(await firstLine(child)).toMatchObject({
    pid: child.pid,
    args: ['an argument', '--help'],
    isMain: true,
  });
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([7, null]);
});

test.each([
  ['is not there', false, ['--no-warnings']],
  ['is there', true, ['--env-file=.env', '--no-warnings']],
])('of the settings file nothing is said, whether it is read or not: it %s', async (_, isThere, options) => {
  const clone = await makeClone('is not there');
  if (isThere) await writeFile(join(clone, '.env'), 'LOG_LEVEL=debug\n');
  const child = launch(clone);
  expect(await firstLine(child)).toMatchObject({ options });
  child.kill('SIGTERM');
  expect(child.stderr === null ? '' : await text(child.stderr)).toBe('');
});

test('a settings file that cannot be read is named', async () => {
  const clone = await makeClone('is not there');
  // It leads to itself: nobody can read it, not even root.
  await symlink('.env', join(clone, '.env'));
  const child = launch(clone);
  const [said] = await Promise.all([child.stderr === null ? '' : text(child.stderr), once(child, 'exit')]);
  expect(said).toBe('This user cannot read .env (ELOOP): run this as its owner, or as root.\n');
  expect(child.exitCode).toBe(1);
});

test("each of npm's scripts, and the systemd unit, start TypeScript and vitest by the launcher", async () => {
  const { scripts } = z
    .looseObject({ scripts: z.record(z.string(), z.string()) })
    .parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')));
  const unit = await readFile(join(root, 'deploy/taskthread.service'), 'utf8');
  const [, start = ''] = /^ExecStart=\/usr\/bin\/env (.*)$/m.exec(unit) ?? [];
  const commands = [...Object.values(scripts).flatMap((script) => script.split(' && ')), start];
  const needing = commands.filter((command) => /\.ts\b|\bvitest\b|\bnode\b/.test(command));
  expect(needing).toEqual(expect.arrayContaining([scripts.start, scripts.vitest, start]));
  const launched = /^(?:exec )?node setup\/launcher\.mjs (?:--\S+ )*\S+(?:\.ts|vitest run)$/;
  expect(needing.filter((command) => !launched.test(command))).toEqual([]);
  // npm passes a signal on to its shell alone, and Debian's shell waits for the command as its parent.
  expect(scripts.start).toMatch(/^exec /);
});
