import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { messageSchema } from '../../../src/agent/service-schema.ts';
import { RELAY_LIMITS } from '../../../src/limits.ts';
import { toReadReply } from '../../../src/relay/replies/reply-blocks.ts';
import { ReplyState } from '../../../src/relay/replies/reply-state.ts';
import { messageWaits } from '../../../src/render/strings/index.ts';
import type { Turn } from '../../../src/store/schema.ts';

const second = 1_000;
const hour = 3_600 * second;
const ids = { id: 'm', task_id: 't', created_at: '2026-01-02T17:00:00Z' };
const empty = { stop_reason: null, finish_reason: null, started_at: null, completed_at: null, error: null };
const content = [{ type: 'tool_use', id: 'a', name: 'align', input: { path: 'reads.fastq' } }];
const message = { ...ids, ...empty, role: 'assistant', platform: null, status: 'streaming', content };
const reply = toReadReply(messageSchema.parse(message));

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'Date'] }));
afterEach(() => void vi.useRealTimers());

/** A reply that is read again and again without anything new; `onChange` is called with each change to show. */
function startReply(
  limits: { silenceMs: number; waitingMs: number },
  onChange: () => void = () => undefined,
) {
  const turn = { id: 't', phase: 'following', split_offsets: [], started_at: new Date() } as unknown as Turn;
  const state = new ReplyState(turn, { ...RELAY_LIMITS, allowedTypes: [], refusedTypes: [] }, onChange);
  const readFor = (ms: number) => {
    for (let left = ms; left > 0; left -= 10 * second) {
      state.onRead(reply, limits);
      vi.advanceTimersByTime(10 * second);
    }
  };
  return { state, readFor, shown: () => JSON.stringify(state.render()) };
}

test('the times in the reply of a long run change seldom: they are late by a sixtieth at most', () => {
  const never = Number.POSITIVE_INFINITY;
  const startedAt = Date.now();
  const changes: number[] = [];
  const { readFor } = startReply({ silenceMs: never, waitingMs: never }, () => {
    changes.push(Date.now() - startedAt);
  });
  readFor(60 * hour);
  expect(changes.filter((at) => at < hour).length).toBeGreaterThan(60);
  expect(changes.length).toBeLessThan(400);
  const isLate = changes.map((at, index) => {
    const before = changes[index - 1] ?? 0;
    return at - before > Math.max(30 * second, before / 60) + 20 * second;
  });
  expect(isLate).not.toContain(true);
});

test('a silence is told with the time that it has lasted, and not in place of what was said later', () => {
  const { state, readFor, shown } = startReply(RELAY_LIMITS);
  readFor(3 * 60 * second);
  expect(shown()).toContain('No news from the agent for 2 min');
  readFor(9 * hour);
  expect(shown()).toMatch(/No news from the agent for (8 h 5\d|9 h \d) min/);
  state.update({ sentence: messageWaits });
  readFor(hour);
  expect(shown()).toContain(messageWaits);
  expect(shown()).not.toContain('No news');
});
