import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { connectionUrl } from '../../sandbox/postgres-server.ts';
import { startSandboxServices } from '../../sandbox/sandbox-services.ts';
import { manifestProblems } from '../../sandbox/slack/manifest-schema.ts';
import { readManifestFile } from '../../setup/manifest-file.ts';
import { compileCache } from '../support/compiled-programs.ts';
import { copyTemplateDatabase } from '../support/fresh-database.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const BOUNDARY = '4f2c9a71d0';
const hooksSchema = z.looseObject({ hooks: z.record(z.string(), z.string()) });
const defaultsSchema = hooksSchema.extend({
  runtime: z.literal('node'),
  config: z.looseObject({
    'protocol-version': z.array(z.string()),
    'sdk-managed-connection-enabled': z.literal(true),
  }),
});

/** Runs a hook as the Slack CLI does: its command and arguments as one line for the shell. */
function callHook(command: string, args: string[] = [], env: NodeJS.ProcessEnv = {}): ChildProcess {
  const child = spawn('sh', ['-c', [command, ...args].join(' ')], {
    cwd: `${root}docs`,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...compileCache(), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    // The CLI and its hooks are one group, to which the terminal sends Ctrl+C.
    detached: true,
  });
  return child;
}

async function outputOf(child: ChildProcess): Promise<string> {
  const [output] = await Promise.all([child.stdout === null ? '' : text(child.stdout), once(child, 'exit')]);
  expect(child.exitCode).toBe(0);
  return output;
}

test('the Slack CLI finds the hooks, gets the manifest, and runs the bot with the tokens of its own app', async () => {
  const project = hooksSchema.parse(JSON.parse(readFileSync(`${root}.slack/hooks.json`, 'utf8')));
  const answer = await outputOf(callHook(project.hooks['get-hooks'] ?? ''));
  const defaults = defaultsSchema.parse(JSON.parse(answer));
  const hooks = { ...defaults.hooks, ...project.hooks };

  // The protocol that get-hooks asks for adds two arguments, and takes what stands between the boundaries.
  expect(defaults.config['protocol-version']).toEqual(['message-boundaries']);
  const protocol = ['--protocol=message-boundaries', `--boundary=${BOUNDARY}`];
  const output = await outputOf(callHook(hooks['get-manifest'] ?? '', protocol));
  const [, manifest = ''] = output.split(BOUNDARY);
  expect(JSON.parse(manifest)).toEqual(readManifestFile());
  expect(manifestProblems(JSON.parse(manifest))).toEqual([]);

  await using undo = new AsyncDisposableStack();
  const databaseUrl = connectionUrl(await copyTemplateDatabase());
  const { slack, settings } = await startSandboxServices({ databaseUrl }, undo);
  const { SLACK_BOT_TOKEN, SLACK_APP_TOKEN, ...others } = settings;
  const tokens = { SLACK_CLI_XOXB: SLACK_BOT_TOKEN, SLACK_CLI_XAPP: SLACK_APP_TOKEN };
  const bot = callHook(hooks.start ?? '', protocol, { ...others, ...tokens, SLACK_BOT_TOKEN: 'xoxb-of-env' });
  const group = -(bot.pid ?? Number.NaN);
  onTestFinished(() => {
    if (bot.exitCode === null && bot.signalCode === null) process.kill(group, 'SIGKILL');
  });
  const lines = createInterface({ input: bot.stdout ?? process.stdin })[Symbol.asyncIterator]();
  for (let line = ''; !line.includes('taskthread is running'); ) {
    const next = await lines.next();
    expect(next.done).not.toBe(true);
    line = String(next.value);
  }
  expect(slack.connections).toBeGreaterThan(0);
  process.kill(group, 'SIGINT');
  await once(bot, 'exit');
  await expect.poll(() => slack.connections).toBe(0);
});
