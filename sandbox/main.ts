import { parseArgs } from 'node:util';
import { exitIfHelpIsAsked } from '../src/operate/command-runner.ts';
import { startInteractiveSandbox } from './interactive-sandbox.ts';

const MEBIBYTE = 1024 * 1024;
const DEFAULT_PORT = 4700;

exitIfHelpIsAsked(
  'Usage: npm run sandbox -- [--port 4700]\n\nRuns a Slack workspace, an agent service and the app on this machine, in your browser.',
);
const { DATABASE_URL: databaseUrl, LOG_LEVEL = 'info' } = process.env;
const { values } = parseArgs({ options: { port: { type: 'string' } } });

console.log('Starting a Slack workspace, an agent service, PostgreSQL and the bot on this machine…');
const opening = startInteractiveSandbox({
  // A fixed port where it is free, so that bookmarks keep working.
  ports: values.port === undefined ? [DEFAULT_PORT, 0] : [Number(values.port)],
  agent: { behaviour: { partSize: 5 * MEBIBYTE }, pace: 5 },
  slack: { retryScale: 1 / 20 },
  ...(databaseUrl === undefined ? {} : { databaseUrl }),
  settings: { LOG_LEVEL },
});

let stopping = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop());
try {
  const { page, slack, agent } = await opening;
  console.log(`
  Open ${page.url} in a browser. Press Ctrl-C to stop everything.

  To connect another bot, use
    SLACK_API_URL=${slack.apiUrl}
    SLACK_BOT_TOKEN=${slack.botToken}
    SLACK_APP_TOKEN=${slack.appToken}
    AGENT_BASE_URL=${agent.url}
    AGENT_API_KEY=${agent.apiKey}
    PRIVATE_HOSTS=127.0.0.1
`);
} catch (error) {
  if (!stopping) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
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
