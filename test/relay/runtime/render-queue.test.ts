import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RenderQueue } from '../../../src/relay/runtime/render-queue.ts';

const { signal } = new AbortController();

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate'] }));
afterEach(() => vi.useRealTimers());

/** A queue on a clock that only its slices and its waits for a share move. */
function queueOnClock() {
  const clock = { ms: 0, waits: 0 };
  const queue = new RenderQueue({
    now: () => clock.ms,
    sleep: async (ms) => {
      clock.waits += 1;
      clock.ms += ms;
    },
  });
  const slice = (ms: number) => () => {
    clock.ms += ms;
  };
  return { queue, clock, slice };
}

test('a workspace that renders all the time waits for its share; another one does not', async () => {
  const { queue, clock, slice } = queueOnClock();
  const render = async (workspace: string) => {
    const done = queue.run(workspace, slice(50), signal);
    await vi.runAllTimersAsync();
    await done;
  };
  for (let at = 0; at < 60; at += 1) await render('T1');
  expect(clock.waits).toBeGreaterThan(10);
  // 3,000 ms of rendering, 2,000 of them at once, at a tenth of the time.
  expect(clock.ms).toBeGreaterThan(9_000);
  const { waits } = clock;
  await render('T2');
  expect(clock.waits).toBe(waits);
});

test('the next slice is that of the workspace which rendered least', async () => {
  const { queue, slice } = queueOnClock();
  const order: string[] = [];
  const render = (workspace: string) =>
    queue.run(
      workspace,
      () => {
        order.push(workspace);
        slice(10)();
      },
      signal,
    );
  const all = Promise.all([render('T1'), render('T1'), render('T1'), render('T2')]);
  await vi.runAllTimersAsync();
  await all;
  expect(order).toEqual(['T1', 'T2', 'T1', 'T1']);
});

test('after a long slice, everything else gets as much time', async () => {
  const { queue, slice } = queueOnClock();
  const finished = vi.fn<() => void>();
  await queue.run('T1', slice(40), signal);
  const next = queue.run('T1', finished, signal);
  await vi.advanceTimersByTimeAsync(39);
  expect(finished).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(finished).toHaveBeenCalled();
  await next;
});

test('a slice that throws does not hold up the next one', async () => {
  const { queue } = queueOnClock();
  const broken = () => {
    throw new Error('broken');
  };
  await expect(queue.run('T1', broken, signal)).rejects.toThrow('broken');
  const next = queue.run('T1', () => 'fine', signal);
  await vi.runAllTimersAsync();
  expect(await next).toBe('fine');
});
