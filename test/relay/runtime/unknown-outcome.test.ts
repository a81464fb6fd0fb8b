import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import {
  SLACK_CALL_LIFETIME_MS,
  searchUntilSettled,
  waitUntilCallEnded,
} from '../../../src/relay/runtime/unknown-outcome.ts';

const never = new AbortController().signal;
const lease = { signal: never, draining: never, remainingMs: () => 8_000 };

afterEach(() => {
  vi.useRealTimers();
});

/** The search's result, and when it was known (ms), if the effect is listed at `listedAt` and each look takes `lookMs`. */
async function search(listedAt: number, lookMs: number, changes = 0) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const start = performance.now();
  let looks = 0;
  const look = async () => {
    const found = performance.now() - start >= listedAt ? 'ours' : undefined;
    await new Promise((resolve) => setTimeout(resolve, lookMs));
    looks += 1;
    return { found, listing: String(Math.min(looks, changes)) };
  };
  const result = searchUntilSettled(look, 120_000, lease);
  await vi.advanceTimersByTimeAsync(1_000_000);
  return { found: await result, looks };
}

test('an effect that appears within two minutes is found, however slow each step is', async () => {
  const ms = (max: number) => fc.integer({ min: 0, max });
  const property = fc.asyncProperty(ms(120_000), ms(60_000), async (listedAt, lookMs) => {
    expect((await search(listedAt, lookMs)).found).toBe('ours');
  });
  await fc.assert(property, { numRuns: 30 });
});

test('nothing is found only after two minutes and two equal lists', async () => {
  expect(await search(Number.POSITIVE_INFINITY, 0)).toEqual({ found: undefined, looks: 25 });
  expect(await search(Number.POSITIVE_INFINITY, 0, 40)).toEqual({ found: undefined, looks: 41 });
});

test('a clock that was set back does not make the wait for a call longer than the call', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const ended = waitUntilCallEnded(new Date(Date.now() + 3_600_000), lease);
  await vi.advanceTimersByTimeAsync(SLACK_CALL_LIFETIME_MS);
  await expect(ended).resolves.toBeUndefined();
});
