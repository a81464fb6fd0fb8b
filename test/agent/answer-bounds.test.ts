import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AnswerBounds, AnswerReader, isModest, tenantBounds } from '../../src/agent/answer-bounds.ts';
import { clientOf, localServer } from './local-server.ts';

const bounds: AnswerBounds = {
  mostBytes: 4_000,
  mostValues: 100,
  atOnceBytes: 6_000,
  listBytes: 5_000,
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

describe('an answer of a service that is bounded', () => {
  it.each([
    ['of more bytes', JSON.stringify({ ...task, title: 'x'.repeat(4_001) })],
    ['of more values', JSON.stringify({ ...task, more: Array.from({ length: 99 }, () => 0) })],
    ['that is deeper', JSON.stringify(task).replace('"T"', `${'['.repeat(100)}${']'.repeat(100)}`)],
  ])('%s than is read is refused, and the next one is read', async (_what, text) => {
    let first = true;
    await using server = await localServer((_, response) => {
      response.end(first ? text : JSON.stringify(task));
      first = false;
    });
    const client = clientOf(server.origin, { bounds });
    await expect(client.getTask('t1')).rejects.toMatchObject({
      code: 'not_understood',
      message: expect.stringContaining('is larger than is read'),
    });
    expect(await client.getTask('t1')).toMatchObject({ id: 't1' });
  });

  it('that pours without end is left', async () => {
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
    const client = clientOf(server.origin, { bounds: { ...bounds, atOnceBytes: 1_000_000 } });
    await expect(client.getTask('t1')).rejects.toMatchObject({ code: 'not_understood' });
    await expect.poll(() => open).toBe(false);
  });

  it('is dropped, to be read later, where many hold too much at once', async () => {
    const half = JSON.stringify({ ...task, title: 'x'.repeat(3_500) });
    let held = 0;
    await using server = await localServer((_, response) => {
      held += 1;
      if (held > 2) response.end(JSON.stringify(task));
      else response.write(half.slice(0, 3_400));
    });
    const client = clientOf(server.origin, { bounds, timeouts: { requestMs: 2_000 } });
    const reading = [client.getTask('t1'), client.getTask('t2')];
    expect(await Promise.any(reading)).toMatchObject({ id: 't1' });
    expect(held).toBe(3);
    await client.close();
    await Promise.allSettled(reading);
  });

  it('that is large is made up for by a pause before the next one is asked for', async () => {
    const reader = new AnswerReader({ ...bounds, bytesPerSecond: 100 });
    const { Readable } = await import('node:stream');
    await reader.text(Readable.from([Buffer.alloc(700)]));
    expect(reader.waitMs()).toBe(0);
    await reader.text(Readable.from([Buffer.alloc(300)]));
    expect(reader.waitMs()).toBeGreaterThan(1_500);
    expect(reader.waitMs(performance.now() + 2_100)).toBe(0);
  });

  it('of a list without end is read as far as lists may go', async () => {
    let page = 0;
    await using server = await localServer((_, response) => {
      page += 1;
      const data = [message(`m${page}`, 'y'.repeat(1_000))];
      response.end(JSON.stringify({ data, has_more: true, first_id: null, last_id: null }));
    });
    const client = clientOf(server.origin, { bounds });
    const walk = async () => {
      for await (const _ of client.messagesAfter('t1', 'm0'));
    };
    await expect(walk()).rejects.toMatchObject({ message: expect.stringContaining('larger than is read') });
    expect(page).toBe(5);
  });
});

describe('a JSON text', () => {
  it('is modest by its values, whatever stands in its strings', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.string(), (value, text) => {
        const json = JSON.stringify([value, text]);
        const count = valuesIn(JSON.parse(json));
        expect(isModest(json, count)).toBe(true);
        const more = JSON.stringify([value, text, '[{,"\\'.repeat(50)]);
        expect(isModest(more, count + 1)).toBe(true);
        expect(isModest(json, count - 1)).toBe(false);
      }),
    );
  });

  it('that is judged is judged fast, however it is made', () => {
    const size = tenantBounds.mostBytes;
    for (const text of [
      '"\\'.repeat(size / 2),
      `"${'\\'.repeat(size)}"`,
      '[]'.repeat(size / 2),
      'x'.repeat(size),
    ]) {
      const since = performance.now();
      isModest(text, tenantBounds.mostValues);
      expect(performance.now() - since).toBeLessThan(500);
    }
  });
});

/** Lists, objects, and the commas between what they hold. */
function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const held: unknown[] = Object.values(value);
  return 1 + Math.max(0, held.length - 1) + held.reduce<number>((sum, one) => sum + valuesIn(one), 0);
}
