import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judgeEchoes } from '../../../src/relay/inbox/echo-verdict.ts';
import type { EchoState } from '../../../src/store/schema.ts';

const NEW: EchoState = { unheard_posts: 0, unheard_since: null, heard_at: null, judged_deaf_at: null };
const HEARTBEAT_MS = 15_000;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const from = Date.parse('2026-03-02T00:00:00Z');
const at = (ms: number) => new Date(from + ms);

interface Post {
  /** When it was posted (ms since midnight), by which process, and when and where it came back. */
  ms: number;
  by: number;
  echoMs: number | undefined;
  echoAt: number;
}

/** The verdicts of a simulated day, on which several processes record what they count at their own heartbeats. */
function verdicts(posts: readonly Post[], processes: number, lastMs = DAY): number[] {
  const found: number[] = [];
  let state = NEW;
  const heartbeats = Array.from({ length: processes }, (_, process) => process).flatMap((process) =>
    Array.from({ length: Math.ceil(lastMs / HEARTBEAT_MS) }, (_, beat) => ({
      process,
      ms: beat * HEARTBEAT_MS + (process * HEARTBEAT_MS) / processes,
    })),
  );
  const within = (ms: number | undefined, end: number) =>
    ms !== undefined && ms < end && ms >= end - HEARTBEAT_MS;
  for (const { process, ms } of heartbeats.toSorted((a, b) => a.ms - b.ms)) {
    const counts = {
      posts: posts.filter((post) => post.by === process && within(post.ms, ms)).length,
      echoes: posts.filter((post) => post.echoAt === process && within(post.echoMs, ms)).length,
    };
    const { after } = judgeEchoes(state, counts, at(ms));
    if (after.judged_deaf_at !== null && after.judged_deaf_at !== state.judged_deaf_at) found.push(ms);
    state = after;
  }
  return found;
}

/** Some posts one after the other, which come back within a few seconds. */
const reply = fc
  .record({
    ms: fc.integer({ min: 0, max: DAY }),
    by: fc.nat(2),
    edits: fc.array(
      fc.record({
        afterMs: fc.integer({ min: 1, max: 40_000 }),
        delayMs: fc.oneof(fc.integer({ min: 20, max: 500 }), fc.integer({ min: 500, max: 60_000 })),
        echoAt: fc.nat(2),
      }),
      { minLength: 1, maxLength: 12 },
    ),
  })
  .map(({ ms, by, edits }): Post[] => {
    let time = ms;
    return edits.map(({ afterMs, delayMs, echoAt }) => {
      time += afterMs;
      return { ms: time, by, echoMs: time + delayMs, echoAt };
    });
  });

describe('the verdict that no events arrive', () => {
  test('is never given on a quiet day, whichever process posts and whichever hears it', () => {
    fc.assert(
      fc.property(fc.array(reply, { maxLength: 4 }), (replies) => {
        expect(verdicts(replies.flat(), 3)).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });

  test('is not given if one process records the echoes before the other records the posts', () => {
    const posts = [11_000, 12_000, 13_000].map((ms) => ({ ms, by: 1, echoMs: ms + 20, echoAt: 0 }));
    expect(verdicts(posts, 2)).toEqual([]);
  });

  test('is never given without posts, or for two that were lost', () => {
    expect(verdicts([], 1)).toEqual([]);
    const lost = (ms: number) => ({ ms, by: 0, echoMs: undefined, echoAt: 0 });
    expect(verdicts([lost(1_000), lost(2_000)], 1)).toEqual([]);
  });

  test('comes two minutes after three posts of which none came back, and again after three more', () => {
    const lost = (ms: number, by: number) => ({ ms, by, echoMs: undefined, echoAt: 0 });
    const heard = { ms: 1_000, by: 0, echoMs: 1_500, echoAt: 1 };
    const posts = [heard, ...[60_000, 70_000, 80_000].map((ms, by) => lost(ms, by % 2))];
    const [first = 0, ...others] = verdicts(posts, 2);
    expect(others).toEqual([]);
    expect(first).toBeGreaterThanOrEqual(200_000);
    expect(first).toBeLessThanOrEqual(80_000 + 2 * HEARTBEAT_MS + 2 * MINUTE);
    const more = [600_000, 610_000, 620_000].map((ms) => lost(ms, 0));
    expect(verdicts([...posts, ...more], 2)).toHaveLength(2);
  });

  test('reads back from the last echo, then from the last verdict, and a day at most', () => {
    const silent = { ...NEW, unheard_posts: 3, unheard_since: at(0), heard_at: at(-MINUTE) };
    const none = { posts: 0, echoes: 0 };
    const verdict = judgeEchoes(silent, none, at(2 * MINUTE));
    expect(verdict.missedSince).toEqual(at(-MINUTE));
    expect(judgeEchoes({ ...silent, heard_at: at(-9 * DAY) }, none, at(2 * MINUTE)).missedSince).toEqual(
      at(2 * MINUTE - DAY),
    );
    const heard = judgeEchoes(verdict.after, { posts: 0, echoes: 1 }, at(5 * MINUTE));
    expect(heard.missedSince).toEqual(at(2 * MINUTE));
    expect(heard.after).toEqual({ ...NEW, heard_at: at(5 * MINUTE) });
  });
});
