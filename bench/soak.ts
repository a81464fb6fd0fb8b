import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { chaosAgent } from '../src/sandbox/chaos/agent-script.ts';
import { BotProcess } from '../src/sandbox/chaos/bot-process.ts';
import { compare } from '../src/sandbox/chaos/comparison.ts';
import { Conversation } from '../src/sandbox/chaos/conversation.ts';
import { settledFindings } from '../src/sandbox/chaos/evidence.ts';
import { randomsOf } from '../src/sandbox/chaos/randoms.ts';
import { badWeather } from '../src/sandbox/chaos/weather.ts';
import { Witness } from '../src/sandbox/chaos/witness.ts';
import { setScenery } from '../src/sandbox/scenery.ts';
import { startEmbedded } from '../src/store/embedded.ts';
import { rounded, slope } from './figures.ts';

/** People say so much a minute; Slack takes one post a second in a channel, and about 145 a minute in a workspace. */
const messagesPerMinute = 66;
const channels = 24;
/**
 * What is measured is no warm-up: before it the bot works faster for at least so long (ms), until its heap has been
 * collected so often, as V8 sees fit, and at most for so long.
 */
const warmUpPerMinute = 100;
const warmUpMs = { least: 60_000, most: 300_000 };
const warmCollections = 3;
const sampleEveryMs = 1_000;
/** Bytes: a larger file goes up in parts of half that. */
const multipartThreshold = 1_024;

/** The bot's process at one moment. */
interface Sample {
  minute: number;
  rssKiB: number;
  handles: number;
  /** The heap that V8 has taken, and what of it is in use or waits to be collected. */
  heapKiB: number;
  usedKiB: number;
  /** Full collections since the start. */
  collections: number;
}

/** Looks at the bot's own figures, from outside, until it is stopped. */
class Sampler {
  readonly samples: Sample[] = [];
  readonly #url: string;
  readonly #began = performance.now();
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;

  constructor(port: number) {
    this.#url = `http://127.0.0.1:${port}/metrics`;
    this.#running = this.#sample();
  }

