import { createInterface } from 'node:readline';
import { createLog } from '../operate/log.ts';
import { sampleTable } from './sample-table.ts';
import { setStage } from './stage.ts';
import { ThreadPrinter } from './thread-printer.ts';

const mib = 1024 * 1024;

const stage = await setStage({
  log: createLog({ level: process.env.LOG_LEVEL ?? 'warn' }),
  agent: { dialect: { partSize: 5 * mib }, pace: 2 },
});
const { slack, agent, bot } = stage;
const you = slack.createPerson({ name: 'you', realName: 'You' });
const channel = slack.createChannel({ name: 'sandbox', purpose: 'Trying things out' });
const printer = new ThreadPrinter(slack, performance.now());

console.log(`Taskthread's sandbox is running: a Slack workspace, an agent service and the bot between them.

  health of the bot    http://127.0.0.1:${bot.port}/readyz
  another bot can use  SLACK_API_URL=${slack.apiUrl}
                       SLACK_BOT_TOKEN=${slack.botToken}
                       SLACK_APP_TOKEN=${slack.appToken}
                       AGENT_BASE_URL=${agent.url}
                       AGENT_API_KEY=${agent.apiKey}
                       PRIVATE_HOSTS=127.0.0.1

Write a question and press Enter: it begins a thread in #sandbox. Lines that begin with ">" go on in that thread;
"file" sends a sample table with the question "What is in this run?". Ctrl-C ends everything.
`);

let root: string | undefined;
const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const text = line.trim();
  if (text === '') return;
  if (text.startsWith('>') && root !== undefined) {
    slack.say({ person: you, channel, thread: root, text: text.slice(1).trim() });
    return;
  }
  const mention = `<@${slack.bot.userId}>`;
  if (text === 'file') {
    const bytes = sampleTable(18, 2 * mib).csv;
    const files = [{ name: 'run-18.csv', mime: 'text/csv', bytes }];
    root = slack.say({ person: you, channel, text: `${mention} What is in this run?`, files }).ts;
    return;
  }
  root = slack.say({ person: you, channel, text: `${mention} ${text}` }).ts;
});

const stop = () => {
  printer.stop();
  lines.close();
  void stage.stop().then(() => process.exit(0));
};
process.once('SIGINT', stop);
process.once('SIGTERM', stop);
