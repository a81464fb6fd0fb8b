import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { anySignal } from '../../src/calls/retries-and-waits.ts';

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

test('a time limit that nothing else holds still ends it', async () => {
  const signal = anySignal([new AbortController().signal, AbortSignal.timeout(50)]);
  for (let round = 0; round < 5; round += 1) await collect();
  const deadline = performance.now() + 10_000;
  while (!signal.aborted && performance.now() < deadline) await sleep(10);
  expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
});
