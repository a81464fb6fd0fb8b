import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { AgentClient } from '../../../src/agent/agent-client.ts';
import { AgentError } from '../../../src/agent/errors.ts';
import {
  type Message as AgentMessage,
  messageSchema,
  taskSchema,
} from '../../../src/agent/service-schema.ts';
import { ReplyReader, type SettledReply } from '../../../src/relay/replies/reply-reader.ts';
import { ReadRate } from '../../../src/relay/runtime/read-rate.ts';
import { ReplyMemory } from '../../../src/relay/runtime/reply-memory.ts';
import { SETTINGS_ACCOUNT } from '../../../src/store/workspaces/accounts.ts';

const never = new AbortController().signal;
const task = { id: 't', created_at: '2026-01-01T00:00:00Z', project_id: 'p', platform: null };
const lease = { signal: never, draining: never, remainingMs: () => 8_000 };
const unstopped = { isStopped: () => false, onAnswered: () => undefined, otherReplies: async () => [] };
const memory = new ReplyMemory().of({ workspace: 'T1', id: 'turn' }, SETTINGS_ACCOUNT);

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout', 'Date'] }));
afterEach(() => void vi.useRealTimers());

/** A reply in this state. */
function reply(status: string, said: string, isToolCall = false): AgentMessage {
  const ids = { id: 'm', task_id: 't', created_at: '2026-01-01T00:00:00Z' };
  const empty = { stop_reason: null, finish_reason: null, started_at: null, completed_at: null, error: null };
  const call = { type: 'tool_use', id: said, name: 'run_python', input: {} };
  const content = [isToolCall ? call : { type: 'text', text: said }];
  return messageSchema.parse({ ...ids, ...empty, role: 'assistant', platform: null, status, content });
}

/** A reader of a reply: `reads` counts, `end` is set once the reader knows the end, `beforeAnswer` delays or fails a read. */
async function startReader({ live = 1, grows = true, callsTools = false }) {
  const rate = new ReadRate(20);
  for (let other = 1; other < live; other += 1) rate.join();
  const scene = {
    reads: 0,
    grows,
    completed: false,
    end: undefined as SettledReply | undefined,
    beforeAnswer: undefined as (() => Promise<never>) | undefined,
    taskStatus: 'running',
  };
  const agent = new AgentClient({ baseUrl: 'https://service.example', apiKey: 'key' });
  vi.spyOn(agent, 'getMessage').mockImplementation(async () => {
    scene.reads += 1;
    await scene.beforeAnswer?.();
    const said = scene.grows ? 'x'.repeat(scene.reads) : 'x';
    return reply(scene.completed ? 'completed' : 'streaming', said, callsTools);
  });
  vi.spyOn(agent, 'getTask').mockImplementation(async () =>
    taskSchema.parse({ ...task, status: scene.taskStatus }),
  );
  const answered = {
    ...unstopped,
    agent,
    taskId: 't',
    userMessageId: 'u',
    rate,
    lease,
    settledTaskMs: 60_000,
  };
  const reader = new ReplyReader(answered, 'm', { memory, onRead: () => undefined });
  void reader.readToEnd().then(
    (end) => {
      scene.end = end;
    },
    () => undefined,
  );
  return { scene, reader, rate };
}

describe('the end of a reply that an edit has read', () => {
  test.each([
    ['a reply that grows', { live: 1, grows: true }],
    ['a growing reply among a hundred', { live: 100, grows: true }],
    ['a silent reply', { live: 1, grows: false }],
  ])('is known at once, and is not read again: %s', async (_, options) => {
    const { scene, reader } = await startReader(options);
    await vi.advanceTimersByTimeAsync(20_020);
    const before = scene.reads;
    await vi.advanceTimersByTimeAsync(450);
    scene.completed = true;
    await reader.refresh();
    await vi.advanceTimersByTimeAsync(0);
    expect(scene.end?.reply.status).toBe('completed');
    expect(scene.reads - before).toBeLessThanOrEqual(1);
  });

  test('ends the wait for a permit', async () => {
    const { scene, reader, rate } = await startReader({});
    await vi.advanceTimersByTimeAsync(450);
    for (let turn = 0; turn < 1_000; turn += 1) void rate.acquire(lease);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(scene.end).toBeUndefined();
    scene.completed = true;
    const edit = reader.refresh();
    await vi.advanceTimersByTimeAsync(60);
    await edit;
    expect([scene.end?.reply.status, scene.reads]).toEqual(['completed', 2]);
  });
});

