import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRetryAfter } from '../../src/calls/retries-and-waits.ts';

describe('parseRetryAfter', () => {
  const sentAt = 'Sat, 21 Nov 2026 00:00:00 GMT';

  test.each([
    ['3', 3000],
    ['0', 0],
    ['1.5', 1500],
    ['Sat, 21 Nov 2026 00:00:07 GMT', 7000],
    ['Fri, 20 Nov 2026 00:00:00 GMT', 0],
    ['1790000000', 3_600_000],
    ['Sat, 21 Nov 2099 00:00:00 GMT', 3_600_000],
    ['soon', undefined],
    ['-4', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('reads %j as %j ms', (header, ms) => {
    expect(parseRetryAfter(header, sentAt)).toBe(ms);
  });

  test.each(['', 'today', undefined])('counts a date by our clock where the server says %j', (date) => {
    const inTime = new Date(Date.now() + 60_000).toUTCString();
    expect(parseRetryAfter(inTime, date)).toBeGreaterThan(30_000);
    expect(parseRetryAfter('Sat, 21 Nov 2015 00:00:00 GMT', date)).toBe(0);
  });

  test('never returns a negative or invalid number', () => {
    fc.assert(
      fc.property(fc.string(), (header) => {
        const ms = parseRetryAfter(header, sentAt);
        expect(ms === undefined || (Number.isFinite(ms) && ms >= 0)).toBe(true);
      }),
    );
  });
});
