import { availableParallelism, loadavg } from 'node:os';

/** How much longer things take here and now than on an idle machine: what waits for a processor, for each processor. */
export function busyFactor(): number {
  return Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());
}

/** A time (ms) that holds on an idle machine, and as much longer as this one is busy. */
export const withinMs = (ms: number): number => ms * busyFactor();
