import { z } from 'zod';
import { exitIfHelpIsAsked } from '../src/operate/command-runner.ts';
import { createLogger } from '../src/operate/logger.ts';
import { checkResults, type DemoCheck } from './demo-check.ts';
import { type InProcessSandbox, startInProcessSandbox } from './in-process-sandbox.ts';
import { sampleTable } from './sample-table.ts';
import { ThreadPrinter } from './thread-printer.ts';

const MEBIBYTE = 1024 * 1024;
const DEADLINE_MS = 55_000;
const finalizeSchema = z.looseObject({ parts: z.array(z.unknown()) });

exitIfHelpIsAsked(
  'Usage: npm run demo\n\nPlays a conversation with a Slack workspace, an agent service and the app on this machine.',
);
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

/** Plays one conversation and checks it; returns whether every check passed. */
async function runConversation({ slack, agent, bot }: InProcessSandbox): Promise<boolean> {
  const ada = slack.createPerson({ name: 'ada', realName: 'Ada' });
  const sequencing = slack.createChannel({ name: 'sequencing', purpose: 'Runs of the week' });
  const reading = slack.createChannel({ name: 'reading-club' });
  const table = sampleTable(18, 12 * MEBIBYTE);
  const printer = new ThreadPrinter(slack, began);
  console.log(
    'Taskthread demo: a Slack workspace, an agent service, PostgreSQL and the bot, all on this machine.\n',
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
  await waitForTurn(bot.store, sequencing.id, question.ts);
  // Slack posts an uploaded picture a moment after the upload: it belongs above the next question.
  await slack.settled();
  const followUp = slack.say({
    person: ada,
    channel: sequencing,
    thread: question.ts,
    text: 'And what is the mean of reads?',
  });
  await waitForTurn(bot.store, sequencing.id, followUp.ts);
  await waitForTurn(bot.store, reading.id, other.ts);
  await slack.settled();
  printer.stop();
  printer.printThread(sequencing.id, question.ts);
  printer.printThread(reading.id, other.ts);

  const checks: DemoCheck[] = await checkResults(slack, sequencing.id, question.ts, table);
  const thread = slack.thread(sequencing.id, question.ts).map((message) => slack.visibleText(message));
  const mean = table.columns.find(({ name }) => name === 'reads')?.mean ?? 0;
  const said = thread.some((text) => text.includes(mean.toFixed(1)) || text.includes(mean.toFixed(0)));
  checks.push({
    description: `the reply to the follow-up names the mean of reads (${mean.toFixed(2)})`,
    passed: said,
  });
  console.log('\nChecks against the uploaded table:');
  for (const { description, passed } of checks)
    console.log(`  ${passed ? 'ok    ' : 'FAILED'} ${description}`);

  const turn = await turnOf(bot.store, sequencing.id, question.ts);
  const visibleMs = (turn?.first_visible_at?.getTime() ?? 0) - Number(question.ts) * 1_000;
  const results = agent.tasks.reduce((sum, task) => sum + task.results.length, 0);
  const throttled = Object.values(slack.throttledCalls).reduce((sum, count) => sum + count, 0);
  const edits = slack.calls.filter(({ method }) => method === 'chat.update').length;
  console.log('\nFigures:');
  console.log(`  first visible reply after  ${(visibleMs / 1_000).toFixed(2)} s`);
  console.log(`  edits                      ${edits}`);
  console.log(`  bytes uploaded             ${turn?.uploaded_bytes ?? 0} in ${countParts(agent)} parts`);
  console.log(`  results                    ${results}`);
  console.log(`  calls refused by Slack     ${throttled}`);
  console.log(`  total time                 ${((performance.now() - began) / 1_000).toFixed(1)} s`);
  return checks.every(({ passed }) => passed);
}

/** The number of parts in all finalized uploads. */
function countParts(agent: InProcessSandbox['agent']): number {
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

/** Waits until the bot has finished the turn of a message. */
async function waitForTurn(store: BotStore, channel: string, ts: string): Promise<void> {
  while (performance.now() - began < DEADLINE_MS) {
    const turn = await turnOf(store, channel, ts);
    if (turn?.finished_at) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('The demo timed out: a turn did not finish. Run it again with LOG_LEVEL=info to see why.');
}
