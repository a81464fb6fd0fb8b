import { setTimeout as sleep } from 'node:timers/promises';
import { secondsSince, waitUntil } from '../wait-until.ts';
import type { Conversation } from './conversation.ts';
import { mayStayUnsent, type SaidMessage } from './damage.ts';
import type { DatabaseObserver } from './database-observer.ts';

/** When people write during a fault, as parts of its time: what is said late must also reach the bot. */
const WRITING_TIMES = [0.1, 0.75];
/** How long the run waits for the answers after a fault (ms). */
const RECOVERY_TIMEOUT_MS = 60_000;

/** How something begins to fail, and stops. */
export interface Fault {
  begin(): Promise<void> | void;
  end(): Promise<void> | void;
}

/** What can fail in several ways; the run's JSON names them. */
export interface Breakable {
  readonly faults: readonly string[];
  /** Begins a fault, and ends it after so many seconds. */
  fail(fault: string, seconds: number): Promise<void>;
}

/** Something that fails in these ways. */
export function breakable(faults: Readonly<Record<string, Fault>>): Breakable {
  return {
    faults: Object.keys(faults),
    fail: async (fault, seconds) => {
      await faults[fault]?.begin();
      await sleep(seconds * 1_000);
      await faults[fault]?.end();
    },
  };
}

/** What a run needs to see the bot recover. */
export interface RecoveryDeps {
  broken: Breakable;
  observer: DatabaseObserver;
  conversation: Conversation;
  /** Whether the bot has a message. */
  isExpected: (message: SaidMessage) => boolean;
  /** Sends messages that wait behind a stop: nothing else answers them. */
  sendPaused: () => Promise<unknown>;
  onProgress: (line: string) => void;
}

/**
 * Lets something fail in every way, for so many seconds each, while people write. Returns how long it took after each
 * fault until the oldest message of each thread that waited was answered (s).
 */
export async function failInEveryWay(deps: RecoveryDeps, seconds: number): Promise<Map<string, number>> {
  const { broken, conversation, onProgress } = deps;
  const recoverySeconds = new Map<string, number>();
  await answered(deps);
  for (const fault of broken.faults) {
    conversation.sayOne();
    conversation.sayOne();
    await sleep(500);
    const failing = broken.fail(fault, seconds);
    await Promise.all(
      WRITING_TIMES.map(async (part) => {
        await sleep(part * seconds * 1_000);
        conversation.sayOne();
      }),
    );
    await failing;
    const back = performance.now();
    await answered(deps);
    recoverySeconds.set(fault, secondsSince(back));
    onProgress(`${fault}: recovered ${recoverySeconds.get(fault)} s after its end`);
  }
  return recoverySeconds;
}

/** Resolves when the oldest message that waits for an answer in each thread has one, or after a minute. */
async function answered({ observer, conversation, isExpected, sendPaused }: RecoveryDeps): Promise<void> {
  const unfinished = async () => {
    const turns = await observer.turns().catch(() => []);
    const finished = turns.flatMap((turn) => (turn.finished ? [`${turn.channel}/${turn.ts}`] : []));
    const awaited = conversation.said.filter((message) => isExpected(message) && !mayStayUnsent(message));
    return awaited.filter(({ channel, ts }) => !finished.includes(`${channel}/${ts}`));
  };
  const oldest = new Map((await unfinished()).toReversed().map((message) => [message.thread, message]));
  const areAnswered = async () => {
    await sendPaused();
    const waiting = await unfinished();
    return ![...oldest.values()].some((message) => waiting.includes(message));
  };
  await waitUntil(areAnswered, RECOVERY_TIMEOUT_MS, 100);
}
