import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { type Message, startSlackWorkspace } from '../sandbox/slack/slack-workspace.ts';
import { type Load, measureBot, SLACK_LIMITS, writeLines } from './live.ts';
import type { NumberedAnswer } from './numbered-lines.ts';
import { type AskedThread, askAll, type LiveStats, ThreadObserver } from './thread-observer.ts';

/** A bot to compare with: a program in `peers/` and its options. */
interface Peer {
  name: string;
  program: string;
  options: Record<string, unknown>;
}

/**
 * Each bot runs with its defaults, and again with the one setting that its documentation offers against rate limits.
 * That setting is tuned to this exact load, which a real bot could not know: 10 threads share 50 edits or 100 appends a
 * minute.
 */
const PEERS: readonly Peer[] = [
  { name: 'chatSdkEdit', program: 'chat-sdk.js', options: { native: false } },
  {
    name: 'chatSdkEdit, every 12 s',
    program: 'chat-sdk.js',
    options: { native: false, updateIntervalMs: 12_000 },
  },
  { name: 'chatSdkNative', program: 'chat-sdk.js', options: { native: true } },
  { name: 'boltSayStream', program: 'bolt.js', options: {} },
  { name: 'boltSayStream, buffer 4,096', program: 'bolt.js', options: { bufferSize: 4_096 } },
];

/** Some peers never show the whole text: the run does not wait longer for one after the last answer's end (ms). */
const PEER_TIMEOUT_MS = 20_000;

const PEERS_FOLDER = new URL('peers/', import.meta.url);
const peerSchema = z.looseObject({
  start: z.custom<(options: Record<string, unknown>) => Promise<() => Promise<unknown>>>(
    (value) => typeof value === 'function',
  ),
});

/** Installs the peers' packages if they are missing. */
async function install(): Promise<void> {
  const installed = await access(new URL('node_modules/chat/package.json', PEERS_FOLDER)).then(
    () => true,
    () => false,
  );
  if (installed) return;
  console.log('installing the peers in bench/peers ...');
  const npm = spawn('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: fileURLToPath(PEERS_FOLDER),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(npm, 'exit');
  if (code !== 0) throw new Error('The peers could not be installed: run `npm ci` in bench/peers.');
}

/** A model's stream: one chunk for each line, written at a fixed rate whether or not the bot reads it. */
async function* streamOf(answer: NumberedAnswer, seconds: number): AsyncGenerator<string> {
  const chunks: string[] = [];
  let written = Promise.withResolvers<void>();
  let isOver = false;
  const writer = {
    write: (text: string) => {
      chunks.push(...text.split(/(?<=\n)/));
      written.resolve();
    },
    sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)),
  };
  const writing = writeLines(writer, answer, seconds).then(() => {
    isOver = true;
    written.resolve();
  });
  for (;;) {
    const chunk = chunks.shift();
    if (chunk !== undefined) yield chunk;
    else if (isOver) break;
    else {
      written = Promise.withResolvers();
      await written.promise;
    }
  }
  await writing;
}

async function measurePeer({ program: file, options }: Peer, load: Load): Promise<LiveStats> {
  // A peer's one stream of the whole answer is not held against it.
  const slack = await startSlackWorkspace({ limits: SLACK_LIMITS, streamBytes: Number.POSITIVE_INFINITY });
  const { start } = peerSchema.parse(await import(new URL(file, PEERS_FOLDER).href));
  const { botToken, appToken, apiUrl } = slack;
  let asked: AskedThread[] = [];
  const stop = await start({
    slack: { botToken, appToken, apiUrl },
    answer: (text: string) => {
      const number = Number(/answer (\d+)/.exec(text)?.[1]);
      const answer = asked[number]?.answer;
      if (answer === undefined) throw new Error(`Nobody asked ${JSON.stringify(text)}.`);
      return streamOf(answer, load.seconds);
    },
    ...options,
  });
  try {
    asked = askAll(slack, load.threads);
    const observer = new ThreadObserver(slack, asked);
    const equal = await observer.waitUntilSettled(isFinished, PEER_TIMEOUT_MS);
    return observer.stats('edits', equal);
  } finally {
    // A bot that is waiting to retry does not stop in time.
    await Promise.race([stop(), new Promise((resolve) => setTimeout(resolve, 2_000).unref())]);
    await slack.stop();
  }
}

/** Whether no reply is streaming and no placeholder is left. */
function isFinished(replies: readonly Message[]): boolean {
  return replies.every(({ stream, text }) => stream === undefined && text !== '...');
}

function summaryOf({ doneLagP95Seconds, meanAgeSeconds, throttled, messagesPerReply, equal }: LiveStats) {
  return { doneLagP95Seconds, meanAgeSeconds, throttled, messages: messagesPerReply, equal };
}

/** Measures our bot and the peers in turn, with the same script and limits. The last line is JSON. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      threads: { type: 'string', default: '10' },
      seconds: { type: 'string', default: '30' },
      only: { type: 'string', default: '' },
    },
  });
  const load = { threads: Number(values.threads), seconds: Number(values.seconds) };
  await install();
  // A peer may leave rejections behind when its Slack stops: they must not end the run.
  process.on('unhandledRejection', (reason) => console.error('a peer failed:', String(reason).slice(0, 200)));
  const table: Record<string, ReturnType<typeof summaryOf>> = {};
  const measured = [
    { name: 'ours', measure: () => measureBot(load) },
    { name: 'oursDm', measure: () => measureBot({ ...load, dm: true }) },
    ...PEERS.map((peer) => ({ name: peer.name, measure: () => measurePeer(peer, load) })),
  ].filter(({ name }) => name.includes(values.only));
  for (const { name, measure } of measured) {
    console.log(`${name}: ${load.threads} threads of ${load.seconds} s ...`);
    table[name] = summaryOf(await measure());
    console.log(JSON.stringify(table[name]));
  }
  console.table(table);
  console.log(
    `null or Infinity: some text was still missing ${PEER_TIMEOUT_MS / 1_000} s after the last answer ended`,
  );
  console.log(JSON.stringify({ bench: 'peers', ...bestOf(table) }));
}

/** The best run of each bot: complete text first, then the shorter delay, then the lower age. */
function bestOf(
  table: Readonly<Record<string, ReturnType<typeof summaryOf>>>,
): Record<string, ReturnType<typeof summaryOf>> {
  const best: Record<string, ReturnType<typeof summaryOf>> = {};
  for (const [name, stats] of Object.entries(table)) {
    const [bot = name] = name.split(',');
    const known = best[bot];
    if (known === undefined || isBetter(stats, known)) best[bot] = stats;
  }
  return best;
}

function isBetter(one: ReturnType<typeof summaryOf>, other: ReturnType<typeof summaryOf>): boolean {
  if (one.equal !== other.equal) return one.equal;
  if (one.doneLagP95Seconds !== other.doneLagP95Seconds)
    return one.doneLagP95Seconds < other.doneLagP95Seconds;
  return one.meanAgeSeconds < other.meanAgeSeconds;
}
