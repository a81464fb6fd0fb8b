import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { combineLifecycles, withStopTimeout } from '../../src/app/background.ts';
import { flattenSuppressedErrors } from '../../src/operate/command-runner.ts';
import { silentLog } from '../support/silent-log.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const never = { stop: () => new Promise<void>(() => undefined) };

test('all parts begin to stop at the same time, even if one hangs or fails, and every failure is reported', async () => {
  const stopped: string[] = [];
  const part = (name: string, error?: Error) => ({
    stop: async () => {
      stopped.push(name);
      if (error !== undefined) throw error;
    },
  });
  const all = combineLifecycles([
    withStopTimeout(never, silentLog),
    part('one', new Error('first')),
    part('two'),
    withStopTimeout(part('three', new Error('second')), silentLog),
  ]);
  const ended = all.stop().catch((error: unknown) => flattenSuppressedErrors(error).map(String));
  await vi.advanceTimersByTimeAsync(0);
  expect(stopped).toEqual(['one', 'two', 'three']);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await ended).toEqual(['Error: first', 'Error: second']);
});
