import { availableParallelism, loadavg } from 'node:os';

/** A time (ms) that holds on an idle machine, and as much longer as processes wait for each processor of this one. */
export function withinMs(ms: number): number {
  return ms * Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());
}
