import { parseArgs } from 'node:util';
import { pino } from 'pino';
import type { AgentTurn } from '../sandbox/agent/agent-script.ts';
import { startInProcessSandbox } from '../sandbox/in-process-sandbox.ts';
import type { Message } from '../sandbox/slack/slack-workspace.ts';
import { LINE_INTERVAL_MS, LINE_LENGTH, type NumberedAnswer } from './numbered-lines.ts';
import { type AskedThread, askAll, type LiveStats, ThreadObserver } from './thread-observer.ts';

/** Slack's documented limits, taken literally: no burst of posts. */
export const SLACK_LIMITS = { methods: { 'chat.update': 50 }, postBurst: 1, postsPerMinute: 300 };
/** The number of threads in one workspace, and how many seconds the agent writes in each. */
export interface Load {
  threads: number;
  seconds: number;
  /** Seconds between two tool calls of the agent; 0 for none. */
  stepSeconds?: number;
  /** People ask in their direct messages, where replies are streamed. */
  dm?: boolean;
}

/** Writes one line every LINE_INTERVAL_MS for this many seconds, catching up where it falls behind. */
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

/** The turn, in which the agent also calls a tool every so many seconds. */
function withSteps(turn: AgentTurn, stepSeconds: number): Pick<AgentTurn, 'write' | 'sleep'> {
  let calledAt = performance.now();
  let calls = 0;
  return {
    write: (text) => turn.write(text),
    sleep: async (ms) => {
      if (stepSeconds > 0 && performance.now() - calledAt > stepSeconds * 1_000) {
        calledAt = performance.now();
        calls += 1;
        await turn.tool(
          'look_up',
          { query: `entry ${calls}` },
          () => `See https://www.weather.gov/${calls} for it.`,
        );
      }
      await turn.sleep(ms);
    },
  };
}

/** Whether none of our replies has a Stop button or a progress line left. */
function isFinished(replies: readonly Message[]): boolean {
  return !/"stop"|Working/.test(JSON.stringify(replies.map(({ text, blocks }) => ({ text, blocks }))));
}

/** Measures our bot under this load. */
export async function measureBot({
  threads,
  seconds,
  stepSeconds = 0,
  dm = false,
}: Load): Promise<LiveStats> {
  let asked: AskedThread[] = [];
  const sandbox = await startInProcessSandbox({
    log: pino({ level: process.env.LOG_LEVEL ?? 'silent' }),
    slack: { limits: SLACK_LIMITS },
    settings: { DM_STREAMS: String(dm) },
    agent: {
      script: async (turn) => {
        const answer = asked.find((_, index) => turn.text === `answer ${index}`)?.answer;
        if (answer !== undefined) await writeLines(withSteps(turn, stepSeconds), answer, seconds);
      },
    },
  });
  try {
    const { slack } = sandbox;
    asked = askAll(slack, threads, dm);
    const observer = new ThreadObserver(slack, asked);
    const equal = await observer.waitUntilSettled(isFinished);
    console.log('refused by Slack:', slack.throttledCalls);
    return observer.stats(dm ? 'streams' : 'edits', equal);
  } finally {
    await sandbox.stop();
  }
}

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      threads: { type: 'string', default: '10' },
      seconds: { type: 'string', default: '60' },
      step: { type: 'string', default: '0' },
      dm: { type: 'boolean', default: false },
    },
  });
  const load = {
    threads: Number(values.threads),
    seconds: Number(values.seconds),
    stepSeconds: Number(values.step),
    dm: values.dm,
  };
  const characters = (load.seconds * 1_000 * LINE_LENGTH) / LINE_INTERVAL_MS;
  console.log(
    `${load.threads} replies at once, each of ${characters} characters written in ${load.seconds} s`,
  );
  const stats = await measureBot(load);
  console.table(stats);
  console.log(JSON.stringify({ bench: 'live', ...load, ...stats }));
}
