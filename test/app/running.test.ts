import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { repeatable, together } from '../../src/app/running.ts';
import { failuresOf } from '../../src/operate/failures.ts';
import { silent } from '../silent.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const never = { stop: () => new Promise<void>(() => undefined) };

test('parts begin to stop at once, also where one hangs or fails, and every failure is told', async () => {
  const stopped: string[] = [];
  const part = (name: string, error?: Error) => ({
    stop: async () => {
      stopped.push(name);
      if (error !== undefined) throw error;
    },
  });
  const all = together([
    repeatable(never, silent),
    part('one', new Error('first')),
    part('two'),
    repeatable(part('three', new Error('second')), silent),
  ]);
  const ended = all.stop().catch((error: unknown) => failuresOf(error).map(String));
  await vi.advanceTimersByTimeAsync(0);
  expect(stopped).toEqual(['one', 'two', 'three']);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await ended).toEqual(['Error: first', 'Error: second']);
});
