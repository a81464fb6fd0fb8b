import { text as readText } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { textOf } from '../sandbox/agent/records.ts';
import { type InProcessSandbox, startInProcessSandbox } from '../sandbox/in-process-sandbox.ts';
import { HeldAgent } from './held-agent.ts';
import { type Judgement, judge, type SaidInThread, type ThreadRecord } from './manners-judge.ts';
import { REMINDER, ScriptedHour, UNHURRIED_SECONDS } from './scripted-hour.ts';
import { NAMES, type Stage } from './scripted-thread.ts';
import { percentile, round } from './statistics.ts';

/** The most messages of the bot that stay for a question, and seconds until the agent has the answer to its own question. */
const MAX_MESSAGES_PER_QUESTION = 2;
const MAX_ANSWER_SECONDS = 12;

/** What a bot with manners never does. */
export const HARM = [
  'remindersLeft',
  'talkSentToAgent',
  'questionsMissed',
  'sentAgain',
  'unreadPrompts',
  'missedInput',
  'ignoredMessages',
  'ignoredPresses',
  'waitsInVain',
  'reactionsRemoveRefused',
] as const;

/** For an hour that is played in seconds: without Slack's limits, and with more patience for a busy machine. */
const HURRIED_LIMITS = { slackPace: 20, settledTaskMs: 5_000, editsPerMinute: 3_000 };
const HURRIED_SLACK = { limits: 'off', triggerMs: 60_000, ackTimeoutMs: 60_000, retryScale: 0.02 } as const;

/** What the sandbox tells the hour, and the hour tells its agent. */
type HourPlayers = Pick<Stage, 'heldAgent'> & { ended: Set<string> };

function startSandbox(
  seconds: number,
  { heldAgent, ended }: HourPlayers,
  databaseUrl: string | undefined,
): Promise<InProcessSandbox> {
  const isHurried = seconds < UNHURRIED_SECONDS;
  return startInProcessSandbox({
    databaseUrl,
    onTurnStep: ({ message_ts }, step) => void (step === 'finished' && ended.add(message_ts)),
    log: pino({ level: process.env.LOG_LEVEL ?? 'silent' }),
    agent: { pace: seconds / 3_600, script: heldAgent.script() },
    settings: {
      AGENT_DIALECT: JSON.stringify({ planModeField: 'plan_mode' }),
    },
    ...(isHurried && { slack: HURRIED_SLACK }),
    limits: { remindMs: Math.max(1_000, (30_000 * seconds) / 3_600), ...(isHurried && HURRIED_LIMITS) },
  });
}

/** The threads by their roots. */
async function recordThreads({ bot, agent, slack }: InProcessSandbox, hour: ScriptedHour) {
  const records = new Map<string, ThreadRecord>();
  for (const { message } of hour.said) {
    const root = message.threadTs ?? message.ts;
    if (records.has(root)) continue;
    const { teamId: workspace, channel } = message;
    const thread = await bot.store.threads.get({ workspace, channel, thread_ts: root });
    const task = agent.tasks.find(({ id }) => id === thread?.task_id);
    const sent = task?.messages.filter(({ role }) => role === 'user') ?? [];
    const fileIds = new Set(task?.messages.flatMap(({ input }) => input?.fileIds ?? []));
    const files = agent.files.filter(({ id }) => fileIds.has(id));
    const shown = slack.thread(channel, root).filter(({ user }) => user === slack.bot.userId);
    records.set(root, {
      received: sent.map(({ content, createdAt: at }) => ({ prompt: textOf(content), at })),
      files: await Promise.all(files.map(async (file) => readText(await file.open()))),
      shown: shown.map((post) => slack.visibleText(post)).join('\n'),
    });
  }
  return records;
}

/** Whether a thread still says that the agent waits for an answer. */
function isReminded({ slack }: InProcessSandbox, { said }: ScriptedHour): boolean {
  const posts = said.flatMap(({ message }) =>
    slack
      .thread(message.channel, message.threadTs ?? message.ts)
      .filter(({ user }) => user === slack.bot.userId),
  );
  return posts.some((post) => slack.visibleText(post).includes(REMINDER));
}

