import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { neutralizePings, restorePings } from '../../../src/render/markdown/pings.ts';

const pings = [
  '<!channel>',
  '<!here>',
  '<!everyone>',
  '<!subteam^S123>',
  '<@U123>',
  '<#C1>',
  '@channel',
  '@here',
  '@everyone',
  '<https://evil.example|google.com>',
  '<mailto:a@evil.example|google.com>',
];
const dangerous = /<!|<(?:https?|mailto):[^>]*\||<@|<#|@(?:channel|here|everyone)\b/i;

describe('pings', () => {
  test.each(pings)('%s from the agent pings nobody, and can be restored', (ping) => {
    expect(neutralizePings(`see ${ping} now`)).not.toMatch(dangerous);
    expect(restorePings(neutralizePings(`see ${ping} now`))).toBe(`see ${ping} now`);
  });

  test('in any text are neutralised, and the text can be restored', () => {
    const text = fc
      .array(fc.oneof(fc.constantFrom(...pings), fc.string({ maxLength: 20 })))
      .map((all) => all.join(' '));
    fc.assert(
      fc.property(text, (all) => {
        expect(neutralizePings(all)).not.toMatch(dangerous);
        expect(restorePings(neutralizePings(all))).toBe(all);
      }),
    );
  });
});
