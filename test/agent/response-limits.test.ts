import type { ServerResponse } from 'node:http';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  isJsonWithinLimits,
  type ResponseLimits,
  ResponseReader,
  WORKSPACE_RESPONSE_LIMITS,
} from '../../src/agent/response-limits.ts';
import { DEFAULT_SERVICE_OPTIONS } from '../../src/agent/service-options.ts';
import { clientOf, localServer } from '../support/local-server.ts';

const bounds: ResponseLimits = {
  maxBytes: 4_000,
  maxValues: 100,
  maxConcurrentBytes: 6_000,
  maxListBytes: 5_000,
  bytesPerSecond: 1_000_000,
};
const task = { id: 't1', type: 'task', created_at: 'c', status: 'idle', project_id: 'p', title: 'T' };
const message = (id: string, text: string) => ({
  id,
  task_id: 't1',
  created_at: 'c',
  role: 'user',
  content: [{ type: 'text', text }],
});

describe('a response of a service with limits', () => {
  test.each([
    ['of more bytes', JSON.stringify({ ...task, title: 'x'.repeat(4_001) })],
    ['of more values', JSON.stringify({ ...task, more: Array.from({ length: 99 }, () => 0) })],
    ['that is deeper', JSON.stringify(task).replace('"T"', `${'['.repeat(100)}${']'.repeat(100)}`)],
  ])('%s than is read is refused, and the next one is read', async (_what, text) => {
    let first = true;
    await using server = await localServer((_, response) => {
      response.end(first ? text : JSON.stringify(task));
      first = false;
    });
    const client = clientOf(server.origin, { responseLimits: bounds });
    await expect(client.getTask('t1')).rejects.toMatchObject({
      code: 'not_understood',
      message: expect.stringMatching(/is too large to read .* in a new thread/),
    });
    expect(await client.getTask('t1')).toMatchObject({ id: 't1' });
  });

  test('is abandoned if it never ends', async () => {
    let open = true;
    await using server = await localServer((request, response) => {
      request.socket.on('close', () => {
        open = false;
      });
      const pour = () => {
        while (response.write('x'.repeat(1_000)));
        response.once('drain', pour);
      };
      pour();
    });
    const client = clientOf(server.origin, { responseLimits: { ...bounds, maxConcurrentBytes: 1_000_000 } });
    await expect(client.getTask('t1')).rejects.toMatchObject({ code: 'not_understood' });
    await expect.poll(() => open).toBe(false);
  });

  test('waits while other responses use the memory, and is requested once', async () => {
    const text = JSON.stringify({ ...task, title: 'x'.repeat(3_500) });
    const begun: ServerResponse[] = [];
    await using server = await localServer((_, response) => {
      begun.push(response);
      response.write(text.slice(0, 3_400));
      if (begun.length === 3) setTimeout(() => begun.map((one) => one.end(text.slice(3_400))), 50);
    });
    const client = clientOf(server.origin, { responseLimits: bounds });
    const read = await Promise.all(['t1', 't2', 't3'].map((id) => client.getTask(id)));
    expect(read).toHaveLength(3);
    expect(server.requests).toHaveLength(3);
  });

  test('times out while it waits for memory, and leaves the memory to others', async () => {
    let isStuck = true;
    await using server = await localServer((_, response) => {
      if (!isStuck) response.end(JSON.stringify({ ...task, title: 'x'.repeat(3_500) }));
      else response.write('x'.repeat(3_400));
    });
    const client = clientOf(server.origin, {
      responseLimits: bounds,
      timeouts: { requestMs: 1_000 },
      retry: { maxAttempts: 1 },
    });
    const reading = ['t1', 't2', 't3'].map((id) => client.getTask(id));
    expect(await Promise.allSettled(reading)).toMatchObject(
      reading.map(() => ({ status: 'rejected', reason: { code: 'unavailable' } })),
    );
    isStuck = false;
    expect(await client.getTask('t1')).toMatchObject({ id: 't1' });
  });

  test('causes a pause before the next request if it is large', async () => {
    const reader = new ResponseReader({ ...bounds, bytesPerSecond: 100 });
    const { Readable } = await import('node:stream');
    await reader.readText(Readable.from([Buffer.alloc(700)]));
    expect(reader.waitMs()).toBe(0);
    const read = performance.now();
    await reader.readText(Readable.from([Buffer.alloc(300)]));
    expect(reader.waitMs(read)).toBeGreaterThan(1_500);
    expect(reader.waitMs(performance.now() + 2_100)).toBe(0);
  });

  test('is read up to the limit of a list if the list never ends', async () => {
    let page = 0;
    await using server = await localServer((_, response) => {
      page += 1;
      const data = [message(`m${page}`, 'y'.repeat(1_000))];
      response.end(JSON.stringify({ data, has_more: true, first_id: null, last_id: null }));
    });
    const client = clientOf(server.origin, { responseLimits: bounds });
    const walk = async () => {
      for await (const _ of client.messagesAfter('t1', 'm0'));
    };
    await expect(walk()).rejects.toMatchObject({ message: expect.stringContaining('too large to read') });
    expect(page).toBe(5);
  });
});

