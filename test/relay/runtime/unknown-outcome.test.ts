import fc from 'fast-check';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { AgentError } from '../../../src/agent/errors.ts';
import { noteDatabaseTime } from '../../../src/calls/clocks.ts';
import { RELAY_LIMITS } from '../../../src/limits.ts';
import { TurnEnded } from '../../../src/relay/runtime/turn-exceptions.ts';
import {
  INTENT_MAX_AGE_MS,
  once,
  searchUntilSettled,
  waitUntilCallEnded,
} from '../../../src/relay/runtime/unknown-outcome.ts';
import { ChannelGoneError, SlackUnavailableError } from '../../../src/slack/errors.ts';
import { CALL_TIMEOUT_MS } from '../../../src/slack/slack-client.ts';

const never = new AbortController().signal;
const lease = { signal: never, draining: never, remainingMs: () => 8_000 };
const workspace = { callLifetimeMs: RELAY_LIMITS.slackCallLifetimeMs };

afterEach(() => {
  vi.useRealTimers();
});

/** The search's result, and when it was known (ms), if the effect is listed at `listedAt` and each look takes `lookMs`. */
async function search(listedAt: number, lookMs: number, changes = 0) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const start = performance.now();
  let looks = 0;
  const look = async () => {
    const found = performance.now() - start >= listedAt ? 'ours' : undefined;
    await new Promise((resolve) => setTimeout(resolve, lookMs));
    looks += 1;
    return { found, listing: String(Math.min(looks, changes)) };
  };
  const result = searchUntilSettled(look, 120_000, lease);
  await vi.advanceTimersByTimeAsync(1_000_000);
  return { found: await result, looks };
}

test('an effect that appears within two minutes is found, however slow each step is', async () => {
  const ms = (max: number) => fc.integer({ min: 0, max });
  const property = fc.asyncProperty(ms(120_000), ms(60_000), async (listedAt, lookMs) => {
    expect((await search(listedAt, lookMs)).found).toBe('ours');
  });
  await fc.assert(property, { numRuns: 30 });
});

test('nothing is found only after two minutes and two equal lists', async () => {
  expect(await search(Number.POSITIVE_INFINITY, 0)).toEqual({ found: undefined, looks: 25 });
  expect(await search(Number.POSITIVE_INFINITY, 0, 40)).toEqual({ found: undefined, looks: 41 });
});

test('a call counts as ended two seconds after the latest moment at which it is given up', () => {
  expect(workspace.callLifetimeMs).toBe(INTENT_MAX_AGE_MS + CALL_TIMEOUT_MS + 2_000);
});

test('a clock that was set back does not make the wait for a call longer than the call', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const ended = waitUntilCallEnded(workspace, new Date(Date.now() + 3_600_000), lease);
  await vi.advanceTimersByTimeAsync(workspace.callLifetimeMs);
  await expect(ended).resolves.toBeUndefined();
});

test.each([-60_000, 60_000])(
  'a call is waited for as long where the database is %i ms ahead of us',
  async (aheadMs) => {
    onTestFinished(() => noteDatabaseTime(new Date(), Date.now()));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const databaseTime = new Date(Date.now() + aheadMs);
    noteDatabaseTime(databaseTime, Date.now());
    const onEnd = vi.fn<() => void>();
    const ended = waitUntilCallEnded(workspace, databaseTime, lease).then(onEnd);
    await vi.advanceTimersByTimeAsync(workspace.callLifetimeMs - 2_000);
    expect(onEnd).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(2_000);
    await ended;
    expect(onEnd).toHaveBeenCalledOnce();
  },
);

test('an effect that an earlier call had is not had again', async () => {
  const act = vi.fn<() => Promise<string>>(async () => 'new');
  const ifNoEffect = async () => undefined;
  expect(await once({ look: async () => 'earlier', act, ifNoEffect }, lease)).toBe('earlier');
  expect(act).not.toHaveBeenCalled();
  expect(await once({ look: async () => undefined, act, ifNoEffect }, lease)).toBe('new');
  expect(await once({ act, ifNoEffect }, lease)).toBe('new');
});

const slackCall = { method: 'chat.postMessage', slackCode: 'is_archived' };
const refused = new AgentError('rejected', { sentence: 'No.', outcome: 'refused' });

test.each([
  ['Slack refuses it', new ChannelGoneError({ ...slackCall, outcome: 'none' }, ''), 8_000, 1],
  ['Slack fails', new SlackUnavailableError({ ...slackCall, outcome: 'unknown' }, ''), 8_000, 0],
  ['the service refuses it', refused, 8_000, 1],
  ['its refusal ends the turn', new TurnEnded('refused', null, { cause: refused }), 8_000, 1],
  ['the service fails', new AgentError('unavailable', { sentence: '', outcome: 'unknown' }), 8_000, 0],
  ['a statement before it fails', new Error('no database'), 8_000, 0],
  ['the lease has ended', refused, 0, 0],
])(
  'what is recorded of a call is forgotten only if it had no effect: %s',
  async (_, error, leftMs, times) => {
    const ifNoEffect = vi.fn<() => Promise<void>>(async () => undefined);
    const act = () => Promise.reject(error);
    await expect(once({ act, ifNoEffect }, { ...lease, remainingMs: () => leftMs })).rejects.toBe(error);
    expect(ifNoEffect).toHaveBeenCalledTimes(times);
  },
);
