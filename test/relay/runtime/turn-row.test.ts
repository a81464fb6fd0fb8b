import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { RelayDeps } from '../../../src/relay/runtime/deps.ts';
import { TurnRow } from '../../../src/relay/runtime/turn-row.ts';
import type { Turn } from '../../../src/store/schema.ts';
import { silentLog } from '../../support/silent-log.ts';

const turn = { id: 't', workspace: 'T1', phase: 'opening', prompt: null } as Turn;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A turn's row whose next record is answered as the test says. */
function rowWith(answer: Promise<Turn>): TurnRow {
  const deps = { store: { turns: { record: () => answer } }, log: silentLog } as unknown as RelayDeps;
  const { signal } = new AbortController();
  return new TurnRow({ deps, lease: { remainingMs: () => 8_000, signal, draining: signal } }, turn);
}

test('how a turn ended is written with its last step where writing it before fails while the turn closes', async () => {
  const { promise: writing, reject } = Promise.withResolvers<Turn>();
  const row = rowWith(writing);
  row.recordSoon({ outcome: 'length' });
  await vi.advanceTimersToNextTimerAsync();
  const finish = vi.fn<Parameters<TurnRow['write']>[0]>();
  const left = row.write(finish);
  reject(new Error('The database is gone.'));
  await left;
  expect(finish).toHaveBeenCalledExactlyOnceWith({ values: { outcome: 'length' }, posts: [] });
});

test('a step that another statement has recorded stays, where an earlier one is answered later', async () => {
  const { promise: writing, resolve } = Promise.withResolvers<Turn>();
  const row = rowWith(writing);
  const first_visible_at = new Date(0);
  row.recordSoon({ first_visible_at });
  await vi.advanceTimersToNextTimerAsync();
  row.learn({ ...turn, phase: 'frozen', prompt: 'a question' });
  resolve({ ...turn, first_visible_at });
  await row.write(async () => undefined);
  expect(row.turn).toMatchObject({ phase: 'frozen', prompt: 'a question', first_visible_at });
});