describe("a thread of long answers at a workspace's own service", () => {
  const threeMillionBytes = '\\u0436'.repeat(500_000);

  /** A service whose task has so many answers; `limit` counts them. */
  async function longThread(count: number, text: string) {
    const all = Array.from({ length: count }, (_, index) =>
      JSON.stringify(message(`m${index}`, '#')).replace('#', () => text),
    );
    return await localServer(({ url }, response) => {
      const { pathname, searchParams } = new URL(url ?? '', 'http://service');
      const at = (name: string) => Number((searchParams.get(name) ?? '').slice(1));
      if (!pathname.endsWith('/messages')) return response.end(all[0]);
      const limit = Number(searchParams.get('limit') ?? 200);
      const from = searchParams.has('after_id') ? at('after_id') + 1 : 0;
      const to = searchParams.has('before_id') ? at('before_id') : count;
      const page = searchParams.has('after_id')
        ? all.slice(from, Math.min(to, from + limit))
        : all.slice(Math.max(0, to - limit), to);
      const more = page.length < to - from;
      return response.end(`{"data":[${page.join()}],"has_more":${more},"first_id":null,"last_id":null}`);
    });
  }

  test('returns its last message', async () => {
    await using server = await longThread(8, threeMillionBytes);
    const client = clientOf(server.origin, { responseLimits: WORKSPACE_RESPONSE_LIMITS });
    expect((await client.lastMessage('t1'))?.id).toBe('m7');
  });

  test('returns every later message, in either direction', async () => {
    // A hundredth of such a service's, and of its answers.
    await using server = await longThread(9, '\\u0436'.repeat(5_000));
    const { maxBytes, maxListBytes } = WORKSPACE_RESPONSE_LIMITS;
    const bounds = {
      ...WORKSPACE_RESPONSE_LIMITS,
      maxBytes: maxBytes / 100,
      maxListBytes: maxListBytes / 100,
      bytesPerSecond: Number.POSITIVE_INFINITY,
    };
    for (const messagesAfter of ['forward', 'backward'] as const) {
      const client = clientOf(server.origin, {
        responseLimits: bounds,
        serviceOptions: { ...DEFAULT_SERVICE_OPTIONS, messagesAfter },
      });
      const found: string[] = [];
      for await (const { id } of client.messagesAfter('t1', 'm1')) found.push(id);
      expect(found).toEqual(['m2', 'm3', 'm4', 'm5', 'm6', 'm7', 'm8']);
    }
  });

  test('returns a reply of the maximum length, however its characters are escaped', async () => {
    await using server = await longThread(1, '\\ud83d\\ude00'.repeat(500_000));
    const client = clientOf(server.origin, { responseLimits: WORKSPACE_RESPONSE_LIMITS });
    const [block] = (await client.getMessage('t1', 'm0')).content;
    expect(block).toMatchObject({ text: '\u{1f600}'.repeat(500_000) });
  });
});

describe('a JSON text', () => {
  test('is counted by its values, whatever its strings contain', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.string(), (value, text) => {
        const json = JSON.stringify([value, text]);
        const count = valuesIn(JSON.parse(json));
        expect(isJsonWithinLimits(json, count)).toBe(true);
        const more = JSON.stringify([value, text, '[{,"\\'.repeat(50)]);
        expect(isJsonWithinLimits(more, count + 1)).toBe(true);
        expect(isJsonWithinLimits(json, count - 1)).toBe(false);
      }),
    );
  });

  test('is checked in time linear to its length, whatever it contains', () => {
    const size = WORKSPACE_RESPONSE_LIMITS.maxBytes;
    for (const text of [
      '"\\'.repeat(size / 2),
      `"${'\\'.repeat(size)}"`,
      '[]'.repeat(size / 2),
      'x'.repeat(size),
    ]) {
      // By the square of its length this would take hours.
      expect(isJsonWithinLimits(text, WORKSPACE_RESPONSE_LIMITS.maxValues)).toBe(
        text.startsWith('[]') === false,
      );
    }
  });
});

/** Lists, objects, and the commas between what they hold. */
function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const held: unknown[] = Object.values(value);
  return 1 + Math.max(0, held.length - 1) + held.reduce<number>((sum, one) => sum + valuesIn(one), 0);
}
