import { z } from 'zod';
import { createLogger } from '../src/operate/logger.ts';
import { checkResults, type DemoCheck } from './demo-check.ts';
import { type InProcessSandbox, startInProcessSandbox } from './in-process-sandbox.ts';
import { sampleTable } from './sample-table.ts';
import { ThreadPrinter } from './thread-printer.ts';

const MEBIBYTE = 1024 * 1024;
const DEADLINE_MS = 55_000;
const finalizeSchema = z.looseObject({ parts: z.array(z.unknown()) });

const began = performance.now();
const log = createLogger({ level: process.env.LOG_LEVEL ?? 'warn' });
const sandbox = await startInProcessSandbox({
  log,
  s3: true,
  agent: { behaviour: { partSize: 5 * MEBIBYTE }, pace: 8 },
});
let failed = false;
try {
  failed = !(await runConversation(sandbox));
} finally {
  await sandbox.stop();
}
process.exit(failed ? 1 : 0);

/** One conversation, as people would have it; the answer is whether everything was right. */
async function runConversation({ slack, agent, bot }: InProcessSandbox): Promise<boolean> {
  const ada = slack.createPerson({ name: 'ada', realName: 'Ada' });
  const sequencing = slack.createChannel({ name: 'sequencing', purpose: 'Runs of the week' });
  const reading = slack.createChannel({ name: 'reading-club' });
  const table = sampleTable(18, 12 * MEBIBYTE);
  const printer = new ThreadPrinter(slack, began);
  console.log(
    'Taskthread demo: a Slack workspace, an agent service, PostgreSQL and the bot on this machine.\n',
  );

  const mention = `<@${slack.bot.userId}>`;
  const question = slack.say({
    person: ada,
    channel: sequencing,
    text: `${mention} what is in this run? Please summarise the columns.`,
    files: [{ name: 'run-18.csv', mime: 'text/csv', bytes: table.csv }],
  });
  const other = slack.say({
    person: ada,
    channel: reading,
    text: `${mention} which 3 papers should we read next?`,
  });
  await finished(bot.store, sequencing.id, question.ts);
  const followUp = slack.say({
    person: ada,
    channel: sequencing,
    thread: question.ts,
    text: 'And what is the mean of reads?',
  });
  await finished(bot.store, sequencing.id, followUp.ts);
  await finished(bot.store, reading.id, other.ts);
  printer.stop();
  printer.printThread('#sequencing', sequencing.id, question.ts);
  printer.printThread('#reading-club', reading.id, other.ts);

  const checks: DemoCheck[] = await checkResults(slack, sequencing.id, question.ts, table);
  const thread = slack.thread(sequencing.id, question.ts).map((message) => slack.visibleText(message));
  const mean = table.columns.find(({ name }) => name === 'reads')?.mean ?? 0;
  const said = thread.some((text) => text.includes(mean.toFixed(1)) || text.includes(mean.toFixed(0)));
  checks.push({
    what: `the follow-up was answered with the mean of reads (${mean.toFixed(2)})`,
    right: said,
  });
  console.log('\nChecked against the table that was sent:');
  for (const { what, right } of checks) console.log(`  ${right ? 'ok   ' : 'WRONG'} ${what}`);

  const turn = await turnOf(bot.store, sequencing.id, question.ts);
  const visibleMs = (turn?.first_visible_at?.getTime() ?? 0) - Number(question.ts) * 1_000;
  const results = agent.tasks.reduce((sum, task) => sum + task.results.length, 0);
  console.log('\nFigures:');
  console.log(`  first visible reply after ${(visibleMs / 1_000).toFixed(2)} s`);
  console.log(
    `  edits                     ${slack.calls.filter(({ method }) => method === 'chat.update').length}`,
  );
  console.log(`  bytes up                  ${turn?.bytes_up ?? 0} in ${partsOf(agent)} parts`);
  console.log(`  results                   ${results}`);
  console.log(
    `  refused by Slack          ${Object.values(slack.throttledCalls).reduce((sum, count) => sum + count, 0)}`,
  );
  console.log(`  seconds in all            ${((performance.now() - began) / 1_000).toFixed(1)}`);
  return checks.every(({ right }) => right);
}

/** Parts that the uploads were finalized with. */
function partsOf(agent: InProcessSandbox['agent']): number {
  const finalized = agent.calls.filter(({ name }) => name.endsWith('/finalize'));
  return finalized.reduce((sum, { body }) => {
    const parsed = finalizeSchema.safeParse(body);
    return sum + (parsed.success ? parsed.data.parts.length : 0);
  }, 0);
}

type BotStore = InProcessSandbox['bot']['store'];

async function turnOf(store: BotStore, channel: string, ts: string) {
  return store.turns.ofMessage({ workspace: sandbox.slack.team.id, channel, ts });
}

/** Waits until the turn of a message is finished. */
async function finished(store: BotStore, channel: string, ts: string): Promise<void> {
  while (performance.now() - began < DEADLINE_MS) {
    const turn = await turnOf(store, channel, ts);
    if (turn?.finished_at) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(
    'The demo took too long: a turn did not finish. Run it again with LOG_LEVEL=info to see why.',
  );
}
