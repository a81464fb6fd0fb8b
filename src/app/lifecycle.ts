import type { Logger } from 'pino';

/** What works from the app's start to its end. */
export interface Lifecycle {
  start?(): void | Promise<void>;
  stop(): Promise<void>;
}

/** How long a stop is waited for that only waits for work which others repeat (ms). */
const STOP_TIMEOUT_MS = 5_000;

/** Parts that start one after the other and stop at once: none of them keeps the turns from being handed over. */
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

/** A part whose work another process, or the next start, goes on with: its stop takes a few seconds at most. */
export function withStopTimeout(part: Lifecycle, log: Logger): Lifecycle {
  return {
    start: () => part.start?.(),
    stop: async () => {
      const { promise: late, resolve } = Promise.withResolvers<'late'>();
      const timer = setTimeout(() => resolve('late'), STOP_TIMEOUT_MS);
      try {
        if ((await Promise.race([part.stop(), late])) === 'late')
          log.warn({ part: part.constructor.name }, 'a part did not stop in time; what it does is repeated');
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
