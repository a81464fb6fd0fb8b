import { expect, test } from 'vitest';
import { AgentError } from '../../../src/agent/errors.ts';
import { RELAY_LIMITS } from '../../../src/limits.ts';
import { type Delivery, refusalOf } from '../../../src/relay/sending/delivery.ts';

const busy = new AgentError('busy', { sentence: 'It is busy.', outcome: 'refused' });

/** Whether a task of this status, busy at rest for so many minutes, counts as closed. */
async function isClosed(status: string, minutes: number, mayLeave: boolean): Promise<boolean> {
  const agent = { getTask: async () => ({ status }) };
  const task = { agent, taskId: 't1', deps: { settings: RELAY_LIMITS } } as unknown as Delivery;
  const busyAtRest = { count: async () => minutes * 60_000 };
  return (await refusalOf(busy, task, { busyAtRest, mayLeave })) !== busy;
}

test('a task that stays busy at rest is closed after ten minutes, or one after **Try again**', async () => {
  expect(await isClosed('idle', 2, false)).toBe(false);
  expect(await isClosed('idle', 10, false)).toBe(true);
  expect(await isClosed('idle', 0.5, true)).toBe(false);
  expect(await isClosed('idle', 2, true)).toBe(true);
  expect(await isClosed('failed', 0, false)).toBe(true);
});
