import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import type { AgentTurn } from '../sandbox/agent/agent-script.ts';
import { startInProcessSandbox } from '../sandbox/in-process-sandbox.ts';
import type { Channel, Message, SlackWorkspace } from '../sandbox/slack/slack-workspace.ts';
import { LINE_INTERVAL_MS, LINE_LENGTH, NumberedAnswer } from './numbered-lines.ts';
import { mean, percentile, round } from './statistics.ts';

/** Slack's limits as they are taken here: exactly, and with no burst of posts. */
export const SLACK_LIMITS = { methods: { 'chat.update': 50 }, postBurst: 1, postsPerMinute: 300 };
/** A text that is not right so long after the last end (ms) never will be. */
const SETTLE_TIMEOUT_MS = 150_000;

/** What one run saw. */
export interface LiveStats {
  firstVisibleP95Seconds: number;
  meanAgeSeconds: number;
  ageRatio: number;
  doneLagP50Seconds: number;
  doneLagP95Seconds: number;
  throttled: number;
  callsPerReply: number;
  messagesPerReply: number;
  equal: boolean;
}

/** N threads in one workspace, each with an answer that is written for so many seconds. */
export interface Load {
  threads: number;
  seconds: number;
}

/** The best mean age (s) that a budget of 50 edits a minute allows, with edits of one message 3 s apart. */
export function idealAgeSeconds(threads: number): number {
  return Math.max(3, (threads * 60) / 50) / 2;
}

/** Writes the answer's lines for so long, on the clock. */
export async function writeLines(
  turn: Pick<AgentTurn, 'write' | 'sleep'>,
  answer: NumberedAnswer,
  seconds: number,
): Promise<void> {
  const began = performance.now();
  const total = Math.round((seconds * 1_000) / LINE_INTERVAL_MS);
  while (answer.lines < total) {
    const due = Math.min(total, Math.floor((performance.now() - began) / LINE_INTERVAL_MS) + 1);
    let text = '';
    while (answer.lines < due) text += answer.write(performance.now());
    if (text !== '') turn.write(text);
    await turn.sleep(Math.max(1, began + due * LINE_INTERVAL_MS - performance.now()));
  }
  answer.endedAt = performance.now();
}

/** Looks at the threads as people do. */
export class ThreadObserver {
  readonly #slack: SlackWorkspace;
  readonly #threads: readonly { answer: NumberedAnswer; channel: Channel; root: Message }[];
  readonly #askedAt = performance.now();
  readonly #posts: number[];
  readonly #stop: () => void;

