import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { TtlCache } from '../../src/slack/ttl-cache.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a cache forgets what was not used while it was valid', async () => {
  const cache = new TtlCache<object>({ maxEntries: 1_000, ttlMs: 1_000 });
  const loads: string[] = [];
  const get = (key: string) =>
    cache.get(key, async () => {
      loads.push(key);
      return {};
    });
  for (let index = 0; index < 500; index += 1) await get(`person-${index}`);
  expect(cache.size).toBe(500);
  vi.advanceTimersByTime(1_001);
  await get('new');
  expect(cache.size).toBe(1);
  expect(loads).toHaveLength(501);
});
