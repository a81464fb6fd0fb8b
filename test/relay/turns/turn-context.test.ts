import { expect, test, vi } from 'vitest';
import type { RelayDeps, WorkspaceClient } from '../../../src/relay/runtime/deps.ts';
import { TurnContext } from '../../../src/relay/turns/turn-context.ts';
import type { Job, Turn } from '../../../src/store/schema.ts';
import { silentLog } from '../../support/silent-log.ts';

test('how a turn ended is written with its last step where writing it before fails while the turn closes', async () => {
  vi.useFakeTimers();
  const writing = Promise.withResolvers<never>();
  const deps = { store: { turns: { record: () => writing.promise } }, settings: {}, log: silentLog };
  const { signal } = new AbortController();
  const lease = { remainingMs: () => 8_000, signal, draining: signal };
  const work = { deps: deps as unknown as RelayDeps, workspace: {} as WorkspaceClient, lease };
  const turn = { id: 't', workspace: 'T1', started_at: new Date(), waits_since: null } as Turn;
  const context = new TurnContext(work, turn, undefined, {} as Job);
  context.recordSoon({ outcome: 'length' });
  await vi.advanceTimersToNextTimerAsync();
  const left = context.takeUnrecorded();
  writing.reject(new Error('The database is gone.'));
  expect(await left).toEqual({ outcome: 'length' });
  vi.useRealTimers();
});
