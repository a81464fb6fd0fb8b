import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { compileCacheSettings } from '../bot-process.ts';
import { limitsSetting } from '../bot-settings.ts';
import { HeapCollector, openHeapMonitor } from '../heap-collector.ts';
import { containerMemorySettings, startMultiWorkspaceBot } from '../multi-workspace-bot.ts';
import { startPostgresServer } from '../postgres-server.ts';
import { type SlackWorkspace, seededRandom } from '../slack/slack-workspace.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { secondsSince } from '../wait-until.ts';
import type { ServiceFuzzOptions } from './fuzz-options.ts';
import { HonestConversation, honestScript } from './honest-conversations.ts';
import { hostileScript, misbehaviour } from './hostile-agent.ts';

const HONEST_TEAMS = ['T1', 'T2'] as const;
const HOSTILE_TEAMS = ['T8', 'T9'] as const;
/** Most threads that each hostile workspace begins at once, each by another person. */
const MAX_HOSTILE_THREADS = 24;
/** How many of the hostile service's answers are spoilt. */
const SPOILT_SHARE = 0.15;

/** What the honest workspaces and the process may suffer: seconds, ms and MiB (deploy's example limit). */
const BARS = { honestDoneLagP95Seconds: 3, eventLoopP99Ms: 100, eventLoopMaxMs: 500, peakMemoryMiB: 768 };

/** Sets a hostile agent service for two workspaces, and lets two others work with an honest one meanwhile. */
export async function runServiceFuzz(
  { answers, seed, database }: ServiceFuzzOptions,
  onProgress: (line: string) => void = () => undefined,
  bars: typeof BARS = BARS,
) {
  await using undo = new AsyncDisposableStack();
  const began = performance.now();
  const { slack, agent: honest, own: hostile, bot, folder } = await prepare(seed, database, undo);
  const port = bot.port ?? 0;
  const random = seededRandom(seed);
  let spoilt = 0;
  const onSpoilt = () => {
    spoilt += 1;
  };
  const isOver = () => spoilt >= answers || !bot.alive;
  const heap = await openHeapMonitor(port, join(folder, 'bot.log'));
  undo.defer(async () => heap.close());
  for (let at = 0; at < 3; at += 1) await heap.sample();
  hostile.behaviour.misbehaviour = misbehaviour(random, () => SPOILT_SHARE, onSpoilt);
  const conversations = HONEST_TEAMS.map((id) => new HonestConversation(slack, honest, id));
  const attacks = HOSTILE_TEAMS.map((id) =>
    attack(slack, id, Math.min(MAX_HOSTILE_THREADS, Math.ceil(answers / 50)), isOver),
  );
  const progress = setInterval(() => onProgress(`${spoilt} answers`), 5_000);
  await Promise.all([...conversations.map((one) => one.run(isOver)), ...attacks]);
  clearInterval(progress);
  hostile.behaviour.misbehaviour = null;
  const loop = bot.alive ? await eventLoopLag(port) : { p99Ms: Number.NaN, maxMs: Number.NaN };
  const peakMemoryMiB = await peakMemory(bot.pid);
  for (let at = 0; at < 6 && bot.alive; at += 1) {
    await sleep(300);
    await heap.sample();
  }
  // The process waits for its debugger before it ends.
  heap.close();
  const lags = conversations.flatMap((one) => one.lags).sort((a, b) => a - b);
  const report = {
    ...{ fuzz: 'service', answers: spoilt, seed, seconds: secondsSince(began) },
    questions: conversations.reduce((sum, { questions }) => sum + questions, 0),
    honestDoneLagP95Seconds: Math.round((lags[Math.ceil(lags.length * 0.95) - 1] ?? 0) * 100) / 100,
    eventLoopP99Ms: loop.p99Ms,
    eventLoopMaxMs: loop.maxMs,
    heapGrowthMiB: heap.growthMiB(),
    /** The most resident memory of the process. */
    peakMemoryMiB,
    /** One sentence for each problem. */
    harm: conversations.flatMap((one) => one.harm),
  };
  if (!bot.alive)
    report.harm.unshift(
      `the process ended: ${(await readFile(join(folder, 'bot.log'), 'utf8')).slice(-2_000)}`,
    );
  else if (!(await bot.stop())) report.harm.push('the process did not shut down in time');
  const names = ['honestDoneLagP95Seconds', 'eventLoopP99Ms', 'eventLoopMaxMs', 'peakMemoryMiB'] as const;
  for (const name of names)
    if (report[name] > bars[name]) report.harm.push(`${name} is ${report[name]}, over ${bars[name]}`);
  return report;
}

/** Keeps turns of a hostile workspace going. */
async function attack(
  slack: SlackWorkspace,
  teamId: string,
  threads: number,
  isOver: () => boolean,
): Promise<void> {
  const bot = slack.teams.find(({ id }) => id === teamId)?.bot.userId ?? '';
  const askers = Array.from({ length: threads }, (_, at) => ({
    person: slack.createPerson({ name: `hostile-${teamId}-${at}`.toLowerCase(), teamId }),
    channel: slack.createChannel({ name: `hostile-${at}`, teamId }),
  }));
  for (let round = 0; !isOver(); round += 1) {
    for (const asker of askers) slack.say({ ...asker, text: `<@${bot}> go on, ${round}` });
    for (let wait = 0; wait < 40 && !isOver(); wait += 1) await sleep(150);
  }
}

async function prepare(seed: number, given: ServiceFuzzOptions['database'], undo: AsyncDisposableStack) {
  const folder = await temporaryFolder(undo);
  const database = given ?? (await startPostgresServer(join(folder, 'data'), undo)).connection;
  const { NODE_OPTIONS: memory } = await containerMemorySettings();
  const started = await startMultiWorkspaceBot(
    {
      teams: { shared: HONEST_TEAMS, own: HOSTILE_TEAMS },
      scripts: { shared: honestScript, own: hostileScript(seededRandom(seed + 1)) },
      slack: { limits: 'off', retryScale: 0.02, random: seededRandom(seed) },
      settings: {
        ...(await compileCacheSettings(join(folder, 'compiled'))),
        // As by default: the hostile workspaces come to their limits.
        ...limitsSetting({ atOncePerson: 10, atOnceWorkspace: 200 }),
        NODE_OPTIONS: `${memory} ${HeapCollector.environment.NODE_OPTIONS}`,
        INSTALL_WORKSPACES: [...HONEST_TEAMS, ...HOSTILE_TEAMS].join(),
      },
      ...{ database, logFile: join(folder, 'bot.log') },
    },
    undo,
  );
  return { ...started, folder };
}

const LOOP_METRIC = /^nodejs_eventloop_lag_(p99|max)_seconds (\S+)$/gm;

/** How long the event loop was held up since the last time it was asked (ms). */
async function eventLoopLag(port: number): Promise<{ p99Ms: number; maxMs: number }> {
  const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const found = new Map([...page.matchAll(LOOP_METRIC)].map(([, name, value]) => [name, Number(value)]));
  const ms = (name: string) => Math.round((found.get(name) ?? Number.NaN) * 1_000);
  return { p99Ms: ms('p99'), maxMs: ms('max') };
}

/** The most memory that a process ever had (MiB); 0 where the system does not tell. */
async function peakMemory(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Math.round(Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1_024);
}
