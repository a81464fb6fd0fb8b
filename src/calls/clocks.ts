/** Two clocks in milliseconds; the wall clock also counts while the process is stopped or the machine sleeps. */
export interface Clocks {
  wall(): number;
  monotonic(): number;
}

/** The clocks of this process. */
export const SYSTEM_CLOCKS: Clocks = { wall: () => Date.now(), monotonic: () => performance.now() };

/** A time by both clocks. */
export interface ClockReading {
  wall: number;
  monotonic: number;
}

/** Now, by both clocks. */
export function readClocks(clocks: Clocks): ClockReading {
  return { wall: clocks.wall(), monotonic: clocks.monotonic() };
}

/** Milliseconds since then, by the clock that shows more: neither a stopped nor a reset clock hides time. */
export function elapsedMs(since: ClockReading, clocks: Clocks): number {
  return Math.max(clocks.wall() - since.wall, clocks.monotonic() - since.monotonic);
}
