import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AgentError, AgentRejectedError } from '../../src/agent/errors.ts';
import { DEFAULT_RETRY_POLICY, retryCall, retryDelay } from '../../src/agent/retries.ts';

const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const attempts = fc.integer({ min: 1, max: 2000 });

describe('retryDelay', () => {
  test('waits at least as long as the service asks, and little longer', () => {
    fc.assert(
      fc.property(attempts, fc.integer({ min: 0, max: 3_600_000 }), chance, (attempt, asked, random) => {
        const delay = retryDelay(attempt, asked, DEFAULT_RETRY_POLICY, () => random);
        expect(delay).toBeGreaterThanOrEqual(asked);
        expect(delay).toBeLessThanOrEqual(asked + DEFAULT_RETRY_POLICY.baseDelayMs);
      }),
    );
  });

  test('stays below a delay that doubles up to the maximum', () => {
    fc.assert(
      fc.property(attempts, chance, (attempt, random) => {
        const delay = retryDelay(attempt, undefined, { baseDelayMs: 100, maxDelayMs: 5000 }, () => random);
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(delay).toBeLessThanOrEqual(Math.min(5000, 100 * 2 ** (attempt - 1)));
      }),
    );
  });

  test('spreads over the whole delay', () => {
    const policy = { baseDelayMs: 100, maxDelayMs: 5000 };
    expect(retryDelay(3, undefined, policy, () => 0)).toBe(0);
    expect(retryDelay(3, undefined, policy, () => 0.5)).toBe(200);
    expect(retryDelay(99, undefined, policy, () => 0.5)).toBe(2500);
  });
});

describe('retryCall', () => {
  const quick = { ...DEFAULT_RETRY_POLICY, maxAttempts: 4, baseDelayMs: 1, maxDelayMs: 2 };
  const unavailable = (status?: number, retryAfterMs?: number) =>
    new AgentError('unavailable', { sentence: 'No', outcome: 'unknown', status, retryAfterMs });

  test('retries until the call succeeds', async () => {
    const tries: number[] = [];
    const result = await retryCall(
      async (attempt) => {
        tries.push(attempt);
        if (attempt < 3) throw unavailable(503);
        return 'done';
      },
      quick,
      undefined,
    );
    expect(result).toBe('done');
    expect(tries).toEqual([1, 2, 3]);
  });

  test('gives up after the last attempt and reports the number of attempts', async () => {
    const failing = retryCall(() => Promise.reject(unavailable()), quick, undefined);
    await expect(failing).rejects.toMatchObject({ code: 'unavailable', attempts: 4 });
  });

  test.each([
    ['a refusal', new AgentRejectedError({ sentence: 'No', outcome: 'refused', status: 422, reason: '' })],
    ['an unreadable answer', new AgentError('not_understood', { sentence: 'No', outcome: 'unknown' })],
    ['a status that stays', unavailable(501)],
    ['a full storage', unavailable(507)],
    ['an error of our own', new RangeError('mine')],
  ])('does not repeat after %s', async (_, error) => {
    let tries = 0;
    const failing = retryCall(
      () => {
        tries += 1;
        return Promise.reject(error);
      },
      quick,
      undefined,
    );
    await expect(failing).rejects.toBe(error);
    expect(tries).toBe(1);
  });

  test('starts no delay that would exceed the total time', async () => {
    const failing = retryCall(() => Promise.reject(unavailable(503, 3_600_000)), quick, undefined);
    await expect(failing).rejects.toMatchObject({ status: 503, attempts: 1 });
  });

  test('stops waiting when the caller aborts', async () => {
    const stop = new AbortController();
    const slow = { ...quick, maxTotalMs: 60_000 };
    const failing = retryCall(() => Promise.reject(unavailable(503, 30_000)), slow, stop.signal);
    setTimeout(() => stop.abort(), 5);
    await expect(failing).rejects.toMatchObject({ code: 'aborted' });
  });
});
