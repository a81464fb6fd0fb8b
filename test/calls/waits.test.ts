import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { abortWith, anySignal, timeLimit, withSecondCall } from '../../src/calls/retries-and-waits.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: unknown = runInNewContext('gc');

async function collect(): Promise<void> {
  await sleep(1);
  if (typeof collectGarbage !== 'function') throw new Error('Garbage cannot be collected here.');
  collectGarbage();
}

test('the first of several signals aborts it, with its reason', () => {
  const source = new AbortController();
  const signal = anySignal([undefined, new AbortController().signal, source.signal]);
  expect(signal.aborted).toBe(false);
  source.abort('enough');
  expect(signal).toMatchObject({ aborted: true, reason: 'enough' });
});

test('a source that is out of reach still aborts it', async () => {
  const abortInside = () => {
    const source = new AbortController();
    const signal = anySignal([anySignal([source.signal]), new AbortController().signal]);
    source.abort('enough');
    return signal;
  };
  const signal = abortInside();
  await collect();
  expect(signal).toMatchObject({ aborted: true, reason: 'enough' });
});

test('one with a time limit is collected after its use, also as the source of another', async () => {
  const useOne = () => {
    const inner = anySignal([AbortSignal.timeout(20), new AbortController().signal]);
    anySignal([inner, new AbortController().signal]);
    return new WeakRef(inner);
  };
  const used = useOne();
  await sleep(50);
  const isCollected = async () => {
    await collect();
    return used.deref() === undefined;
  };
  await expect.poll(isCollected).toBe(true);
});

test.each([
  ['of ours', timeLimit],
  ['of Node', (ms: number) => AbortSignal.timeout(ms)],
])('a time limit %s that nothing else holds still ends it', async (_whose, limit) => {
  const signal = anySignal([new AbortController().signal, limit(50)]);
  for (let round = 0; round < 5; round += 1) await collect();
  const deadline = performance.now() + 10_000;
  while (!signal.aborted && performance.now() < deadline) await sleep(10);
  expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
});

test('time in which the process stands still counts for a small part of a time limit', async () => {
  const limit = timeLimit(800);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
  // What has arrived meanwhile is heard.
  for (let turn = 0; turn < 5; turn += 1) await setImmediate();
  expect(limit.aborted).toBe(false);
  await expect.poll(() => limit.aborted).toBe(true);
});

test('a controller is aborted with a signal, now or later, until it is unlinked', () => {
  const source = new AbortController();
  const linked = () => {
    const controller = new AbortController();
    return { signal: controller.signal, unlink: abortWith(controller, source.signal) };
  };
  const [before, unlinked] = [linked(), linked()];
  unlinked.unlink();
  source.abort('enough');
  expect([before, unlinked, linked()].map(({ signal }) => signal.reason)).toEqual([
    'enough',
    undefined,
    'enough',
  ]);
});

/** Calls that end when the test says so, and what became of them. */
function heldCalls() {
  const calls: { signal: AbortSignal; end: PromiseWithResolvers<string> }[] = [];
  const call = ({ signal }: Pick<AbortController, 'signal'>) => {
    const end = Promise.withResolvers<string>();
    calls.push({ signal, end });
    return end.promise;
  };
  return { calls, call };
}

test('a call that is silent is made once more beside the first, and the first result counts', async () => {
  const { calls, call } = heldCalls();
  const result = withSecondCall(call, 20);
  await expect.poll(() => calls.length).toBe(2);
  calls[1]?.end.resolve('second');
  expect(await result).toBe('second');
  expect(calls.map(({ signal }) => signal.aborted)).toEqual([true, false]);
});

test('a silent call may still have the result, also after the second one has failed', async () => {
  const { calls, call } = heldCalls();
  const result = withSecondCall(call, 20);
  await expect.poll(() => calls.length).toBe(2);
  calls[1]?.end.reject(new Error('too many'));
  calls[0]?.end.resolve('first');
  expect(await result).toBe('first');
  expect(calls.map(({ signal }) => signal.aborted)).toEqual([false, true]);
});

test('a call that fails at once is not made again', async () => {
  const { calls, call } = heldCalls();
  const failing = withSecondCall(call, 60_000);
  calls[0]?.end.reject(new Error('refused'));
  await expect(failing).rejects.toThrow('refused');
});

test('a call that has heard something is not made again, however long it takes', async () => {
  let calls = 0;
  const call = async (_ends: AbortController, heard: () => void) => {
    calls += 1;
    heard();
    await sleep(100);
    return 'long';
  };
  expect(await withSecondCall(call, 20)).toBe('long');
  expect(calls).toBe(1);
});
