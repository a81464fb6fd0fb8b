import type { Turn, TurnId } from '../../store/schema.ts';
import type { ThreadWork } from '../runtime/deps.ts';
import { inBackground } from '../runtime/poller.ts';
import { sleepWithLease } from '../runtime/retry.ts';

/** A turn is poisoned after more takeovers than this without a recorded step, over more than this time (ms). */
const MAX_ATTEMPTS = 5;
const POISONED_AFTER_MS = 600_000;
/**
 * From this attempt on, a turn starts with a delay (ms, doubling) and counts as attempted only after it: a process that
 * ends earlier was not brought down by the turn, and a turn that does bring processes down does so less and less often.
 */
const SUSPECT_ATTEMPTS = 4;
const SUSPECT_DELAY_MS = { first: 1_000, most: 32_000 };
/** A turn that has run for this long (ms) has proven stable. */
const STABLE_AFTER_MS = 60_000;

/** Whether the turn is to be abandoned. Attempts count only over some time: a crash loop must not cost an answer. */
export function isPoisoned({ attempts, attempts_since: since }: Turn): boolean {
  return attempts > MAX_ATTEMPTS && Date.now() - since.getTime() > POISONED_AFTER_MS;
}

/** Takes over an open turn and counts the attempt, after a delay where earlier attempts made no progress. */
export async function countTakeover({ deps, lease }: ThreadWork, turn: Turn): Promise<Turn> {
  await sleepWithLease(suspectDelayMs(turn.attempts), lease);
  return deps.store.turns.countAttempt(turn);
}

/** Runs a turn, and resets its attempts once it has proven stable. */
export async function runAndMarkStable(
  { deps: { store, log }, lease }: ThreadWork,
  turn: TurnId,
  run: () => Promise<void>,
): Promise<void> {
  const timer = setTimeout(() => {
    if (lease.signal.aborted) return;
    inBackground(store.turns.resetAttempts(turn), log, 'could not reset the attempts of a turn');
  }, STABLE_AFTER_MS);
  try {
    await run();
  } finally {
    clearTimeout(timer);
  }
}

function suspectDelayMs(attempts: number): number {
  if (attempts < SUSPECT_ATTEMPTS) return 0;
  return Math.min(SUSPECT_DELAY_MS.most, SUSPECT_DELAY_MS.first * 2 ** (attempts - SUSPECT_ATTEMPTS));
}
