import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { styleText } from 'node:util';
import { exitIfHelpIsAsked } from '../src/operate/command-runner.ts';
import { compileCacheSettings } from './bot-process.ts';
import { BotSupervisor } from './bot-supervisor.ts';
import { checkResults, checkThread, type DemoCheck } from './demo-check.ts';
import { DemoFigures } from './demo-figures.ts';
import { startPostgresServer } from './postgres-server.ts';
import { sampleTable } from './sample-table.ts';
import { type SandboxServices, startSandboxServices } from './sandbox-services.ts';
import type { Message } from './slack/slack-workspace.ts';
import { ThreadPrinter } from './thread-printer.ts';

const MEBIBYTE = 1024 * 1024;
const DEADLINE_MS = 120_000;
/** How long a look at the threads waits for the next (ms). */
const LOOK_INTERVAL_MS = 50;

exitIfHelpIsAsked(
  'Usage: npm run demo\n\nPlays a conversation with a Slack workspace, an agent service and the app on this machine. The app is killed in the middle of an answer.',
);
console.log(
  `${styleText('bold', 'Taskthread demo')}: a Slack workspace, an agent service, PostgreSQL and the bot, all on this machine.\n`,
);
await using undo = new AsyncDisposableStack();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void undo.disposeAsync().finally(() => process.exit(130)));
const services = await startSandboxServices(
  { s3: true, agent: { behaviour: { partSize: 5 * MEBIBYTE }, writingPace: 10 } },
  undo,
);
const { folder, settings } = services;
const [{ url: databaseUrl }, compiled] = await Promise.all([
  startPostgresServer(join(folder, 'database'), undo),
  compileCacheSettings(join(folder, 'compiled')),
]);
const bot = new BotSupervisor(
  { ...settings, ...compiled, DATABASE_URL: databaseUrl },
  join(folder, 'bot.log'),
);
undo.defer(() => bot.stop());
await bot.start();
const checks = await playStory(services, bot);
process.exitCode = checks.every(({ passed }) => passed) ? 0 : 1;

/** Two questions, a crash, a follow-up; prints all of it, and returns what was checked. */
async function playStory({ slack, agent }: SandboxServices, running: BotSupervisor): Promise<DemoCheck[]> {
  const table = sampleTable(18, 12 * MEBIBYTE);
  const began = performance.now();
  const ada = slack.createPerson({ name: 'ada', realName: 'Ada' });
  const grace = slack.createPerson({ name: 'grace', realName: 'Grace' });
  const sequencing = slack.createChannel({ name: 'sequencing', purpose: 'Runs of the week' });
  const reading = slack.createChannel({ name: 'reading-club' });
  const printer = new ThreadPrinter(slack, began);
  const figures = new DemoFigures(slack, agent);

  const mention = `<@${slack.bot.userId}>`;
  const question = slack.say({
    person: ada,
    channel: sequencing,
    text: `${mention} what is in this run? Please summarise the columns.`,
    files: [{ name: 'run-18.csv', mime: 'text/csv', bytes: table.csv }],
  });
  const other = slack.say({
    person: grace,
    channel: reading,
    text: `${mention} what is the difference between a standard deviation and a standard error?`,
  });
  const growing = await until('the answer grows', () =>
    repliesTo(question).find((message) => slack.visibleText(message).includes('The table has')),
  );
  printer.printEvent(`kill -9 ${running.state.pid}: the bot is dead. The agent keeps working.`);
  await running.crash();
  figures.markCrash(growing.ts);
  await running.start();
  printer.printEvent(
    `A new process ${running.state.pid} is up, and takes over once the dead one's lease has ended.`,
  );
  await until('the answer goes on', () => figures.secondsWithoutBot !== undefined);
  printer.printEvent('It goes on in the same message.');
  // Slack posts an uploaded picture a moment after the upload: it belongs above the next question.
  const hasPicture = () => repliesTo(question).some(({ fileIds }) => fileIds.length > 0);
  await until('the answer and its results are complete', () => isAnswered(question) && hasPicture());
  const followUp = slack.say({
    person: grace,
    channel: sequencing,
    thread: question.ts,
    text: 'And what is the mean of reads?',
  });
  await until('the other answers are complete', () => isAnswered(followUp) && isAnswered(other));
  await slack.settled();
  printer.stop();
  for (const root of [question, other]) printer.printThread(root.channel, root.ts);

  const checked = [
    ...checkThread(slack, agent, { question, growing }, table),
    ...(await checkResults(slack, sequencing.id, question.ts, table)),
  ];
  console.log(`\n${styleText('bold', 'Checks')}`);
  for (const { description, passed } of checked)
    console.log(`  ${passed ? styleText('green', 'ok    ') : styleText('red', 'FAILED')} ${description}`);
  console.log(`\n${styleText('bold', 'Figures')}`);
  for (const [name, value] of figures.lines()) console.log(`  ${name.padEnd(30)} ${value}`);
  return checked;

  function repliesTo({ channel, threadTs, ts }: Message): Message[] {
    return slack.thread(channel, threadTs ?? ts).filter(({ user }) => user === slack.bot.userId);
  }

  /** Whether the answer to this message is complete: it can be rated, and no longer stopped. */
  function isAnswered(message: Message): boolean {
    const newer = repliesTo(message).filter(({ ts }) => ts > message.ts);
    const shown = JSON.stringify(newer.map(({ blocks }) => blocks));
    return shown.includes('"feedback_buttons"') && !shown.includes('"stop"');
  }
}

/** Waits until something is there. @throws after two minutes */
async function until<T>(what: string, look: () => T | false | undefined): Promise<T> {
  const end = performance.now() + DEADLINE_MS;
  while (performance.now() < end) {
    const seen = look();
    if (seen !== undefined && seen !== false) return seen;
    await new Promise((resolve) => setTimeout(resolve, LOOK_INTERVAL_MS));
  }
  const log = (await readFile(join(folder, 'bot.log'), 'utf8')).trim().split('\n');
  throw new Error(
    `The demo timed out before ${what}. The end of the bot's log:\n${log.slice(-5).join('\n')}`,
  );
}
