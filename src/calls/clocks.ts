/** A time by two clocks (ms); the wall clock also counts while the machine sleeps. */
export interface ClockReading {
  wall: number;
  monotonic: number;
}

/** Now, by both clocks. */
export function readClocks(): ClockReading {
  return { wall: Date.now(), monotonic: performance.now() };
}

/** Milliseconds since then, by the clock that shows more: neither a stopped nor a reset clock hides time. */
export function elapsedMs(since: ClockReading): number {
  return Math.max(Date.now() - since.wall, performance.now() - since.monotonic);
}
