import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runCommand, UsageError } from '../src/operate/command-runner.ts';
import { readManifestFile } from './manifest-file.ts';

const USAGE = 'npm run slack-hook -- <get-hooks|get-manifest|start>';
const HELP = `Tells the Slack CLI how to run this app. The CLI calls it.\n\nUsage: ${USAGE}`;
const command = (name: string) => `npm run --silent slack-hook -- ${name}`;

/** What the Slack CLI asks first: its other hooks, and how this project wants to be run. */
const HOOKS = {
  runtime: 'node',
  hooks: { 'get-manifest': command('get-manifest'), start: command('start') },
  config: {
    'protocol-version': ['message-boundaries'],
    // the app opens its own Socket Mode connections
    'sdk-managed-connection-enabled': true,
    watch: { manifest: { paths: ['manifest.yml'] }, app: { paths: ['src'], 'filter-regex': '\\.ts$' } },
  },
};

/** The Slack CLI takes what stands between two boundaries for the answer. */
function print(value: unknown, boundary: string | undefined): number {
  const text = JSON.stringify(value);
  console.log(boundary === undefined ? text : `${boundary}${text}${boundary}`);
  return 0;
}

/** Runs the app with the tokens of the app that the CLI has made and installed; resolves to its exit code. */
async function start(): Promise<number> {
  // The agent service's settings; newer versions of the CLI have read them already.
  if (existsSync('.env')) process.loadEnvFile('.env');
  const { SLACK_CLI_XOXB, SLACK_CLI_XAPP, ...others } = process.env;
  const env = {
    ...others,
    ...(SLACK_CLI_XOXB && { SLACK_BOT_TOKEN: SLACK_CLI_XOXB }),
    ...(SLACK_CLI_XAPP && { SLACK_APP_TOKEN: SLACK_CLI_XAPP }),
  };
  const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
  const child = spawn(process.execPath, [main], { env, stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  await once(child, 'exit');
  return child.exitCode ?? 1;
}

await runCommand(HELP, async () => {
  const { positionals, values } = parseArgs({
    // The CLI adds --protocol and --boundary, and may add others.
    strict: false,
    options: { boundary: { type: 'string' } },
  });
  const boundary = typeof values.boundary === 'string' ? values.boundary : undefined;
  switch (positionals[0]) {
    case 'get-hooks':
      return print(HOOKS, boundary);
    case 'get-manifest':
      return print(readManifestFile(), boundary);
    case 'start':
      return start();
    default:
      throw new UsageError(USAGE, 'The Slack CLI calls this with the name of a hook.');
  }
});
