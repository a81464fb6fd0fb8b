import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startBotProcess } from '../sandbox/bot-process.ts';
import { limitsSetting } from '../sandbox/bot-settings.ts';
import { startPostgresServer } from '../sandbox/postgres-server.ts';
import { startSandboxServices } from '../sandbox/sandbox-services.ts';
import type { SlackWorkspace } from '../sandbox/slack/slack-workspace.ts';
import { waitUntil } from '../sandbox/wait-until.ts';
import { percentile, round } from './statistics.ts';

/** Questions a second, to each side. */
const RATES = [1, 10, 100];
const CHANNELS = 50;
const WARM_UP_QUESTIONS = 100;
/** The longest that the last first sign may take (ms). */
const TIMEOUT_MS = 120_000;

/** A workspace whose people ask one bot, and how long each question waited for its first reply (ms). */
class AskedSide {
  readonly #slack: SlackWorkspace;
  readonly #askedAt = new Map<string, number>();
  readonly #ask: () => void;
  waits: number[] = [];

  constructor(slack: SlackWorkspace) {
    this.#slack = slack;
    const person = slack.createPerson({ name: 'ada' });
    const channels = Array.from({ length: CHANNELS }, (_, at) =>
      slack.createChannel({ name: `channel-${at}` }),
    );
    let count = 0;
    this.#ask = () => {
      const channel = channels[count % CHANNELS];
      count += 1;
      if (channel === undefined) return;
      const said = performance.now();
      const { ts } = slack.say({ person, channel, text: `<@${slack.bot.userId}> question ${count}` });
      this.#askedAt.set(`${channel.id}/${ts}`, said);
    };
    slack.onChange(({ kind, message }) => {
      const thread = `${message.channel}/${message.threadTs}`;
      const asked = this.#askedAt.get(thread);
      if (kind !== 'posted' || message.user !== slack.bot.userId || asked === undefined) return;
      this.#askedAt.delete(thread);
      this.waits.push(performance.now() - asked);
    });
  }

  ask(): void {
    this.#ask();
  }

  /** Waits until each question has its first reply, and the bot has done what was left to do. */
  async rest(): Promise<void> {
    if (!(await waitUntil(() => this.#askedAt.size === 0, TIMEOUT_MS)))
      throw new Error(
        `${this.#askedAt.size} questions are without a first reply after ${TIMEOUT_MS / 1_000} s.`,
      );
    const calls = () => this.#slack.calls.length;
    for (let before = -1; before !== calls(); await sleep(2_000)) before = calls();
  }
}

/** Asks both sides in turn, so often a second each; they take turns at going first. */
async function askInTurn(sides: readonly AskedSide[], perSecond: number, questions: number): Promise<void> {
  for (const side of sides) side.waits = [];
  const began = performance.now();
  for (let count = 0; count < questions; count += 1) {
    for (const side of count % 2 === 0 ? sides : sides.toReversed()) side.ask();
    await sleep(Math.max(0, began + ((count + 1) * 1_000) / perSecond - performance.now()));
  }
  for (const side of sides) await side.rest();
}

/** Starts a workspace, its service and a bot, by default ours, which answers its people. */
async function startSide(url: string, undo: AsyncDisposableStack, program?: string): Promise<AskedSide> {
  const { slack, settings, folder } = await startSandboxServices(
    {
      transport: 'http',
      slack: { limits: 'off' },
      agent: { script: async (turn) => turn.write('Done.') },
    },
    undo,
  );
  const unlimited = limitsSetting({ slackPace: 1_000, editsPerMinute: 100_000 });
  const environment = { ...settings, ...unlimited, DATABASE_URL: url };
  const bot = await startBotProcess(environment, join(folder, 'bot.log'), undo, program);
  await slack.useHttp({ eventsUrl: `http://127.0.0.1:${bot.port}/slack/events` });
  return new AskedSide(slack);
}

/** How soon a mention is answered by anything, beside a bare Bolt app that posts at once. The last line is JSON. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { seconds: { type: 'string', default: '20' } } });
  await using undo = new AsyncDisposableStack();
  const { folder } = await startSandboxServices({}, undo);
  const { url } = await startPostgresServer(join(folder, 'data'), undo, { fsync: true });
  const ours = await startSide(url, undo);
  const bare = await startSide(url, undo, fileURLToPath(new URL('bare-bot.ts', import.meta.url)));
  await askInTurn([bare, ours], 20, WARM_UP_QUESTIONS);
  const rates = [];
  for (const perSecond of RATES) {
    await askInTurn([bare, ours], perSecond, perSecond * Number(values.seconds));
    const [p50, p95] = [0.5, 0.95].map((share) => ({
      ours: round(percentile(ours.waits, share)),
      bare: round(percentile(bare.waits, share)),
    }));
    rates.push({ perSecond, p50, p95, p50Ratio: ratio(p50), p95Ratio: ratio(p95) });
  }
  console.table(rates);
  console.log(JSON.stringify({ bench: 'first-sign', rates }));
}

function ratio(waits: { ours: number; bare: number } | undefined): number {
  return round((waits?.ours ?? Number.NaN) / (waits?.bare ?? Number.NaN));
}
