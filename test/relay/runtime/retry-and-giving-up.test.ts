import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { AgentError } from '../../../src/agent/errors.ts';
import { Presence } from '../../../src/calls/shared-calls.ts';
import { FailingTime, RefusalDoubt } from '../../../src/relay/runtime/retry-and-giving-up.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});

afterEach(() => {
  vi.useRealTimers();
});

test('the time of a failing thing counts only between failures between which another call succeeded', async () => {
  const failing = new FailingTime();
  let lastSuccessAt = Number.NEGATIVE_INFINITY;
  const failAfter = async (ms: number, others: 'succeed' | 'fail') => {
    vi.advanceTimersByTime(ms / 2);
    if (others === 'succeed') lastSuccessAt = performance.now();
    vi.advanceTimersByTime(ms / 2);
    return failing.count((at) => lastSuccessAt > at);
  };
  expect(await failAfter(60_000, 'succeed')).toBe(0);
  expect(await failAfter(10_000, 'succeed')).toBe(10_000);
  for (let minutes = 0; minutes < 30; minutes += 1) expect(await failAfter(60_000, 'fail')).toBe(10_000);
  expect(await failAfter(20_000, 'succeed')).toBe(30_000);
});

test('what may have been created in vain is created again after as long a pause as all before', async () => {
  const doubt = new RefusalDoubt({ refusalMs: 60_000, badThingMs: 570_000 });
  const service = {
    getTask: () => Promise.reject(new Error('There is no task yet.')),
    hasSucceededAfter: () => false,
    presence: new Presence(async () => undefined),
  };
  const details = { sentence: 'The answer is lost.', outcome: 'unknown', creates: 'POST /projects' } as const;
  const pauses: number[] = [];
  for (;;) {
    const wait = await doubt.waitAfter(new AgentError('unavailable', details), () => service, undefined);
    if (wait === undefined) break;
    pauses.push(wait.waitMs ?? 0);
    vi.advanceTimersByTime(Math.max(2_000, wait.waitMs ?? 0));
  }
  expect(pauses).toEqual([0, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000]);
});
