import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Poller } from '../../../src/relay/runtime/poller.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** Rounds of one second whose looks go on until they are let go. */
function slowRounds() {
  const looks: PromiseWithResolvers<void>[] = [];
  const errors: unknown[] = [];
  const round = () => {
    const look = Promise.withResolvers<void>();
    looks.push(look);
    return look.promise;
  };
  const rounds = new Poller({ intervalMs: 1_000, poll: round, onError: (error) => errors.push(error) });
  return { rounds, looks, errors };
}

it('begins no look while one is under way, and stops when that one is over', async () => {
  const { rounds, looks } = slowRounds();
  rounds.start();
  await vi.advanceTimersByTimeAsync(10_500);
  expect(looks).toHaveLength(1);
  let stopped = false;
  const stop = rounds.stop().then(() => {
    stopped = true;
  });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(stopped).toBe(false);
  looks[0]?.resolve();
  await stop;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(looks).toHaveLength(1);
});

it('looks once more where that was asked for during a look', async () => {
  const { rounds, looks } = slowRounds();
  rounds.pollNow();
  expect(looks).toHaveLength(0);
  rounds.start();
  for (let times = 0; times < 3; times += 1) rounds.pollNow();
  expect(looks).toHaveLength(1);
  looks[0]?.resolve();
  await vi.advanceTimersByTimeAsync(0);
  expect(looks).toHaveLength(2);
  rounds.pollNow();
  const stop = rounds.stop();
  looks[1]?.resolve();
  await stop;
  expect(looks).toHaveLength(2);
});

it('goes on after a look that failed', async () => {
  const { rounds, looks, errors } = slowRounds();
  rounds.start();
  await vi.advanceTimersByTimeAsync(1_000);
  looks[0]?.reject(new Error('the store is away'));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(errors).toHaveLength(1);
  expect(looks).toHaveLength(2);
  looks[1]?.resolve();
  await rounds.stop();
});
