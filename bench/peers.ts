import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { type Message, startSlackWorkspace } from '../sandbox/slack/slack-workspace.ts';
import {
  askAll,
  type LiveStats,
  type Load,
  measureBot,
  SLACK_LIMITS,
  ThreadObserver,
  writeLines,
} from './live.ts';
import type { NumberedAnswer } from './numbered-lines.ts';

/** A bot to compare with: a program below `peers/`, and how it is started. */
interface Peer {
  name: string;
  program: string;
  options: Record<string, unknown>;
}

/**
 * Each as it comes, and once more with the one setting that its documents give against rate limits, set to what suits
 * this very load best (which a real bot would have to know beforehand): 10 threads share 50 edits or 100 appends a minute.
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

const PEERS_FOLDER = new URL('peers/', import.meta.url);
const peerSchema = z.looseObject({
  start: z.custom<(options: Record<string, unknown>) => Promise<() => Promise<unknown>>>(
    (value) => typeof value === 'function',
  ),
});

/** Installs the peers where they are not there yet. */
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

/** A model's stream: one chunk a line, written on the clock, whether or not the bot is ready for it. */
async function* streamOf(answer: NumberedAnswer, seconds: number): AsyncGenerator<string> {
  const chunks: string[] = [];
  let news = Promise.withResolvers<void>();
  let over = false;
  const pen = {
    write: (text: string) => {
      chunks.push(...text.split(/(?<=\n)/));
      news.resolve();
    },
    sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)),
  };
  const writing = writeLines(pen, answer, seconds).then(() => {
    over = true;
    news.resolve();
  });
  for (;;) {
    const chunk = chunks.shift();
    if (chunk !== undefined) yield chunk;
    else if (over) break;
    else {
      news = Promise.withResolvers();
      await news.promise;
    }
  }
  await writing;
}

async function measurePeer({ program: file, options }: Peer, load: Load): Promise<LiveStats> {
  const slack = await startSlackWorkspace({ limits: SLACK_LIMITS });
  const { start } = peerSchema.parse(await import(new URL(file, PEERS_FOLDER).href));
  const { botToken, appToken, apiUrl } = slack;
  let asked: ReturnType<typeof askAll> = [];
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
    const watch = new ThreadObserver(slack, asked);
    const equal = await watch.waitUntilSettled(isFinished);
    return watch.stats(load.threads, equal);
  } finally {
    // A bot that waits for its retries does not end in order.
    await Promise.race([stop(), new Promise((resolve) => setTimeout(resolve, 2_000).unref())]);
    await slack.stop();
  }
}

/** Nothing is streamed any more, and no placeholder is left. */
function isFinished(replies: readonly Message[]): boolean {
  return replies.every(({ stream, text }) => stream === undefined && text !== '...');
}

function reported({ doneLagP95Seconds, meanAgeSeconds, throttled, messagesPerReply, equal }: LiveStats) {
  return { doneLagP95Seconds, meanAgeSeconds, throttled, messages: messagesPerReply, equal };
}

/** Ours and the peers, one after the other, on the same script and the same limits. The last line is JSON. */
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
  // What a peer leaves lying about when its Slack is gone must not end the others' run.
  process.on('unhandledRejection', (reason) => console.error('a peer failed:', String(reason).slice(0, 200)));
  const table: Record<string, ReturnType<typeof reported>> = {};
  const measured = [
    { name: 'ours', measure: () => measureBot(load) },
    ...PEERS.map((peer) => ({ name: peer.name, measure: () => measurePeer(peer, load) })),
  ].filter(({ name }) => name.includes(values.only));
  for (const { name, measure } of measured) {
    console.log(`${name}: ${load.threads} threads of ${load.seconds} s ...`);
    table[name] = reported(await measure());
    console.log(JSON.stringify(table[name]));
  }
  console.table(table);
  console.log('null or Infinity: what was written was not all shown 150 s after the last end');
  console.log(JSON.stringify({ bench: 'peers', ...bestOf(table) }));
}

/** One line for each bot: of its runs the one that shows all of the text, then the sooner one, then the fresher one. */
function bestOf(
  table: Readonly<Record<string, ReturnType<typeof reported>>>,
): Record<string, ReturnType<typeof reported>> {
  const best: Record<string, ReturnType<typeof reported>> = {};
  for (const [name, figures] of Object.entries(table)) {
    const [bot = name] = name.split(',');
    const known = best[bot];
    if (known === undefined || isBetter(figures, known)) best[bot] = figures;
  }
  return best;
}

function isBetter(one: ReturnType<typeof reported>, other: ReturnType<typeof reported>): boolean {
  if (one.equal !== other.equal) return one.equal;
  if (one.doneLagP95Seconds !== other.doneLagP95Seconds)
    return one.doneLagP95Seconds < other.doneLagP95Seconds;
  return one.meanAgeSeconds < other.meanAgeSeconds;
}
