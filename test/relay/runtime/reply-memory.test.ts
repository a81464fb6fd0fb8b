import { describe, expect, test } from 'vitest';
import { ReplyMemory } from '../../../src/relay/runtime/reply-memory.ts';

const never = new AbortController().signal;
const lease = { signal: never, draining: never, remainingMs: () => 8_000 };
const turn = (workspace: string, id: string) => ({ workspace, id: `${workspace}/${id}` });

/** A memory in which turns keep replies of so many bytes; `keep` says whether there was room. */
function createScene(sharedBytes = 10_000) {
  const clock = { now: 0 };
  const memory = new ReplyMemory(sharedBytes, () => clock.now);
  const keep = (workspace: string, id: string, bytes: number, isSettled = false) =>
    memory.keep(turn(workspace, id), 'reply', { bytes, isSettled });
  const release = (workspace: string, id: string) => memory.release(turn(workspace, id));
  return { clock, memory, keep, release };
}

describe('the memory for replies of own services', () => {
  test('holds up the workspace that uses most, and no other', () => {
    const { keep } = createScene();
    for (let at = 0; at < 4; at += 1) keep('T8', `${at}`, 2_400);
    expect(keep('T1', 'a', 2_000)).toBe(true);
    expect(keep('T1', 'a', 4_000)).toBe(true);
    // The oldest grows with the reserve.
    expect(keep('T8', '0', 2_600)).toBe(true);
    expect(keep('T8', '1', 2_800)).toBe(false);
    expect(keep('T8', 'new', 2_900)).toBe(false);
    expect(keep('T1', 'a', 6_000)).toBe(false);
    expect(keep('T8', '1', 400)).toBe(true);
  });

  test('lets the oldest of turns grow that all wait for room, then the next one', () => {
    const { keep, release } = createScene();
    const ids = ['a', 'b', 'c', 'd'];
    for (const id of ids) expect(keep('T8', id, 2_500)).toBe(true);
    expect(ids.map((id) => keep('T8', id, 8_000))).toEqual([true, false, false, false]);
    release('T8', 'a');
    expect(ids.slice(1).map((id) => keep('T8', id, 8_000))).toEqual([true, false, false]);
  });

  test('shows settled replies one after the other, those of other workspaces after ten minutes at the latest', () => {
    const { keep, release, clock } = createScene();
    expect(keep('T8', 'growing', 50_000)).toBe(true);
    expect(keep('T8', 'a', 50_000, true)).toBe(true);
    expect(keep('T8', 'b', 50_000, true)).toBe(false);
    expect(keep('T9', 'c', 50_000, true)).toBe(false);
    clock.now = 11 * 60_000;
    expect(keep('T8', 'b', 50_000, true)).toBe(false);
    expect(keep('T9', 'c', 50_000, true)).toBe(true);
    expect(keep('T7', 'd', 50_000, true)).toBe(false);
    release('T8', 'growing');
    release('T8', 'a');
    release('T9', 'c');
    // 'b' has waited longest, and has its place now.
    expect(keep('T7', 'd', 50_000, true)).toBe(false);
    release('T8', 'b');
    expect(keep('T7', 'd', 50_000, true)).toBe(true);
  });

  test('counts everything that a turn keeps', () => {
    const { keep, memory } = createScene();
    keep('T9', 'reserved', 20_000);
    expect(keep('T8', 'a', 6_000)).toBe(true);
    const results = { bytes: 6_000, isSettled: false };
    expect(memory.keep(turn('T8', 'a'), 'results', results)).toBe(false);
    expect(memory.keep(turn('T8', 'a'), 'results', { ...results, bytes: 3_000 })).toBe(true);
    expect(keep('T7', 'b', 5_500)).toBe(false);
  });
});

test('two hundred settled replies are read and shown, never more of them at once than there is room for', async () => {
  const { memory } = createScene(40_000_000);
  const size = { bytes: 10_000_000, isSettled: true };
  let kept = 0;
  let most = 0;
  let reads = 0;
  const show = async (id: number) => {
    using own = memory.of(turn('T8', `${id}`), 'account');
    await own.read(
      'reply',
      async () => (reads += 1),
      () => size,
      { lease },
    );
    kept += 1;
    most = Math.max(most, kept);
    await new Promise((resolve) => setImmediate(resolve));
    kept -= 1;
  };
  await Promise.all(Array.from({ length: 200 }, (_, id) => show(id)));
  expect(most).toBe(5);
  // Each is read once, and once more where it had to wait.
  expect(reads).toBeLessThanOrEqual(400);
});
