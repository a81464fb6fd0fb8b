import { type ChildProcess, spawn } from 'node:child_process';
import { readdir, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { mainProgram } from '../sandbox/bot-process.ts';
import { startSandboxServices } from '../sandbox/sandbox-services.ts';

const undo = new AsyncDisposableStack();
const { settings, slack } = await startSandboxServices(
  { slack: { limits: 'off' }, agent: { pace: 0.02 } },
  undo,
);
const children: ChildProcess[] = [];
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await undo.disposeAsync();
});

/** The file that `npm start` runs; other tests run the same code as one file, which loads in a quarter of the time. */
const FROM_SOURCE = 'src/main.ts';

function start(environment: NodeJS.ProcessEnv, args: string[] = [], program = mainProgram()) {
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...environment },
  });
  children.push(child);
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const says = async (words: string): Promise<void> => {
    while (!said.includes(words)) {
      if (child.exitCode !== null) throw new Error(`It ended without saying "${words}": ${said}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  return { child, ended, says, said: () => said };
}

describe('the program', () => {
  test('without settings names the missing ones, and exits with 1', async () => {
    const program = start({});
    expect(await program.ended).toBe(1);
    expect(program.said()).toContain('SLACK_BOT_TOKEN is missing');
    expect(program.said()).not.toContain('    at ');
  });

  test('keeps what it has compiled beside the packages, for its next start', async () => {
    const began = Date.now();
    const kept = new URL('../node_modules/.cache/taskthread/', import.meta.url);
    await rm(kept, { recursive: true, force: true });
    expect(await start({ NODE_COMPILE_CACHE: undefined }, ['--help'], FROM_SOURCE).ended).toBe(0);
    const [ofThisNode = ''] = await readdir(kept);
    expect((await readdir(new URL(`${ofThisNode}/`, kept))).length).toBeGreaterThan(100);
    expect((await stat(kept)).ctimeMs).toBeGreaterThan(began);
  });

  test('refuses arguments that it does not know, and exits with 2', async () => {
    const program = start({}, ['--port=80']);
    expect(await program.ended).toBe(2);
    expect(program.said()).toContain('Unknown argument --port=80');
  });

  test('reports a token that Slack rejects, and exits with 1', async () => {
    const program = start({ ...settings, SLACK_BOT_TOKEN: 'xoxb-not-a-token' });
    expect(await program.ended).toBe(1);
    expect(program.said()).toContain('SLACK_BOT_TOKEN is invalid (Slack says invalid_auth)');
    expect(program.said()).toContain('OAuth & Permissions');
    expect(program.said()).not.toContain('xoxb-not-a-token');
  });

  test.each(['invalid_auth', 'not_allowed_token_type', 'team_disabled'])(
    'reports an app token that Slack rejects with %s, and exits with 1',
    async (error) => {
      const body = { ok: false, error };
      const fault = { kind: 'status', status: 200, body } as const;
      slack.faults.add({ call: 'apps.connections.open', fault });
      onTestFinished(() => slack.faults.clear());
      const program = start(settings);
      expect(await program.ended).toBe(1);
      expect(program.said()).toContain(`Slack rejects SLACK_APP_TOKEN (${error})`);
    },
  );

  test.each([
    [
      'a port in use',
      (port: number) => ({ PORT: String(port) }),
      /PORT is invalid \(another program uses \d+\)/,
    ],
    [
      'a data folder that cannot be made',
      () => ({ DATA_FOLDER: '/dev/null/data' }),
      /or set DATA_FOLDER to another/,
    ],
  ])('refuses %s before it asks Slack', async (_, wrong, sentence) => {
    let asked = 0;
    const silent = createServer(() => {
      asked += 1;
    });
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void silent.close());
    const address = silent.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    const program = start({ ...settings, SLACK_API_URL: `http://127.0.0.1:${port}/api/`, ...wrong(port) });
    expect(await program.ended).toBe(1);
    expect(program.said()).toMatch(sentence);
    expect(asked).toBe(0);
  });

  test('stops with 0 at a signal that comes while it loads and starts', async () => {
    const loading = `data:text/javascript,
      import { registerHooks } from 'node:module';
      const load = (url, context, next) => (url.endsWith('/src/app.ts') && console.log('loading'), next(url, context));
      registerHooks({ load });`;
    const more = { NODE_OPTIONS: `--import=${encodeURI(loading)}` };
    const program = start({ ...settings, ...more }, [], FROM_SOURCE);
    await program.says('loading');
    program.child.kill('SIGTERM');
    expect(await program.ended).toBe(0);
    expect(program.said()).toContain('Stopped by SIGTERM during the start.');
  });

  test('refuses to start a second time on the same folder, while the first one stops cleanly', async () => {
    const first = start(settings, [], FROM_SOURCE);
    await first.says('taskthread is running');
    const second = start(settings);
    expect(await second.ended).toBe(1);
    expect(second.said()).toContain('Taskthread is already running');
    first.child.kill('SIGTERM');
    first.child.kill('SIGINT');
    expect(await first.ended).toBe(0);
    expect(first.said()).toMatch(/"reason":"SIG(TERM|INT)"/);
    expect(first.said()).toContain('already stopping');
  });
});
