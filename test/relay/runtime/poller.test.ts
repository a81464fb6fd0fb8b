import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Poller } from '../../../src/relay/runtime/poller.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** A poller with an interval of one second, whose polls last until the test settles them. */
function slowPoller() {
  const polls: PromiseWithResolvers<void>[] = [];
  const errors: unknown[] = [];
  const poll = () => {
    const current = Promise.withResolvers<void>();
    polls.push(current);
    return current.promise;
  };
  const poller = new Poller({ intervalMs: 1_000, poll, onError: (error) => errors.push(error) });
  return { poller, polls, errors };
}

test('starts no poll while one is under way, and stops when that one has ended', async () => {
  const { poller, polls } = slowPoller();
  poller.start();
  await vi.advanceTimersByTimeAsync(10_500);
  expect(polls).toHaveLength(1);
  let stopped = false;
  const stop = poller.stop().then(() => {
    stopped = true;
  });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(stopped).toBe(false);
  polls[0]?.resolve();
  await stop;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(polls).toHaveLength(1);
});

test('polls once more if asked to during a poll', async () => {
  const { poller, polls } = slowPoller();
  poller.pollNow();
  expect(polls).toHaveLength(0);
  poller.start();
  for (let times = 0; times < 3; times += 1) poller.pollNow();
  expect(polls).toHaveLength(1);
  polls[0]?.resolve();
  await vi.advanceTimersByTimeAsync(0);
  expect(polls).toHaveLength(2);
  poller.pollNow();
  const stop = poller.stop();
  polls[1]?.resolve();
  await stop;
  expect(polls).toHaveLength(2);
});

test('continues after a poll that failed', async () => {
  const { poller, polls, errors } = slowPoller();
  poller.start();
  await vi.advanceTimersByTimeAsync(1_000);
  polls[0]?.reject(new Error('the store is unavailable'));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(errors).toHaveLength(1);
  expect(polls).toHaveLength(2);
  polls[1]?.resolve();
  await poller.stop();
});

test('polls only when it is asked to, with or without a start, if it has no interval', async () => {
  const poll = vi.fn<() => Promise<void>>(async () => undefined);
  const poller = new Poller({ poll, onError: () => undefined });
  poller.start();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(poll).not.toHaveBeenCalled();
  poller.pollNow();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(poll).toHaveBeenCalledTimes(1);
});

test('polls at the start, too, if it is to', async () => {
  const poll = vi.fn<() => Promise<void>>(async () => undefined);
  const poller = new Poller({ intervalMs: 1_000, startsAtOnce: true, poll, onError: () => undefined });
  poller.start();
  expect(poll).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(poll).toHaveBeenCalledTimes(2);
  await poller.stop();
});
