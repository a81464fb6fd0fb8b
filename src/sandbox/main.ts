import { parseArgs } from 'node:util';
import { openPlayground } from './playground.ts';

const mib = 1024 * 1024;
const usualPort = 4700;

const { DATABASE_URL: databaseUrl, LOG_LEVEL = 'info' } = process.env;
const { values } = parseArgs({ options: { port: { type: 'string' } } });

console.log('Starting a Slack workspace, an agent service, PostgreSQL and the bot on this machine…');
const playground = await openPlayground({
  // The usual address where nobody has it, so that it can be kept.
  ports: values.port === undefined ? [usualPort, 0] : [Number(values.port)],
  agent: { dialect: { partSize: 5 * mib }, pace: 5 },
  slack: { retryScale: 1 / 20 },
  ...(databaseUrl === undefined ? {} : { databaseUrl }),
  settings: { LOG_LEVEL },
});
console.log(`
  Open ${playground.page.url} in a browser. Ctrl-C ends everything.

  Another bot can connect with
    SLACK_API_URL=${playground.slack.apiUrl}
    SLACK_BOT_TOKEN=${playground.slack.botToken}
    SLACK_APP_TOKEN=${playground.slack.appToken}
    AGENT_BASE_URL=${playground.agent.url}
    AGENT_API_KEY=${playground.agent.apiKey}
    PRIVATE_HOSTS=127.0.0.1
`);

const stop = () => {
  void playground.stop().then(() => process.exit(0));
};
process.once('SIGINT', stop);
process.once('SIGTERM', stop);
process.once('SIGHUP', stop);
