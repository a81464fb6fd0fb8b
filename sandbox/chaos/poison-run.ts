import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { compileCacheSettings } from '../bot-process.ts';
import { createOwnDatabase, givenServer, startPostgresServer } from '../postgres-server.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { secondsSince } from '../wait-until.ts';
import type { DatabaseConnection } from './bot-database.ts';
import { type Damage, damageCounts } from './damage.ts';
import { POISON_KINDS, type PoisonKindName } from './poison-kinds.ts';
import { type PoisonOutcome, PoisonPlay, type PoisonPlayOptions } from './poison-play.ts';

/** What others and the people of a bad thing may suffer. */
export const POISON_BARS = { othersDelayedP95Seconds: 1, endedAfterSeconds: 600 };

export interface PoisonRunOptions extends Pick<PoisonPlayOptions, 'seed' | 'logs' | 'messages' | 'pauseMs'> {
  /** Those to play; all by default. */
  kinds?: readonly PoisonKindName[];
  bars?: typeof POISON_BARS;
  /** Whether others' waits are compared with those beside nothing bad; true by default. */
  isCompared?: boolean;
  /** An empty, migrated database each time; by default the run starts its own server. */
  newDatabase?: () => Promise<DatabaseConnection>;
}

/** The outcome of a run. */
export interface PoisonReport {
  messages: number;
  seconds: number;
  poison: Partial<Record<PoisonKindName, PoisonOutcome>>;
  /** What the others suffered, beside something bad and beside nothing bad. */
  damage: Damage;
  /** One sentence for each bar that was missed. */
  missed: string[];
}

/**
 * Lets one thing after another be bad, for good. Beside each, people have the same conversations as with a second bot,
 * for which nothing is bad: at the same time, so that a busy machine slows both.
 */
export async function runPoison(
  options: PoisonRunOptions,
  onProgress: (line: string) => void = () => undefined,
): Promise<PoisonReport> {
  const began = performance.now();
  await using undo = new AsyncDisposableStack();
  await mkdir(options.logs, { recursive: true });
  const folder = await temporaryFolder(undo);
  const newDatabase = options.newDatabase ?? (await ownDatabases(join(folder, 'data'), undo));
  const settings = await compileCacheSettings(join(folder, 'compiled'));
  const { bars = POISON_BARS, isCompared = true } = options;
  const limitSeconds = bars.endedAfterSeconds;
  const report: PoisonReport = {
    ...{ messages: 0, seconds: 0, poison: {}, missed: [] },
    damage: { lost: [], duplicated: [], outOfOrder: [], repliesWrong: [], stuck: [] },
  };
  const prepare = async (name: PoisonKindName, isPlain: boolean) => {
    const play = { name: isPlain ? `nothing-beside-${name}` : name, kind: POISON_KINDS[name], isPlain };
    const database = await newDatabase();
    return PoisonPlay.prepare({ ...options, ...play, limitSeconds, settings, database }, undo);
  };
  const ends: Promise<void>[] = [];
  for (const name of options.kinds ?? poisonKindNames()) {
    const [plain, poisoned] = await both(isCompared ? prepare(name, true) : undefined, prepare(name, false));
    const [usual, beside] = await both(plain?.talk(report.damage), poisoned.talk(report.damage));
    report.messages += (usual?.messages.length ?? 0) + beside.messages.length;
    await plain?.stop(report.damage);
    const delays = usual
      ? [p95(beside.messages) - p95(usual.messages), p95(beside.steps) - p95(usual.steps)]
      : [];
    const end = async () => {
      const outcome = await poisoned.outcome();
      await poisoned.stop(report.damage);
      report.poison[name] = {
        othersDelayedP95Seconds: Math.round(Math.max(0, ...delays) * 100) / 100,
        ...outcome,
      };
      onProgress(`${name} after ${secondsSince(began)} s: ${JSON.stringify(report.poison[name])}`);
    };
    // What is still bad stays so beside the next one.
    const ending = end();
    ending.catch(() => undefined);
    ends.push(ending);
  }
  await Promise.all(ends);
  report.missed.push(...missedBars(report.poison, bars));
  report.seconds = secondsSince(began);
  return report;
}

/** The line of JSON that a run prints. */
export function poisonReportLine(
  { damage, messages, missed, seconds, poison }: PoisonReport,
  seed: number,
): string {
  const delays = Object.values(poison).map((outcome) => outcome.othersDelayedP95Seconds);
  const worst = { missed: missed.length, othersDelayedP95Seconds: Math.max(...delays) };
  return JSON.stringify({ chaos: true, messages, ...damageCounts(damage), ...worst, poison, seconds, seed });
}

function poisonKindNames(): PoisonKindName[] {
  return Object.keys(POISON_KINDS).filter((name): name is PoisonKindName => name in POISON_KINDS);
}

/** One sentence for each bar that was missed. */
export function missedBars(poison: PoisonReport['poison'], bars: typeof POISON_BARS): string[] {
  return Object.entries(poison).flatMap(([name, outcome]) => {
    const { othersDelayedP95Seconds, endedAfterSeconds, told, counted } = outcome;
    const delay = `others waited ${othersDelayedP95Seconds} s longer (p95)`;
    return [
      ...(othersDelayedP95Seconds > bars.othersDelayedP95Seconds ? [delay] : []),
      ...(endedAfterSeconds === null ? [`it did not end within ${bars.endedAfterSeconds} s`] : []),
      ...(told ? [] : ['its people were not told']),
      ...(counted ? [] : ['no metric counted it']),
    ].map((sentence) => `${name}: ${sentence}`);
  });
}

/** Both results, once neither is at work any more. */
async function both<Result>(
  one: Promise<Result> | undefined,
  other: Promise<Result>,
): Promise<[Result | undefined, Result]> {
  await Promise.allSettled([one, other]);
  return Promise.all([one, other]);
}

/** The 95th percentile, to a hundredth; 0 for none. */
function p95(list: readonly number[]): number {
  const sorted = list.toSorted((a, b) => a - b);
  return Math.round((sorted[Math.ceil(list.length * 0.95) - 1] ?? 0) * 100) / 100;
}

/** Databases of the run's own on one server. */
async function ownDatabases(folder: string, undo: AsyncDisposableStack) {
  const server = givenServer() ?? (await startPostgresServer(folder, undo)).connection;
  return () => createOwnDatabase(server, undo);
}
