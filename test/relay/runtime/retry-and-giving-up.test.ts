import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { AgentError, AgentNotFoundError } from '../../../src/agent/errors.ts';
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

/** The pauses (ms) after errors of a call that creates, at a service that answers a read of no task so; at most 20. */
async function pausesAfterCreating(creates: string, readError: AgentError): Promise<number[]> {
  const doubt = new RefusalDoubt({ refusalMs: 60_000, badThingMs: 570_000 });
  const service = {
    getTask: () => Promise.reject(readError),
    hasSucceededAfter: () => false,
    // A gateway in front of the service still refuses wrong keys.
    presence: new Presence(async () => undefined),
  };
  const details = { sentence: 'The answer is lost.', outcome: 'unknown', creates } as const;
  const pauses: number[] = [];
  while (pauses.length < 20) {
    const wait = await doubt.waitAfter(new AgentError('unavailable', details), () => service, undefined);
    if (wait === undefined) break;
    pauses.push(wait.waitMs ?? 0);
    vi.advanceTimersByTime(Math.max(2_000, wait.waitMs ?? 0));
  }
  return pauses;
}

const noTask = new AgentNotFoundError({ sentence: 'No task has this id.', outcome: 'refused' });
const outage = new AgentError('unavailable', { sentence: 'The service is away.', outcome: 'unknown' });

test('a project that may have been created is created again after pauses that double to two minutes', async () => {
  const pauses = await pausesAfterCreating('POST /projects', noTask);
  const doubling = [0, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000];
  expect(pauses).toEqual([...doubling, 120_000, 120_000, 120_000, 82_000]);
});

test('no project is given up in an outage behind a gateway that knows the keys', async () => {
  expect(await pausesAfterCreating('POST /projects', outage)).toEqual(Array(20).fill(0));
});

/** A service of which other calls see only what the test says. */
function serviceInOutage() {
  const state = { isThere: false };
  const service = {
    getTask: () => Promise.reject(state.isThere ? noTask : outage),
    hasSucceededAfter: () => false,
    presence: new Presence(async () => {
      if (!state.isThere) throw outage;
    }),
  };
  return { state, service };
}

test('an outage that ends between the failure of a new project and the look at the service costs nothing', async () => {
  const doubt = new RefusalDoubt({ refusalMs: 60_000, badThingMs: 570_000 });
  const { state, service } = serviceInOutage();
  const details = { sentence: 'The answer is lost.', outcome: 'unknown', creates: 'POST /projects' } as const;
  const wait = () => doubt.waitAfter(new AgentError('unavailable', details), () => service, undefined);
  expect(await wait()).toBeDefined();
  vi.advanceTimersByTime(600_000);
  state.isThere = true;
  expect(await wait()).toBeDefined();
  vi.advanceTimersByTime(569_999);
  expect(await wait()).toBeDefined();
  vi.advanceTimersByTime(1);
  expect(await wait()).toBeUndefined();
});

test('what is created unreadably counts only where the service itself was there', async () => {
  const doubt = new RefusalDoubt({ refusalMs: 60_000, badThingMs: 570_000 });
  const { state, service } = serviceInOutage();
  const details = {
    sentence: 'That is a page.',
    outcome: 'unknown',
    status: 201,
    creates: 'POST /projects',
  } as const;
  const waitAfter = async (ms: number) => {
    vi.advanceTimersByTime(ms);
    return doubt.waitAfter(new AgentError('not_understood', details), () => service, undefined);
  };
  for (let pages = 0; pages < 10; pages += 1) expect(await waitAfter(15_000)).toBeDefined();
  state.isThere = true;
  expect(await waitAfter(15_000)).toBeDefined();
  expect(await waitAfter(15_000)).toBeUndefined();
});

test('what can be looked up, or harms nobody, is created again without longer pauses', async () => {
  for (const call of ['POST /experimental/tasks', 'POST /experimental/files'])
    expect(await pausesAfterCreating(call, noTask)).toEqual(Array(20).fill(0));
});
