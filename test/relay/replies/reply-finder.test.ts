import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { AgentClient } from '../../../src/agent/agent-client.ts';
import {
  type Message as AgentMessage,
  messageSchema,
  taskSchema,
} from '../../../src/agent/service-schema.ts';
import { findReply } from '../../../src/relay/replies/reply-reader.ts';
import { ReadRate } from '../../../src/relay/runtime/read-rate.ts';

const never = new AbortController().signal;
const task = { id: 't', created_at: '2026-01-01T00:00:00Z', project_id: 'p', platform: null };
const lease = { signal: never, draining: never, remainingMs: () => 8_000 };
const unstopped = { isStopped: () => false, onAnswered: () => undefined, otherReplies: async () => [] };

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout', 'Date'] }));
afterEach(() => void vi.useRealTimers());

/** A reply in this state. */
function reply(status: string, said: string): AgentMessage {
  const ids = { id: 'm', task_id: 't', created_at: '2026-01-01T00:00:00Z' };
  const empty = { stop_reason: null, finish_reason: null, started_at: null, completed_at: null, error: null };
  const content = [{ type: 'text', text: said }];
  return messageSchema.parse({ ...ids, ...empty, role: 'assistant', platform: null, status, content });
}

describe('a task that shows itself settled without a reply', () => {
  /** A search for a reply that the service shows from `replyAtMs` on. */
  async function startSearch(replyAtMs: number, settledMs?: () => number, status = 'completed') {
    const agent = new AgentClient({ baseUrl: 'https://service.example', apiKey: 'key' });
    const scene = { end: 'searching' as string | undefined, isStopped: false };
    const start = performance.now();
    vi.spyOn(agent, 'messagesAfter').mockImplementation(async function* () {
      if (performance.now() - start >= replyAtMs) yield reply('streaming', 'x');
    });
    vi.spyOn(agent, 'getTask').mockImplementation(async () => taskSchema.parse({ ...task, status }));
    const own = {
      ...unstopped,
      isStopped: () => scene.isStopped,
      agent,
      taskId: 't',
      userMessageId: 'u',
      rate: new ReadRate(20),
      lease,
      settledTaskMs: 60_000,
    };
    void findReply(own, settledMs).then((found) => {
      scene.end = found;
    });
    return scene;
  }

  test('is searched for a minute: its status may lag', async () => {
    const late = await startSearch(55_000);
    const never = await startSearch(Number.POSITIVE_INFINITY);
    await vi.advanceTimersByTimeAsync(54_000);
    expect([late.end, never.end]).toEqual(['searching', 'searching']);
    await vi.advanceTimersByTimeAsync(4_000);
    expect([late.end, never.end]).toEqual(['m', 'searching']);
    await vi.advanceTimersByTimeAsync(6_000);
    expect(never.end).toBeUndefined();
  });

  test('is searched for a minute where the service calls it idle', async () => {
    const never = await startSearch(Number.POSITIVE_INFINITY, undefined, 'idle');
    await vi.advanceTimersByTimeAsync(58_000);
    expect(never.end).toBe('searching');
    await vi.advanceTimersByTimeAsync(6_000);
    expect(never.end).toBeUndefined();
  });

  test('is searched for some seconds after a stop, unless it is known to work', async () => {
    const [odd, running] = [
      await startSearch(Number.POSITIVE_INFINITY, undefined, 'paused'),
      await startSearch(Number.POSITIVE_INFINITY, undefined, 'running'),
    ];
    await vi.advanceTimersByTimeAsync(90_000);
    expect(odd.end).toBe('searching');
    for (const scene of [odd, running]) scene.isStopped = true;
    await vi.advanceTimersByTimeAsync(7_000);
    expect([odd.end, running.end]).toEqual([undefined, 'searching']);
  });

  test('is searched for some seconds where nothing more is expected of it', async () => {
    const never = await startSearch(Number.POSITIVE_INFINITY, () => 3_000);
    await vi.advanceTimersByTimeAsync(2_500);
    expect(never.end).toBe('searching');
    await vi.advanceTimersByTimeAsync(3_000);
    expect(never.end).toBeUndefined();
  });
});