test('an edit whose read gets no permit waits at most one second', async () => {
  const { scene, reader, rate } = await startReader({});
  await vi.advanceTimersByTimeAsync(450);
  const before = scene.reads;
  rate.pauseFor(30_000);
  let shows = false;
  void reader.refresh().then(() => {
    shows = true;
  });
  await vi.advanceTimersByTimeAsync(900);
  expect(shows).toBe(false);
  await vi.advanceTimersByTimeAsync(200);
  expect([shows, scene.reads]).toEqual([true, before]);
});

test('a read for an edit serves the reader of the reply, too', async () => {
  const { scene, reader } = await startReader({});
  await vi.advanceTimersByTimeAsync(10);
  const before = scene.reads;
  for (let edit = 0; edit < 10; edit += 1) {
    await vi.advanceTimersByTimeAsync(450);
    await reader.refresh();
  }
  expect(scene.reads - before).toBe(10);
});

test('a silent reply that an edit finds growing is read at the usual pace again', async () => {
  const { scene, reader } = await startReader({ grows: false });
  await vi.advanceTimersByTimeAsync(60_000);
  scene.grows = true;
  await vi.advanceTimersByTimeAsync(500);
  await reader.refresh();
  const before = scene.reads;
  await vi.advanceTimersByTimeAsync(4_100);
  expect(scene.reads - before).toBe(8);
});

test('a reply is read twice a second while its text grows, and once a second while it calls tools', async () => {
  const writes = await startReader({});
  const works = await startReader({ callsTools: true });
  await vi.advanceTimersByTimeAsync(10_100);
  expect([writes.scene.reads, works.scene.reads]).toEqual([21, 11]);
});

test.each([
  ['is unavailable', new AgentError('unavailable', { sentence: 'Away.', outcome: 'not_sent' })],
  ['rejects the key', new AgentError('bad_key', { sentence: 'Refused.', outcome: 'refused' })],
])('an edit whose read fails because the service %s shows the last read', async (_, error) => {
  const { scene, reader } = await startReader({});
  await vi.advanceTimersByTimeAsync(450);
  scene.beforeAnswer = async () => {
    throw error;
  };
  await reader.refresh();
  expect(scene.reads).toBe(2);
});

test('an edit whose read hangs waits at most one second', async () => {
  const { scene, reader } = await startReader({});
  await vi.advanceTimersByTimeAsync(450);
  const { promise, reject } = Promise.withResolvers<never>();
  scene.beforeAnswer = () => promise;
  let shows = false;
  void reader.refresh().then(() => {
    shows = true;
  });
  await vi.advanceTimersByTimeAsync(900);
  expect(shows).toBe(false);
  await vi.advanceTimersByTimeAsync(200);
  expect(shows).toBe(true);
  reject(new AgentError('unavailable', { sentence: 'Away.', outcome: 'not_sent' }));
  await vi.advanceTimersByTimeAsync(0);
});

describe('a reply that never settles', () => {
  test.each(['cancelled', 'failed', 'completed'])('ends a minute after its task: %s', async (status) => {
    const { scene } = await startReader({ grows: false });
    await vi.advanceTimersByTimeAsync(30_000);
    scene.taskStatus = status;
    await vi.advanceTimersByTimeAsync(58_000);
    expect(scene.end).toBeUndefined();
    await vi.advanceTimersByTimeAsync(30_000);
    expect(scene.end).toMatchObject({ isReplySettled: false, reply: { status, blocks: [{ kind: 'text' }] } });
  });

  test('is waited for while its task works, or while it grows', async () => {
    const silent = await startReader({ grows: false });
    const growing = await startReader({ grows: true });
    growing.scene.taskStatus = 'cancelled';
    await vi.advanceTimersByTimeAsync(600_000);
    expect([silent.scene.end, growing.scene.end]).toEqual([undefined, undefined]);
  });

  test('is waited for where its task begins to work again, and settles itself', async () => {
    const { scene } = await startReader({ grows: false });
    scene.taskStatus = 'completed';
    await vi.advanceTimersByTimeAsync(50_000);
    scene.taskStatus = 'running';
    await vi.advanceTimersByTimeAsync(20_000);
    scene.taskStatus = 'completed';
    await vi.advanceTimersByTimeAsync(50_000);
    expect(scene.end).toBeUndefined();
    scene.completed = true;
    await vi.advanceTimersByTimeAsync(6_000);
    expect(scene.end).toMatchObject({ isReplySettled: true, reply: { status: 'completed' } });
  });
});
