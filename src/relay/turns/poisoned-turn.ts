import { doubledMs } from '../../calls/retries-and-waits.ts';
import type { Turn } from '../../store/schema.ts';
import type { ThreadWork } from '../runtime/deps.ts';
import { sleepWithLease } from '../runtime/lease.ts';
import { isOverdue } from '../runtime/retry-and-giving-up.ts';

/** A turn is poisoned after more takeovers than this without a step, over more than this time (ms). */
const MAX_ATTEMPTS = 5;
const POISONED_AFTER_MS = 600_000;
/** After so many attempts, each first waits twice as long as the one before (ms), and is counted only after its wait. */
const SUSPECT_ATTEMPTS = 4;
const SUSPECT_DELAY_MS = { first: 1_000, most: 32_000 };

/** Whether to abandon a turn. Many attempts do not suffice: a short crash loop must cost no answer. */
export function isPoisoned({ attempts, attempts_since: since }: Turn): boolean {
  return attempts > MAX_ATTEMPTS && isOverdue(since, POISONED_AFTER_MS);
}

/** Counts another attempt at an open turn. After several, waits first: the turn may crash this process, too. */
export async function takeOver(work: ThreadWork, open: Turn): Promise<Turn> {
  if (open.attempts >= SUSPECT_ATTEMPTS) {
    const { first, most } = SUSPECT_DELAY_MS;
    await sleepWithLease(doubledMs(first, open.attempts - SUSPECT_ATTEMPTS + 1, most), work.lease);
  }
  return work.deps.store.turns.countAttempt(open);
}
