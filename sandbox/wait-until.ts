import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until something is so, for at most so many ms, and looks every few ms; resolves to whether it is so. */
export async function waitUntil(
  isSo: () => boolean | Promise<boolean>,
  ms: number,
  everyMs = 200,
): Promise<boolean> {
  const deadline = performance.now() + ms;
  while (!(await isSo())) {
    if (performance.now() >= deadline) return false;
    await sleep(everyMs);
  }
  return true;
}

/** Like `waitUntil`, but counts its looks rather than the time, because a machine that stands still is no harm; `ms` are those looks'. */
export async function lookUntil(
  isSo: () => boolean | Promise<boolean>,
  mostMs: number,
  everyMs: number,
): Promise<{ isSo: boolean; ms: number }> {
  for (let ms = 0; ms < mostMs; ms += everyMs) {
    if (await isSo()) return { isSo: true, ms };
    await sleep(everyMs);
  }
  return { isSo: false, ms: mostMs };
}

/** The seconds since a moment of `performance.now()`, to a tenth. */
export function secondsSince(began: number): number {
  return Math.round((performance.now() - began) / 100) / 10;
}
