import { join } from 'node:path';
import { styleText } from 'node:util';
import { compileCacheSettings } from './bot-process.ts';
import { BotSupervisor } from './bot-supervisor.ts';
import { checkResults, checkThread } from './demo-check.ts';
import { demoFigureRows, demoFigures, secondsWithoutBot } from './demo-figures.ts';
import { startPostgresServer } from './postgres-server.ts';
import { sampleTable } from './sample-table.ts';
import { type SandboxServices, startSandboxServices } from './sandbox-services.ts';
import type { Message } from './slack/slack-workspace.ts';
import { ThreadPrinter } from './thread-printer.ts';
import { lookUntil } from './wait-until.ts';

const MEBIBYTE = 1024 * 1024;
const DEADLINE_MS = 120_000;
/** Slack repeats after three seconds, instead of a minute, what it could not deliver to the killed bot. */
const RETRY_SCALE = 1 / 20;
const INTERRUPTED = 130;

/** Plays the demo and removes all that it started, also when a signal ends it; resolves to the exit code. `json`: its figures last. */
export async function playDemo({ json, tls }: { json: boolean; tls: boolean }): Promise<number> {
  const ending = Promise.withResolvers<number>();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => ending.resolve(INTERRUPTED));
  process.on('uncaughtException', ending.reject);
  console.log(
    `${styleText('bold', 'Taskthread demo')}: a Slack workspace, an agent service, PostgreSQL and the bot, all on this machine.\n`,
  );
  await using undo = new AsyncDisposableStack();
  const starting = startDemo(undo, tls);
  try {
    return await Promise.race([starting.then((demo) => playStory(demo, json)), ending.promise]);
  } finally {
    // What is half started cannot be stopped, and writes into the folder.
    await starting.catch(() => undefined);
  }
}

interface Demo extends SandboxServices {
  bot: BotSupervisor;
}

async function startDemo(undo: AsyncDisposableStack, tls: boolean): Promise<Demo> {
  const services = await startSandboxServices(
    {
      s3: true,
      tls,
      slack: { retryScale: RETRY_SCALE },
      agent: { behaviour: { partSize: 5 * MEBIBYTE }, writingPace: 10 },
    },
    undo,
  );
  const { folder, settings } = services;
  const compiling = compileCacheSettings(join(folder, 'compiled'));
  undo.defer(async () => void (await compiling));
  const { url: databaseUrl } = await startPostgresServer(join(folder, 'database'), undo);
  const bot = new BotSupervisor(
    { ...settings, ...(await compiling), DATABASE_URL: databaseUrl },
    join(folder, 'bot.log'),
  );
  undo.defer(() => bot.stop());
  await bot.start();
  return { ...services, bot };
}

/** Two questions, a crash, a follow-up; prints and checks all of it. */
async function playStory({ slack, agent, bot }: Demo, json: boolean): Promise<number> {
  const table = sampleTable(18, 6 * MEBIBYTE);
  const began = Date.now();
  const ada = slack.createPerson({ name: 'ada', realName: 'Ada' });
  const grace = slack.createPerson({ name: 'grace', realName: 'Grace' });
  const sequencing = slack.createChannel({ name: 'sequencing', purpose: 'Runs of the week' });
  const reading = slack.createChannel({ name: 'reading-club' });
  const printer = new ThreadPrinter(slack, performance.now());

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
  const growing = await until('the answer to grow', () =>
    repliesTo(question).find((message) => slack.visibleText(message).includes('The table has')),
  );
  printer.printEvent(`kill -9 ${bot.state.pid}: the bot is dead. The agent keeps working.`);
  await bot.crash();
  const times = { began, crashed: Date.now(), growing };
  await bot.start();
  printer.printEvent(
    `A new process ${bot.state.pid} is up, and takes over: the dead one ran on the same host.`,
  );
  await until('the answer to go on', () => secondsWithoutBot(times) !== undefined);
  printer.printEvent('It goes on in the same message.');
  // Slack posts an uploaded picture a moment after the upload: it belongs above the next question.
  const hasPicture = () => repliesTo(question).some(({ fileIds }) => fileIds.length > 0);
  await until('the answer and its results', () => isAnswered(question) && hasPicture());
  const followUp = slack.say({
    person: grace,
    channel: sequencing,
    thread: question.ts,
    text: 'And what is the mean of reads?',
  });
  await until('the other answers', () => isAnswered(followUp) && isAnswered(other));
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
  const figures = demoFigures(slack, agent, times);
  for (const [name, value] of demoFigureRows(figures)) console.log(`  ${name.padEnd(30)} ${value}`);
  if (json) console.log(JSON.stringify({ demo: true, ...figures }));
  return checked.every(({ passed }) => passed) ? 0 : 1;

  function repliesTo({ channel, threadTs, ts }: Message): Message[] {
    return slack.thread(channel, threadTs ?? ts).filter(({ user }) => user === slack.bot.userId);
  }

  /** Whether the answer to this message is complete: it can be rated, and no longer stopped. */
  function isAnswered(message: Message): boolean {
    const newer = repliesTo(message).filter(({ ts }) => ts > message.ts);
    const shown = JSON.stringify(newer.map(({ blocks }) => blocks));
    return shown.includes('"feedback_buttons"') && !shown.includes('"stop"');
  }

  /** Waits until something is there. Throws after the looks of two minutes, which a busy machine takes longer for. */
  async function until<T>(what: string, look: () => T | false | undefined): Promise<T> {
    let seen: T | false | undefined;
    const isThere = () => {
      seen = look();
      return seen !== undefined && seen !== false;
    };
    await lookUntil(isThere, DEADLINE_MS, 50);
    if (seen !== undefined && seen !== false) return seen;
    throw new Error(
      `gave up waiting for ${what}, and the bot's last log message is: ${await bot.lastLogMessage()}`,
    );
  }
}
