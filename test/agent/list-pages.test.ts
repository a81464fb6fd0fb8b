import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AgentError } from '../../src/agent/errors.ts';
import {
  allResults,
  type ListMessages,
  lastMessage,
  messagesBackward,
  messagesForward,
  withSmallerPages,
} from '../../src/agent/list-pages.ts';
import { type Message, messageSchema, resultListSchema } from '../../src/agent/service-schema.ts';

function message(id: string): Message {
  return messageSchema.parse({ id, task_id: 't', created_at: 'c', role: 'user', content: [] });
}

interface Reading {
  readonly count: number;
  /** Messages of a page. */
  readonly size: number;
  readonly inclusive: boolean;
}

/** A service's list of messages m0, m1, ... */
function service({ count, size, inclusive }: Reading): ListMessages {
  const all = Array.from({ length: count }, (_, index) => message(`m${index}`));
  const at = (id: string | undefined) => (id === undefined ? -1 : Number(id.slice(1)));
  const extra = inclusive ? 1 : 0;
  return async ({ afterId, beforeId }) => {
    const range = all.slice(
      afterId === undefined ? 0 : at(afterId) + 1 - extra,
      beforeId === undefined ? count : at(beforeId) + extra,
    );
    const items = afterId === undefined ? range.slice(-size) : range.slice(0, size);
    return {
      items,
      leftOut: 0,
      hasMore: items.length < range.length,
      firstId: items.at(0)?.id ?? null,
      lastId: items.at(-1)?.id ?? null,
    };
  };
}

const readings = fc.record({
  count: fc.integer({ min: 1, max: 30 }),
  size: fc.integer({ min: 2, max: 7 }),
  inclusive: fc.boolean(),
});
async function collected(walk: AsyncIterable<Message>): Promise<Message[]> {
  const found: Message[] = [];
  for await (const next of walk) found.push(next);
  return found;
}

const ids = (messages: readonly Message[]) => messages.map(({ id }) => id);
const numbered = (from: number, to: number) =>
  Array.from({ length: Math.max(0, to - from) }, (_, index) => `m${from + index}`);

describe('a walk through the messages', () => {
  test('returns every later message once and in order, forward and backward, with an inclusive or exclusive cursor', async () => {
    await fc.assert(
      fc.asyncProperty(readings, fc.nat({ max: 29 }), async (reading, from) => {
        const after = Math.min(from, reading.count - 1);
        const list = service(reading);
        const expected = numbered(after + 1, reading.count);
        expect(ids(await collected(messagesForward(list, `m${after}`, {})))).toEqual(expected);
        expect(ids(await collected(messagesBackward(list, `m${after}`, {})))).toEqual(expected);
        expect(ids(await collected(messagesBackward(list, null, {})))).toEqual(numbered(0, reading.count));
      }),
    );
  });

  test('returns the last message', async () => {
    await fc.assert(
      fc.asyncProperty(readings, async (reading) => {
        expect((await lastMessage(service(reading)))?.id).toBe(`m${reading.count - 1}`);
      }),
    );
  });

  test('requests a longer page after one without a further message', async () => {
    const limits: (number | undefined)[] = [];
    const list: ListMessages = async ({ limit }) => {
      limits.push(limit);
      const items = limit === 500 ? [message('m0')] : [];
      return { items, leftOut: 0, hasMore: limit !== 500, firstId: null, lastId: null };
    };
    expect((await lastMessage(list))?.id).toBe('m0');
    expect(limits).toEqual([11, 44, 176, 500]);
  });

  test('reads smaller pages after one that is too large to read', async () => {
    for (const inclusive of [false, true]) {
      const limits: (number | undefined)[] = [];
      const list = withSmallerPages(async (cursor) => {
        limits.push(cursor.limit);
        const size = cursor.limit ?? 200;
        if (size > 2)
          throw new AgentError('not_understood', {
            sentence: 'Too large.',
            outcome: 'unknown',
            isTooLarge: true,
          });
        return await service({ count: 5, size, inclusive })(cursor);
      });
      expect(ids(await collected(messagesBackward(list, 'm0', {})))).toEqual(numbered(1, 5));
      expect(ids(await collected(messagesForward(list, 'm0', {})))).toEqual(numbered(1, 5));
      expect(limits.slice(0, 6)).toEqual([undefined, 50, 13, 4, 2, 2]);
    }
  });

  test('fails if a page of a single event is too large to read', async () => {
    const limits: (number | undefined)[] = [];
    const list = withSmallerPages(async ({ limit }) => {
      limits.push(limit);
      throw new AgentError('not_understood', {
        sentence: 'Too large.',
        outcome: 'unknown',
        isTooLarge: true,
      });
    });
    await expect(lastMessage(list)).rejects.toThrow('Too large.');
    expect(limits).toEqual([11, 3, 2, 1]);
  });

  test('returns later messages alone where the cursor is ignored', async () => {
    const all = service({ count: 5, size: 500, inclusive: false });
    const ignoring: ListMessages = ({ limit }) => all({ limit });
    expect(ids(await collected(messagesForward(ignoring, 'm2', {})))).toEqual(['m3', 'm4']);
  });

  test('ends where a list claims to have more but has none, and fails if all must be readable', async () => {
    const endless: ListMessages = async ({ afterId }) => ({
      ...(await service({ count: 3, size: 2, inclusive: false })({ afterId })),
      hasMore: true,
    });
    expect(ids(await collected(messagesForward(endless, 'm0', {})))).toEqual(['m1', 'm2']);
    const walk = collected(messagesForward(endless, 'm0', { readable: 'all' }));
    await expect(walk).rejects.toMatchObject({ code: 'not_understood' });
  });
});

describe('all results', () => {
  const file = (result_id: string, name: string, size_bytes = 1) => ({ result_id, name, size_bytes });
  const results = (...pages: object[][]) => {
    const left = pages.map((data, at) => resultListSchema.parse({ data, has_more: at < pages.length - 1 }));
    return allResults(async () => {
      const page = left.shift();
      if (page === undefined) throw new Error('There is no further page.');
      return { ...page, bytes: 0, cursor: 'next' };
    }, true);
  };

  test('are all there where one is listed twice', async () => {
    const once = [file('r1', 'a.csv'), file('r2', 'a.csv')];
    const twice = [...once, file('r1', 'a.csv')];
    for (const pages of [[twice], [once, [...twice, file('r3', 'b.csv')]]])
      expect(await results(...pages)).toMatchObject({ isComplete: true });
  });

  test('are not all there where two have one id', async () => {
    for (const other of [file('r1', 'b.csv'), file('r1', 'a.csv', 2)])
      expect(await results([file('r1', 'a.csv'), other])).toMatchObject({ isComplete: false });
  });
});
