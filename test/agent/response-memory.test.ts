import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { type ResponseLimits, ResponseMemory, ResponseReader } from '../../src/agent/response-limits.ts';

const limits: ResponseLimits = {
  maxBytes: 4_000,
  maxValues: 100,
  maxConcurrentBytes: 6_000,
  maxListBytes: 5_000,
  bytesPerSecond: Number.POSITIVE_INFINITY,
};

/** A response that stalls after so many bytes. */
function stalled(bytes: number): Readable {
  const body = new Readable({ read: () => undefined });
  body.push(Buffer.alloc(bytes));
  return body;
}

/** Waits until the readers have read what there is. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 10));

test('the accounts of all workspaces share one memory, and the one that uses most loses a response', async () => {
  const memory = new ResponseMemory(10_000);
  const reader = (owner: string) => new ResponseReader(limits, { memory, owner });
  const [hog, other, honest] = [reader('T1'), reader('T2'), reader('T3')];
  const [large, small, foreign] = [stalled(3_900), stalled(1_900), stalled(3_900)];
  const outcomes = Promise.allSettled([hog.readText(large), hog.readText(small), other.readText(foreign)]);
  await settle();
  const answer = await honest.readText(Readable.from([Buffer.from('an ordinary answer'.repeat(50))]));
  expect(answer).toMatchObject({ isWhole: true, bytes: 900 });
  for (const body of [small, foreign]) body.push(null);
  const statuses = (await outcomes).map(({ status }) => status);
  expect(statuses).toEqual(['rejected', 'fulfilled', 'fulfilled']);
});

test('the accounts of one workspace share its part of the memory', async () => {
  const share = { memory: new ResponseMemory(), owner: 'T1' };
  const [current, retired] = [new ResponseReader(limits, share), new ResponseReader(limits, share)];
  const first = stalled(3_900);
  const reading = current.readText(first);
  await settle();
  let isRead = false;
  const waiting = retired.readText(Readable.from([Buffer.alloc(500)])).then(() => {
    isRead = true;
  });
  await settle();
  expect(isRead).toBe(false);
  first.push(null);
  await Promise.all([reading, waiting]);
  expect(share.memory.bytes).toBe(0);
});