  async stop(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  /** What was seen in the last half. */
  get lastHalf(): Sample[] {
    const middle = (this.samples.at(-1)?.minute ?? 0) / 2;
    return this.samples.filter(({ minute }) => minute >= middle);
  }

  async #sample(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const page = await (await fetch(this.#url)).text();
      const minute = (performance.now() - this.#began) / 60_000;
      this.samples.push({
        minute: rounded(minute),
        rssKiB: figure(page, 'process_resident_memory_bytes') / 1_024,
        handles: figure(page, 'nodejs_active_handles_total'),
        heapKiB: Math.round(figure(page, 'nodejs_heap_size_total_bytes') / 1_024),
        usedKiB: Math.round(figure(page, 'nodejs_heap_size_used_bytes') / 1_024),
        collections: figure(page, String.raw`nodejs_gc_duration_seconds_count\{kind="major"\}`, 0),
      });
      await sleep(sampleEveryMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** The least heap in use after each full collection (KiB): what grows here is kept, and no garbage. */
function keptAfterCollections(samples: readonly Sample[]): number[] {
  const least = new Map<number, number>();
  for (const { collections, usedKiB } of samples)
    least.set(collections, Math.min(usedKiB, least.get(collections) ?? usedKiB));
  return [...least.values()];
}

/** The figure whose name and labels match, as a pattern; `absent` where there is none yet. */
function figure(page: string, pattern: string, absent?: number): number {
  const value = new RegExp(`^${pattern} (\\S+)$`, 'm').exec(page)?.[1];
  if (value === undefined && absent !== undefined) return absent;
  if (value === undefined) throw new Error(`/metrics has no ${pattern}.`);
  return Number(value);
}

/** People talk on the clock, as long as `goesOn` says so of the time (ms) since they began. */
async function talk(
  conversation: Conversation,
  perMinute: number,
  goesOn: (ms: number) => boolean,
): Promise<void> {
  const began = performance.now();
  for (let said = 0; goesOn(performance.now() - began); said += 1) {
    const wait = began + (said * 60_000) / perMinute - performance.now();
    if (wait > 0) await sleep(wait);
    conversation.sayOne();
  }
}

async function measure(minutes: number, seed: number, undo: (() => Promise<unknown>)[]) {
  const random = randomsOf(seed);
  const { slack, agent, settings, folder } = await setScenery(
    {
      slack: {
        random: random.slack,
        limits: 'off',
        clientMsgIdDedupe: false,
        delivery: { order: 'random', duplicateChance: 0.15 },
      },
      agent: {
        script: chaosAgent(),
        dialect: { multipartThreshold, partSize: multipartThreshold / 2, minPartSize: 1 },
      },
      settings: { SLACK_EDITS_PER_MINUTE: '400' },
    },
    undo,
  );
  const server = await startEmbedded({ folder: join(folder, 'database'), log: pino({ level: 'silent' }) });
  undo.push(() => server.stop());
  const { host, port, user, database } = server.connection;
  const url = `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
  const bot = new BotProcess({ ...settings, DATABASE_URL: url }, join(folder, 'bot.log'));
  undo.push(() => bot.stop());
  await bot.ready();
  if (bot.port === undefined) throw new Error('The bot did not start.');
  const witness = new Witness(async () => server.connection);
  undo.push(() => witness.stop());
  for (const rule of badWeather.slack) slack.faults.add(rule);
  for (const rule of badWeather.agent) agent.faults.add(rule);

  const conversation = new Conversation(slack, random.people, channels);
  const warming = new Sampler(bot.port);
  const isCold = () => (warming.samples.at(-1)?.collections ?? 0) < warmCollections;
  const { least, most } = warmUpMs;
  await talk(conversation, warmUpPerMinute, (ms) => ms < least || (ms < most && isCold()));
  await warming.stop();
  const before = conversation.said.length;
  console.log(`warm after ${before} messages`);
  const sampler = new Sampler(bot.port);
  await talk(conversation, messagesPerMinute, (ms) => ms < minutes * 60_000);
  const asked = conversation.said.length - before;
  await sampler.stop();
  slack.faults.clear();
  agent.faults.clear();
  const { findings, turns } = await settledFindings(slack, agent, witness, conversation);
  const { lost, stuck, ...damage } = compare(findings);
  return {
    asked,
    files: conversation.said.filter(({ files }) => files.length > 0).length,
    turns: turns.filter(({ finished }) => finished).length,
    samples: sampler.samples,
    lastHalf: sampler.lastHalf,
    lost: [...lost, ...stuck],
    damage: Object.values(damage).flat(),
  };
}

/** Talks to the bot for minutes, with files and faults, and watches its memory and its handles. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { minutes: { type: 'string', default: '5' }, seed: { type: 'string', default: '1' } },
  });
  const minutes = Number(values.minutes);
  const undo: (() => Promise<unknown>)[] = [];
  try {
    const seen = await measure(minutes, Number(values.seed), undo);
    const every = Math.ceil(seen.samples.length / 20);
    console.table(seen.samples.filter((_, index) => index % every === 0));
    for (const sentence of [...seen.lost, ...seen.damage]) console.error(sentence);
    console.log(`${seen.asked} messages were measured; with the warm-up, ${seen.files} had files`);
    console.log('heap in use after each full collection, KiB:', keptAfterCollections(seen.samples));
    const slopeOf = (of: (sample: Sample) => number) =>
      rounded(slope(seen.lastHalf.map((sample) => [sample.minute, of(sample)])), 1);
    const figures = {
      turns: seen.turns,
      rssSlopeKiBPerMinute: slopeOf(({ rssKiB }) => rssKiB),
      handlesSlopePerMinute: slopeOf(({ handles }) => handles),
      lost: seen.lost.length,
    };
    console.log(JSON.stringify({ bench: 'soak', minutes, ...figures }));
    if (figures.lost > 0) process.exitCode = 1;
  } finally {
    for (const step of undo.reverse()) await step();
  }
}
