import { parseArgs } from 'node:util';
import { describeErrors, exitIfHelpIsAsked } from '../src/operate/command-runner.ts';
import type { InteractiveSandbox, InteractiveSandboxOptions } from './interactive-sandbox.ts';

const MEBIBYTE = 1024 * 1024;
const DEFAULT_PORT = 4700;
/** Pauses between words with which people can watch an answer grow. */
const READABLE = 4;

exitIfHelpIsAsked(`Usage: npm run sandbox -- [--port 4700] [--speed 1] [--tls] [--no-bot]

Runs a Slack workspace, an agent service and the app on this machine, in your browser.

  --port P   the page's TCP port; 4700, or any other where that is taken
  --speed N  the agent works, and Slack repeats events, N times as fast as in reality
  --tls      Slack and the service are reached by TLS, with a certificate of their own, and offer HTTP/2
  --no-bot   starts no app, for you to connect one`);
const { DATABASE_URL: databaseUrl, LOG_LEVEL = 'info' } = process.env;
const { values } = parseArgs({
  options: {
    port: { type: 'string' },
    speed: { type: 'string', default: '1' },
    tls: { type: 'boolean', default: false },
    'no-bot': { type: 'boolean', default: false },
  },
});
const speed = Number(values.speed);
if (!(speed > 0)) {
  console.error('--speed needs a number greater than 0, such as 10.');
  process.exit(2);
}

const bot = !values['no-bot'];
const parts = bot ? 'an agent service, PostgreSQL and the bot' : 'and an agent service';
console.log(`Starting a Slack workspace${bot ? ',' : ''} ${parts} on this machine…`);
const opening = startSandbox({
  // A fixed port where it is free, so that bookmarks keep working.
  ports: values.port === undefined ? [DEFAULT_PORT, 0] : [Number(values.port)],
  agent: { behaviour: { partSize: 5 * MEBIBYTE }, pace: 1 / speed, writingPace: READABLE },
  slack: { retryScale: 1 / speed },
  tls: values.tls,
  bot,
  ...(databaseUrl === undefined ? {} : { databaseUrl }),
  // Encrypts what people keep in settings.
  settings: { LOG_LEVEL, SECRET_KEY: 'sandbox-'.repeat(4) },
});

let stopping = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop());
try {
  const { page, slack, agent, settings } = await opening;
  const { NODE_EXTRA_CA_CERTS: certificates } = settings;
  console.log(`
  Open ${page.url} in a browser. Press Ctrl-C to stop everything.

  ${bot ? 'To connect another bot' : 'To connect your bot'}, use
    SLACK_API_URL=${slack.apiUrl}
    SLACK_BOT_TOKEN=${slack.botToken}
    SLACK_APP_TOKEN=${slack.appToken}
    AGENT_BASE_URL=${agent.url}
    AGENT_API_KEY=${agent.apiKey}
    PRIVATE_HOSTS=127.0.0.1${certificates === undefined ? '' : `\n    NODE_EXTRA_CA_CERTS=${certificates}`}
`);
} catch (error) {
  if (!stopping) {
    for (const message of describeErrors(error, 'The sandbox does not start')) console.error(message);
    process.exit(1);
  }
}

async function startSandbox(options: InteractiveSandboxOptions): Promise<InteractiveSandbox> {
  const { startInteractiveSandbox } = await import('./interactive-sandbox.ts');
  return startInteractiveSandbox(options);
}

/** Stops everything, even halfway through the start. */
async function stop(): Promise<void> {
  if (stopping) return;
  stopping = true;
  // The bot receives Ctrl-C too, so a start in progress may fail; it cleans up after itself.
  const sandbox = await opening.catch(() => undefined);
  await sandbox?.stop();
  process.exit(0);
}
