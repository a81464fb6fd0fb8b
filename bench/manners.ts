import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { textOf } from '../sandbox/agent/records.ts';
import { type InProcessSandbox, startInProcessSandbox } from '../sandbox/in-process-sandbox.ts';
import { type SaidMessage, ScriptedHour } from './scripted-hour.ts';
import { percentile, round } from './statistics.ts';

/** The most messages of the bot for a question, and seconds until the agent has the answer to its own question. */
const MAX_MESSAGES_PER_QUESTION = 2.5;
const MAX_ANSWER_SECONDS = 12;
/** What a person wrote stands below this line where it was sent with what people had said before. */
const QUESTION_HEADING = 'The question:\n\n';

/** One message of a person at the service. */
interface ReceivedMessage {
  /** The thread's root. */
  thread: string;
  text: string;
  /** When the service got it (ms). */
  at: number;
}

/** What the service has got in each thread, without writers' names and what was quoted. */
async function receivedMessages({ bot, agent }: InProcessSandbox, said: readonly SaidMessage[]) {
  const received: ReceivedMessage[] = [];
  const roots = new Map(said.map(({ message }) => [message.threadTs ?? message.ts, message]));
  for (const [root, { teamId: workspace, channel }] of roots) {
    const thread = await bot.store.threads.get({ workspace, channel, thread_ts: root });
    const messages = agent.tasks.find(({ id }) => id === thread?.task_id)?.messages ?? [];
    for (const { role, content, createdAt: at } of messages) {
      const own =
        textOf(content)
          .split(QUESTION_HEADING)
          .at(-1)
          ?.replace(/^\w+:\s+/, '') ?? '';
      if (role === 'user') received.push({ thread: root, text: own.trim(), at });
    }
  }
  return received;
}

/** Compares what was said with what arrived: each message counts once. */
function compare(said: readonly SaidMessage[], received: readonly ReceivedMessage[]) {
  const left = [...received];
  const missed: SaidMessage[] = [];
  const answerSeconds: number[] = [];
  for (const one of said.filter(({ kind }) => kind !== 'talk')) {
    const root = one.message.threadTs ?? one.message.ts;
    const index = left.findIndex(({ thread, text }) => thread === root && text === one.text);
    const [found] = index < 0 ? [] : left.splice(index, 1);
    if (found === undefined) missed.push(one);
    else if (one.kind === 'answer') answerSeconds.push(found.at / 1_000 - Number(one.message.ts));
  }
  return { missed, unexpected: left, answerSeconds };
}

async function measure(seconds: number) {
  const sandbox = await startInProcessSandbox({
    log: pino({ level: process.env.LOG_LEVEL ?? 'silent' }),
    agent: { pace: seconds / 3_600 },
  });
  try {
    const { slack } = sandbox;
    let botMessages = 0;
    slack.onChange(({ kind, message }) => {
      if (kind === 'posted' && message.user === slack.bot.userId) botMessages += 1;
    });
    const hour = new ScriptedHour(sandbox, (seconds * 1_000) / 60);
    await hour.play();
    const questions = hour.said.filter(({ kind }) => kind !== 'talk');
    const { missed, unexpected, answerSeconds } = compare(
      hour.said,
      await receivedMessages(sandbox, hour.said),
    );
    for (const { text } of missed) console.error(`missed: ${text}`);
    for (const { text } of unexpected) console.error(`sent to the agent: ${text}`);
    return {
      questions: questions.length,
      withResults: questions.filter(({ hasFile }) => hasFile).length,
      inHumanThreads: questions.filter(({ isBetweenPeople }) => isBetweenPeople).length,
      botMessagesPerQuestion: round(botMessages / questions.length),
      talkSentToAgent: unexpected.length,
      questionsMissed: missed.length,
      agentQuestionAnsweredP95Seconds: round(percentile(answerSeconds, 0.95)),
      reactionsRemoveRefused: slack.calls.filter(({ method, ok }) => method === 'reactions.remove' && !ok)
        .length,
    };
  } finally {
    await sandbox.stop();
  }
}

/** Plays an hour among people and counts what the bot reads and writes. The last line is JSON; fails above the bars. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { seconds: { type: 'string', default: '120' } } });
  const seen = await measure(Number(values.seconds));
  console.log(JSON.stringify({ bench: 'manners', ...seen }));
  const isGood =
    seen.botMessagesPerQuestion <= MAX_MESSAGES_PER_QUESTION &&
    seen.agentQuestionAnsweredP95Seconds <= MAX_ANSWER_SECONDS &&
    seen.talkSentToAgent + seen.questionsMissed + seen.reactionsRemoveRefused === 0;
  if (!isGood) process.exitCode = 1;
}
