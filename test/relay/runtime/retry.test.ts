import { afterEach, expect, test, vi } from 'vitest';
import { withRetry } from '../../../src/relay/runtime/retry.ts';
import { SlackUnavailableError } from '../../../src/slack/errors.ts';

const call = { method: 'chat.update', slackCode: 'update_failed', outcome: 'none' } as const;
const away = new SlackUnavailableError(call, 'Try again soon.');

afterEach(() => {
  vi.useRealTimers();
});

test('a failure that does not pass is thrown after the time limit', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const never = new AbortController().signal;
  const lease = { signal: never, draining: never, remainingMs: () => 8_000 };
  let tries = 0;
  const step = async () => {
    tries += 1;
    if (tries === 2) vi.setSystemTime(Date.now() + 61_000);
    throw away;
  };
  await expect(withRetry(lease, step, () => undefined, { giveUpAfterMs: 60_000 })).rejects.toBe(away);
  expect(tries).toBe(2);
});
