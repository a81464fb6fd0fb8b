import fc from 'fast-check';
import { expect, test } from 'vitest';
import { uuidV7Generator } from '../../../src/store/queue/uuid-v7.ts';

test('ids are UUIDs of version 7 that increase, whatever the clock does', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 2 ** 47 }), { minLength: 2, maxLength: 200 }), (times) => {
      let index = 0;
      const next = uuidV7Generator(() => times[index++ % times.length] ?? 0);
      const ids = times.map(() => next());
      for (const id of ids)
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(ids).toEqual([...ids].sort());
    }),
  );
});

test('ids still increase when the counter of one millisecond overflows', () => {
  const next = uuidV7Generator(() => 1_792_000_000_000);
  const ids = Array.from({ length: 10_000 }, () => next());
  expect(ids).toEqual([...ids].sort());
  expect(new Set(ids).size).toBe(ids.length);
});

test('an id begins with its time', () => {
  const time = 1_792_000_000_000;
  expect(
    Number.parseInt(
      uuidV7Generator(() => time)()
        .replace('-', '')
        .slice(0, 12),
      16,
    ),
  ).toBe(time);
});
