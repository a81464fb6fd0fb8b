let databaseAheadMs = 0;

/** The database has told its time, as it was asked at `askedAt` (ms by our clock). */
export function noteDatabaseTime(told: Date, askedAt: number): void {
  databaseAheadMs = told.getTime() - Math.min(Math.max(told.getTime(), askedAt), Date.now());
}

/** Now (ms) by the database's clock, as far as it has told: for what is compared with the times that it sets. */
export function databaseNow(): number {
  return Date.now() + databaseAheadMs;
}

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
