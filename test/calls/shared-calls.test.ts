import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ttlCache } from '../../src/calls/shared-calls.ts';

// The clock starts at 1: lru-cache takes an entry of the time 0 for one without an end.
beforeEach(() => void vi.useFakeTimers().advanceTimersByTime(1));
afterEach(() => void vi.useRealTimers());

test('a cache forgets what was not used while it was valid', async () => {
  const loads: string[] = [];
  const cache = ttlCache(1_000, 1_000, async (key) => {
    loads.push(key);
    return {};
  });
  const get = (key: string) => cache.forceFetch(key);
  for (let index = 0; index < 500; index += 1) await get(`person-${index}`);
  expect(cache.size).toBe(500);
  vi.advanceTimersByTime(1_001);
  await get('new');
  expect(cache.size).toBe(1);
  expect(loads).toHaveLength(501);
});
