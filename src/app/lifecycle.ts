import type { Logger } from 'pino';
import { within } from '../calls/waits.ts';

/** A part that runs from the app's start to its stop. */
export interface Lifecycle {
  start?(): void | Promise<void>;
  stop(): Promise<void>;
}

/** Longest stop of a part whose work other processes repeat (ms). */
const STOP_TIMEOUT_MS = 5_000;

/** Parts that start in order and stop in parallel, so that none delays handing over the turns. */
export function combineLifecycles(parts: readonly Lifecycle[]): Lifecycle {
  return {
    start: async () => {
      for (const part of parts) await part.start?.();
    },
    stop: async () => {
      const ended = await Promise.allSettled(parts.map(async (part) => part.stop()));
      const failed = ended.flatMap((one): unknown[] => (one.status === 'rejected' ? [one.reason] : []));
      if (failed.length > 0) throw failed.reduce((first, next) => new SuppressedError(next, first));
    },
  };
}

/** A part whose work another process, or the next start, repeats: its stop takes at most five seconds. */
export function withStopTimeout(part: Lifecycle, log: Logger): Lifecycle {
  return {
    start: () => part.start?.(),
    stop: async () => {
      if ((await within(STOP_TIMEOUT_MS, part.stop(), 'late' as const)) === 'late')
        log.warn({ part: part.constructor.name }, 'a part did not stop in time; its work will be repeated');
    },
  };
}