  constructor(
    slack: SlackWorkspace,
    threads: readonly { answer: NumberedAnswer; channel: Channel; root: Message }[],
  ) {
    this.#slack = slack;
    this.#threads = threads;
    this.#posts = threads.map(() => 0);
    const byRoot = new Map(threads.map((thread, index) => [thread.root.ts, { ...thread, index }]));
    this.#stop = slack.onChange(({ kind, message }) => {
      const thread = byRoot.get(message.threadTs ?? '');
      if (thread === undefined || message.user !== slack.bot.userId) return;
      const now = performance.now();
      if (kind === 'posted') {
        this.#posts[thread.index] = (this.#posts[thread.index] ?? 0) + 1;
        if (Number.isNaN(thread.answer.firstReplyAt)) thread.answer.firstReplyAt = now;
      }
      if (kind !== 'deleted') thread.answer.see(slack.visibleText(message), now);
    });
  }

  /** Waits until every thread is as it is to stay; false where one is not in time. */
  async waitUntilSettled(isFinished: (replies: readonly Message[]) => boolean): Promise<boolean> {
    const answers = this.#threads.map(({ answer }) => answer);
    while (answers.some(({ endedAt }) => Number.isNaN(endedAt))) await sleep(100);
    const last = Math.max(...answers.map(({ endedAt }) => endedAt));
    while (performance.now() - last < SETTLE_TIMEOUT_MS) {
      if (this.#threads.every((thread) => this.#isRight(thread, isFinished))) return true;
      await sleep(250);
    }
    return false;
  }

  stats(threads: number, equal: boolean): LiveStats {
    this.#stop();
    const answers = this.#threads.map(({ answer }) => answer);
    const meanAge = mean(answers.flatMap((answer) => answer.ages())) / 1_000;
    const lags = answers.map((answer) => answer.doneLag() / 1_000);
    const first = answers.map(({ firstReplyAt }) => (firstReplyAt - this.#askedAt) / 1_000);
    return {
      firstVisibleP95Seconds: round(percentile(first, 0.95)),
      meanAgeSeconds: round(meanAge),
      ageRatio: round(meanAge / idealAgeSeconds(threads)),
      doneLagP50Seconds: round(percentile(lags, 0.5)),
      doneLagP95Seconds: round(percentile(lags, 0.95)),
      throttled: Object.values(this.#slack.throttledCalls).reduce((sum, count) => sum + count, 0),
      callsPerReply: round(this.#slack.calls.length / threads, 1),
      messagesPerReply: round(Math.max(...this.#posts), 1),
      equal,
    };
  }

  #isRight(
    { answer, channel, root }: { answer: NumberedAnswer; channel: Channel; root: Message },
    isFinished: (replies: readonly Message[]) => boolean,
  ): boolean {
    const bot = this.#slack.bot.userId;
    const replies = this.#slack.thread(channel.id, root.ts).filter(({ user }) => user === bot);
    const shown = replies.map((message) => this.#slack.visibleText(message)).join('\n');
    return answer.isShownBy(shown) && isFinished(replies);
  }
}

/** Whether our replies have no Stop button and no line of progress left. */
function isFinished(replies: readonly Message[]): boolean {
  return !/"stop"|Working/.test(JSON.stringify(replies.map(({ text, blocks }) => ({ text, blocks }))));
}

/** Somebody asks so many questions at once, each in a thread of its own, spread over at most ten channels. */
export function askAll(
  slack: SlackWorkspace,
  threads: number,
): { answer: NumberedAnswer; channel: Channel; root: Message }[] {
  const ada = slack.createPerson({ name: 'ada' });
  const channels = Array.from({ length: Math.min(threads, 10) }, (_, index) =>
    slack.createChannel({ name: `bench-${index}` }),
  );
  return Array.from({ length: threads }, (_, index) => {
    const channel = channels[index % channels.length];
    if (channel === undefined) throw new Error('A bench needs at least one thread.');
    const text = `<@${slack.bot.userId}> answer ${index}`;
    return {
      answer: new NumberedAnswer(index),
      channel,
      root: slack.say({ person: ada, channel, text }),
    };
  });
}

/** Our bot under this load. */
export async function measureBot({ threads, seconds }: Load): Promise<LiveStats> {
  let asked: ReturnType<typeof askAll> = [];
  const stage = await startInProcessSandbox({
    log: pino({ level: process.env.LOG_LEVEL ?? 'silent' }),
    slack: { limits: SLACK_LIMITS },
    agent: {
      script: async (turn) => {
        const answer = asked.find((_, index) => turn.text === `answer ${index}`)?.answer;
        if (answer !== undefined) await writeLines(turn, answer, seconds);
      },
    },
  });
  try {
    const { slack } = stage;
    asked = askAll(slack, threads);
    const watch = new ThreadObserver(slack, asked);
    const equal = await watch.waitUntilSettled(isFinished);
    console.log('refused by Slack:', slack.throttledCalls);
    return watch.stats(threads, equal);
  } finally {
    await stage.stop();
  }
}

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      threads: { type: 'string', default: '10' },
      seconds: { type: 'string', default: '60' },
    },
  });
  const load = { threads: Number(values.threads), seconds: Number(values.seconds) };
  const characters = (load.seconds * 1_000 * LINE_LENGTH) / LINE_INTERVAL_MS;
  console.log(`${load.threads} replies at once, each ${characters} characters in ${load.seconds} s`);
  const figures = await measureBot(load);
  console.table(figures);
  console.log(JSON.stringify({ bench: 'live', ...load, ...figures }));
}
