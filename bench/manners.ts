import { text as readText } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { textOf } from '../sandbox/agent/records.ts';
import { type InProcessSandbox, startInProcessSandbox } from '../sandbox/in-process-sandbox.ts';
import { REMINDER, ScriptedHour } from './scripted-hour.ts';
import type { PointedInput, SaidMessage, Stage } from './scripted-thread.ts';
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
  /** Without its writer's name and what was quoted. */
  text: string;
  /** When the service got it (ms). */
  at: number;
}

/** What the service has got of a thread, and what the thread shows of the bot. */
interface ThreadRecord {
  messages: ReceivedMessage[];
  /** All that the service has got as text. */
  prompts: string;
  /** The contents of the files that went with messages. */
  files: string[];
  shown: string;
}

function rootOf({ message }: SaidMessage): string {
  return message.threadTs ?? message.ts;
}

/** The threads by their roots. */
async function recordThreads(sandbox: InProcessSandbox, said: readonly SaidMessage[]) {
  const { bot, agent, slack } = sandbox;
  const records = new Map<string, ThreadRecord>();
  for (const one of said) {
    const root = rootOf(one);
    if (records.has(root)) continue;
    const { teamId: workspace, channel } = one.message;
    const thread = await bot.store.threads.get({ workspace, channel, thread_ts: root });
    const task = agent.tasks.find(({ id }) => id === thread?.task_id);
    const sent = task?.messages.filter(({ role }) => role === 'user') ?? [];
    const texts = sent.map(({ content }) => textOf(content));
    const fileIds = new Set(task?.messages.flatMap(({ input }) => input?.fileIds ?? []));
    const files = agent.files.filter(({ id }) => fileIds.has(id));
    const shown = slack.thread(channel, root).filter(({ user }) => user === slack.bot.userId);
    records.set(root, {
      messages: sent.map(({ createdAt: at }, index) => ({
        thread: root,
        text: ownText(texts[index] ?? ''),
        at,
      })),
      prompts: texts.join('\n\n'),
      files: await Promise.all(files.map(async (file) => readText(await file.open()))),
      shown: shown.map((message) => slack.visibleText(message)).join('\n'),
    });
  }
  return records;
}

function ownText(prompt: string): string {
  const own = prompt.split(QUESTION_HEADING).at(-1) ?? '';
  return own.replace(/^\w+:\s+/, '').trim();
}

/** Compares what was said, and what buttons sent, with what arrived: each message counts once. */
function compare({ said, sentByPresses }: Stage, records: ReadonlyMap<string, ThreadRecord>) {
  const left = [...records.values()].flatMap(({ messages }) => messages);
  const missed: SaidMessage[] = [];
  const answerSeconds: number[] = [];
  const take = (root: string, isSame: (text: string) => boolean) => {
    const index = left.findIndex(({ thread, text }) => thread === root && isSame(text));
    return index < 0 ? undefined : left.splice(index, 1)[0];
  };
  for (const one of said.filter(({ kind }) => kind === 'question' || kind === 'answer')) {
    const isSame = (text: string) =>
      text === one.text || (one.pointsAt.length > 0 && text.startsWith(one.text));
    const found = take(rootOf(one), isSame);
    if (found === undefined) missed.push(one);
    else if (one.kind === 'answer') answerSeconds.push(found.at / 1_000 - Number(one.message.ts));
  }
  for (const { root, text } of sentByPresses) take(root, (sent) => sent === text);
  const ignored = said.filter(
    (one) => one.kind !== 'talk' && !one.isNoticed && (one.kind === 'call' || missed.includes(one)),
  );
  return { missed, unexpected: left, answerSeconds, ignored };
}

/** Whether what somebody pointed at is where it belongs: at the service, or named in the thread as left out. */
function hasArrived(input: PointedInput, { prompts, files, shown }: ThreadRecord): boolean {
  if (input.kind === 'words') return prompts.includes(input.words);
  if (input.kind === 'file') return files.includes(input.content);
  const { name, secret } = input;
  const isTold = secret !== undefined && (prompts.includes(secret) || files.includes(secret));
  return !isTold && shown.includes(name) && shown.includes('left out');
}

/** What people pointed at and the service has not got, unless the thread says so. */
function missedInputs(said: readonly SaidMessage[], records: ReadonlyMap<string, ThreadRecord>) {
  return said.flatMap((one) => {
    const record = records.get(rootOf(one));
    const missed = one.pointsAt.filter((input) => record === undefined || !hasArrived(input, record));
    return missed.map((input) => ({ text: one.text, input }));
  });
}

async function measure(seconds: number) {
  const sandbox = await startInProcessSandbox({
    log: pino({ level: process.env.LOG_LEVEL ?? 'silent' }),
    agent: { pace: seconds / 3_600 },
    settings: {
      AGENT_DIALECT: JSON.stringify({ planModeField: 'plan_mode' }),
      REMIND_SECONDS: String((30 * seconds) / 3_600),
    },
  });
  try {
    const { slack } = sandbox;
    let botMessages = 0;
    let reminders = 0;
    slack.onChange(({ kind, message }) => {
      if (kind !== 'posted' || message.user !== slack.bot.userId) return;
      botMessages += 1;
      if (message.text.includes(REMINDER)) reminders += 1;
    });
    const hour = new ScriptedHour(sandbox, (seconds * 1_000) / 60);
    await hour.play();
    const { said, presses } = hour;
    const questions = said.filter(({ kind }) => kind === 'question' || kind === 'answer');
    const records = await recordThreads(sandbox, said);
    const { missed, unexpected, answerSeconds, ignored } = compare(hour, records);
    const missedInput = missedInputs(said, records);
    const ignoredPresses = presses.filter(({ isAnswered }) => !isAnswered);
    for (const { text } of missed) console.error(`missed: ${text}`);
    for (const { text } of unexpected) console.error(`sent to the agent: ${text}`);
    for (const { text, kind } of ignored) console.error(`ignored: ${text || kind}`);
    for (const { text, input } of missedInput)
      console.error(`not with “${text}”: ${JSON.stringify(input).slice(0, 200)}`);
    for (const { person, button } of ignoredPresses) console.error(`not answered: ${button} by ${person}`);
    return {
      questions: questions.length,
      withResults: questions.filter(({ hasFile }) => hasFile).length,
      inHumanThreads: questions.filter(({ isBetweenPeople }) => isBetweenPeople).length,
      pointedAt: said.flatMap(({ pointsAt }) => pointsAt).length,
      presses: presses.length,
      reminders,
      remindersLeft: [...records.values()].filter(({ shown }) => shown.includes(REMINDER)).length,
      botMessagesPerQuestion: round(botMessages / questions.length),
      talkSentToAgent: unexpected.length,
      questionsMissed: missed.length,
      missedInput: missedInput.length,
      ignoredMessages: ignored.length,
      ignoredPresses: ignoredPresses.length,
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
  const ignored = seen.missedInput + seen.ignoredMessages + seen.ignoredPresses;
  const isGood =
    seen.botMessagesPerQuestion <= MAX_MESSAGES_PER_QUESTION &&
    seen.agentQuestionAnsweredP95Seconds <= MAX_ANSWER_SECONDS &&
    seen.reminders > 0 &&
    seen.remindersLeft === 0 &&
    seen.talkSentToAgent + seen.questionsMissed + ignored + seen.reactionsRemoveRefused === 0;
  if (!isGood) process.exitCode = 1;
}
