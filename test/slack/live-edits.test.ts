import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { EditSpacing, editPriority } from '../../src/slack/live-edits.ts';
import { RateLimiter, rateLimitTable } from '../../src/slack/rate-limits.ts';
import { InMemoryRateLimits, maxPerMinute } from '../support/in-memory-rate-limits.ts';
import { silentLog } from '../support/silent-log.ts';

const ANSWER_MS = 60_000;
const CALL_MS = 200;

interface Edit {
  thread: number;
  at: number;
  final: boolean;
  /** How old the oldest unseen text was (ms). */
  age: number;
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A reply that grows all the time for a minute, shown as the rateLimiter allows. */
async function reply(
  thread: number,
  rateLimiter: RateLimiter,
  spacing: EditSpacing,
  edits: Edit[],
): Promise<void> {
  const end = performance.now() + ANSWER_MS;
  let shownUntil = performance.now();
  let blank = true;
  const state = () => ({ isFinal: performance.now() >= end, isBlank: blank, unseenSinceMs: shownUntil });
  for (let over = false; !over; ) {
    await rateLimiter.run(
      'chat.update',
      {
        priority: () => editPriority(state()),
        notBefore: () => spacing.notBefore('C1', String(thread), state().isFinal),
      },
      async () => {
        over = state().isFinal;
        const at = performance.now();
        edits.push({ thread, at, final: over, age: at - shownUntil });
        shownUntil = at;
        blank = false;
        await new Promise((resolve) => setTimeout(resolve, CALL_MS));
        spacing.recordChange('C1', String(thread));
      },
    );
  }
}

async function simulate(
  threads: number,
  processes: number,
): Promise<{ edits: Edit[]; end: number; asked: number }> {
  const store = new InMemoryRateLimits();
  const edits: Edit[] = [];
  const start = performance.now();
  const all = Array.from({ length: processes }, (_, process) => {
    const rateLimiter = new RateLimiter({
      workspace: 'T1',
      store,
      rateLimits: rateLimitTable(),
      log: silentLog,
    });
    const spacing = new EditSpacing();
    const mine = Array.from({ length: threads / processes }, (_, index) => process * threads + index);
    return mine.map((thread) => reply(thread, rateLimiter, spacing, edits));
  });
  await vi.advanceTimersByTimeAsync(180_000);
  await Promise.all(all.flat());
  return { edits, end: start + ANSWER_MS, asked: store.asked };
}

test.each([
  { threads: 10, processes: 1 },
  { threads: 10, processes: 2 },
  { threads: 30, processes: 3 },
])('$threads replies in $processes processes stay within 50 edits in any minute', async (scene) => {
  const { edits, asked } = await simulate(scene.threads, scene.processes);
  expect(maxPerMinute(edits.map((edit) => edit.at))).toBeLessThanOrEqual(50);
  // Requests arrive up to a second late, each by another time.
  const arrivals = edits.map((edit, index) => edit.at + ((index * 397) % 1_000));
  expect(maxPerMinute(arrivals)).toBeLessThanOrEqual(50);
  expect(edits.length).toBeGreaterThan(44);
  // Nobody polls: about one question and one wait for each permit and process.
  expect(asked).toBeLessThan(edits.length * 2 * scene.processes + 20 * scene.processes);
});

test('unseen text of 10 replies ages evenly, close to the minimum that the limit allows', async () => {
  const { edits, end } = await simulate(10, 1);
  const fair = (10 * 60_000) / 44;
  const ages = edits.filter((edit) => !edit.final && edit.at > end - 40_000).map((edit) => edit.age);
  expect(Math.max(...ages)).toBeLessThan(fair * 1.15);
  const perThread = Map.groupBy(edits, (edit) => edit.thread);
  const counts = [...perThread.values()].map((own) => own.length);
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
});

test('10 replies that end together show their final text as fast as the limit allows', async () => {
  const { edits, end } = await simulate(10, 1);
  const finals = edits.filter((edit) => edit.final);
  expect(finals).toHaveLength(10);
  expect(Math.max(...finals.map((edit) => edit.at)) - end).toBeLessThan((10 * 60_000) / 44);
});

test('live edits of a message are 3 s apart, and a single reply gets one every 3 s', async () => {
  const { edits } = await simulate(1, 1);
  const gaps = edits.slice(1).map((edit, index) => edit.at - (edits[index]?.at ?? 0));
  const live = gaps.slice(0, -1);
  expect(Math.min(...live)).toBeGreaterThanOrEqual(3_000);
  expect(Math.max(...live)).toBeLessThan(3_300);
});