/** Counts the bot's messages from now on that stay, and its reminders, which are counted although they go. */
function countMessages({ slack }: InProcessSandbox) {
  const counts = { messages: 0, reminders: 0 };
  slack.onChange(({ kind, message }) => {
    if (message.user !== slack.bot.userId) return;
    const isReminder = message.text.includes(REMINDER);
    if (kind === 'posted') counts.messages += 1;
    if (kind === 'posted' && isReminder) counts.reminders += 1;
    if (kind === 'deleted' && !isReminder) counts.messages -= 1;
  });
  return counts;
}

function print({ missed, talk, repeated, unread, missedInput, ignored }: Judgement): void {
  for (const { text } of missed) console.error(`missed: ${text}`);
  for (const { text } of talk) console.error(`sent to the agent: ${text}`);
  for (const { text } of repeated) console.error(`sent again: ${text}`);
  for (const { prompt } of unread) console.error(`a prompt that the bench cannot read: ${prompt}`);
  for (const { text, kind } of ignored) console.error(`ignored: ${text || kind}`);
  for (const { text, input } of missedInput)
    console.error(`not with “${text}”: ${JSON.stringify(input).slice(0, 200)}`);
}

/** Plays an hour among people in so many seconds, on a database of its own or the given one, and counts what harm was done. */
export async function playHour(seconds: number, databaseUrl?: string) {
  const players = { heldAgent: new HeldAgent(), ended: new Set<string>() };
  const sandbox = await startSandbox(seconds, players, databaseUrl);
  try {
    const { slack } = sandbox;
    const counts = countMessages(sandbox);
    const hour = new ScriptedHour({ sandbox, ...players }, seconds);
    await hour.play();
    // An answer takes its reminder away a moment later.
    await hour.until('the reminders go', () => !isReminded(sandbox, hour));
    const said: SaidInThread[] = hour.said.map(({ message, ...one }) => ({
      ...one,
      root: message.threadTs ?? message.ts,
      ts: message.ts,
    }));
    const questions = said.filter(({ kind }) => kind === 'question' || kind === 'answer');
    const records = await recordThreads(sandbox, hour);
    const judgement = judge({ said, sentByPresses: hour.sentByPresses, names: NAMES }, records);
    print(judgement);
    for (const what of hour.waitedInVain) console.error(`waited in vain: ${what}`);
    const ignoredPresses = hour.presses.filter(({ isAnswered }) => !isAnswered);
    for (const { person, button } of ignoredPresses) console.error(`not answered: ${button} by ${person}`);
    return {
      questions: questions.length,
      withResults: questions.filter(({ hasFile }) => hasFile).length,
      inHumanThreads: questions.filter(({ isBetweenPeople }) => isBetweenPeople).length,
      pointedAt: said.flatMap(({ pointsAt }) => pointsAt).length,
      presses: hour.presses.length,
      reminders: counts.reminders,
      remindersLeft: [...records.values()].filter(({ shown }) => shown.includes(REMINDER)).length,
      botMessagesPerQuestion: round(counts.messages / questions.length),
      talkSentToAgent: judgement.talk.length,
      questionsMissed: judgement.missed.length,
      sentAgain: judgement.repeated.length,
      unreadPrompts: judgement.unread.length,
      missedInput: judgement.missedInput.length,
      ignoredMessages: judgement.ignored.length,
      ignoredPresses: ignoredPresses.length,
      waitsInVain: hour.waitedInVain.length,
      agentQuestionAnsweredP95Seconds: round(percentile(judgement.answerSeconds, 0.95)),
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
  const seconds = Number(values.seconds);
  const seen = await playHour(seconds);
  console.log(JSON.stringify({ bench: 'manners', ...seen }));
  const isGood =
    HARM.every((kind) => seen[kind] === 0) &&
    seen.reminders > 0 &&
    seen.botMessagesPerQuestion <= MAX_MESSAGES_PER_QUESTION &&
    (seconds < UNHURRIED_SECONDS || seen.agentQuestionAnsweredP95Seconds <= MAX_ANSWER_SECONDS);
  if (!isGood) process.exitCode = 1;
}