describe('a message that names none, in a later turn', () => {
  const unnamed = (id: string, answers?: string) => {
    const input = answers === undefined ? null : { user_message_id: answers, file_ids: [] };
    return messageSchema.parse({ ...task, id, task_id: 't', role: 'assistant', content: [], input });
  };
  const search = async ({ isNamed, listed }: { isNamed: boolean; listed: () => AgentMessage[] }) => {
    const agent = new AgentClient({ baseUrl: 'https://service.example', apiKey: 'key' });
    const scene = { end: 'searching' as string | undefined, status: 'running' };
    vi.spyOn(agent, 'messagesAfter').mockImplementation(async function* () {
      yield* listed();
    });
    vi.spyOn(agent, 'getMessage').mockImplementation(async () => unnamed('r1', isNamed ? 'u1' : undefined));
    vi.spyOn(agent, 'getTask').mockImplementation(async () =>
      taskSchema.parse({ ...task, status: scene.status, reviews: [{ message_id: 'review' }] }),
    );
    const known = { agent, taskId: 't', userMessageId: 'u2', rate: new ReadRate(20), lease };
    const own = { ...known, ...unstopped, settledTaskMs: 60_000 };
    void findReply({ ...own, otherReplies: async () => ['r1'] }).then((found) => {
      scene.end = found;
    });
    await vi.advanceTimersByTimeAsync(5_000);
    return scene;
  };

  test('is no answer where it holds the findings of a review, or is the reply before', async () => {
    for (const isNamed of [true, false]) {
      const listed = [unnamed('r1'), unnamed('review')];
      const scene = await search({ isNamed, listed: () => listed });
      expect(scene.end).toBe('searching');
      listed.push(unnamed('r2', isNamed ? 'u2' : undefined));
      await vi.advanceTimersByTimeAsync(5_000);
      expect(scene.end).toBe('r2');
    }
  });

  test('is the answer at once where the reply before names none, else once the task has settled', async () => {
    const listed = () => [unnamed('r2')];
    expect((await search({ isNamed: false, listed })).end).toBe('r2');
    const scene = await search({ isNamed: true, listed });
    expect(scene.end).toBe('searching');
    scene.status = 'completed';
    await vi.advanceTimersByTimeAsync(65_000);
    expect(scene.end).toBe('r2');
  });
});

test('each look that the service answers is told, however long the reply is not there', async () => {
  const agent = new AgentClient({ baseUrl: 'https://service.example', apiKey: 'key' });
  const scene = { isAway: false, answered: 0, failure: '' };
  vi.spyOn(agent, 'messagesAfter').mockImplementation(async function* () {
    if (scene.isAway) throw new Error('away');
    yield* [];
  });
  vi.spyOn(agent, 'getTask').mockImplementation(async () => taskSchema.parse({ ...task, status: 'running' }));
  const onAnswered = () => {
    scene.answered += 1;
  };
  const known = { agent, taskId: 't', userMessageId: 'u', rate: new ReadRate(20), lease };
  void findReply({ ...known, ...unstopped, onAnswered, settledTaskMs: 60_000 }).catch((error: unknown) => {
    scene.failure = String(error);
  });
  await vi.advanceTimersByTimeAsync(10_000);
  const before = scene.answered;
  scene.isAway = true;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(before).toBeGreaterThan(5);
  expect([scene.answered, scene.failure]).toEqual([before, 'Error: away']);
});

test('the search for replies that have not begun stays within the read rate', async () => {
  const rate = new ReadRate(20);
  const agent = new AgentClient({ baseUrl: 'https://service.example', apiKey: 'key' });
  let reads = 0;
  vi.spyOn(agent, 'messagesAfter').mockImplementation(async function* () {
    reads += 1;
    yield* [];
  });
  vi.spyOn(agent, 'getTask').mockImplementation(async () => {
    reads += 1;
    return taskSchema.parse({ ...task, status: 'running' });
  });
  for (let thread = 0; thread < 100; thread += 1) {
    const own = {
      ...unstopped,
      agent,
      taskId: 't',
      userMessageId: `u${thread}`,
      rate,
      lease,
      settledTaskMs: 60_000,
    };
    void findReply(own);
  }
  await vi.advanceTimersByTimeAsync(0);
  const before = reads;
  await vi.advanceTimersByTimeAsync(20_000);
  expect(reads - before).toBeGreaterThan(390);
  expect(reads - before).toBeLessThanOrEqual(402);
});
