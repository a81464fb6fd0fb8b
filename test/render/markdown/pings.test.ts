import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { neutralizePings, pingCost, restorePings, WORD_JOINER } from '../../../src/render/markdown/pings.ts';
import { withinMs } from '../../support/busy-machine.ts';

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
  'https://one.example@two.example/a',
  'www.one.example@two.example',
];
const disguisedLinks = [
  '[https://one.example](https://two.example)',
  '[https://one.example](<https://two.example>)',
  '[https://one.example/a](https://one.example/b "title")',
  '[**https://one.example**](https://two.example)',
  '[[https://one.example]](https://two.example/a_(b))',
  '[see\\] https://one.example](https://two.example)',
  '[<https://one.example>](https://two.example)',
  '[www.one.example](https://two.example)',
  '[one.org](https://one.org@two.example)',
  '[login.company.io](https://two.example)',
  '[sign in at google.com](https://two.example)',
  '[Sign in (google&#46;com, again)](https://two.example/google.com)',
  '[go\u200bogle**.com**](https://two.example)',
  '[report.md](https://two.example/r)',
  '[a@one.org](mailto:a@two.example)',
  '[one.org\\\\](https://two.example)',
];
const honestLinks = [
  '[https://one.example](https://one.example/)',
  '[http://www.one.example/a](https://one.example/a/)',
  '[one.org](https://www.one.org/an/article)',
  '[https://one.example/an…](https://one.example/an/article)',
  '[report.md](https://two.example/r/Report.md?raw=1)',
  '[src/run_all.py, line 3](https://two.example/src/run_all.py#L3)',
  '[sign in at www.one.org.](https://one.org)',
  '[see one.org/A_(b).](https://one.org/A_(b))',
  '[ask ada@one.org](mailto:ada@one.org)',
  '[p < 0.05, e.g. U.S. v1.2.3](https://two.example/r)',
  '[the paper](https://two.example/r) and https://one.example',
  'https://one.example [1](https://two.example)',
];
const dangerous =
  /https?:\/\/[^/\s]*@|(?<![\w.-])www\.[^/\s]*@|<!|<(?:https?|mailto):[^>]*\||<@|<#|@(?:channel|here|everyone)\b/i;

/** The time (ms) that this thread itself takes for a text: the shortest of five. */
function timeOf(text: string): number {
  const times = Array.from({ length: 5 }, () => {
    const began = process.threadCpuUsage();
    neutralizePings(text);
    const { user, system } = process.threadCpuUsage(began);
    return (user + system) / 1_000;
  });
  return Math.min(...times);
}

describe('pings', () => {
  test.each(pings)('%s from the agent pings nobody, and can be restored', (ping) => {
    expect(neutralizePings(`see ${ping} now`)).not.toMatch(dangerous);
    expect(restorePings(neutralizePings(`see ${ping} now`))).toBe(`see ${ping} now`);
  });

  test.each(disguisedLinks)('%s shows its true target', (link) => {
    const shown = link
      .replaceAll('](', `]${WORD_JOINER}(`)
      .replace('https://one.org@', `h${WORD_JOINER}ttps://one.org@`);
    expect(neutralizePings(`see ${link}`)).toBe(`see ${shown}`);
  });

  test.each(honestLinks)('%s stays a link', (link) => {
    expect(neutralizePings(link)).toBe(link);
  });

  test('may hide in a label that is too long to be read, which is no link', () => {
    const label = 'a '.repeat(1_001);
    expect(neutralizePings(`[${label}](https://two.example)`)).toBe(
      `[${label}]${WORD_JOINER}(https://two.example)`,
    );
  });

  test('are none in chained hosts but before a user, whichever of them it follows', () => {
    const w = `w${WORD_JOINER}ww`;
    expect(neutralizePings('www.a,www.b www.c,www.d@e.example,www.f www.g/www.h&#64;e.example')).toBe(
      `www.a,www.b ${w}.c,${w}.d@e.example,www.f www.g/${w}.h&#64;e.example`,
    );
  });

  test.each(['www.a,', '](x', '](', '[a](x)', '](<a', '&lt;https:', 'https://a,', '@\u2060', 'w\u2060'])(
    'are looked for in a time that grows with the text, not with its square: %j',
    (shape) => {
      const [short, long] = [10_000, 40_000].map((length) => timeOf(shape.repeat(length / shape.length)));
      // By the square it would be 16 times.
      expect(long).toBeLessThan(7 * (short ?? 0) + withinMs(20));
    },
  );

  test('in any text are neutralised, and the text can be restored', () => {
    const text = fc
      .array(
        fc.oneof(
          fc.constantFrom(...pings, ...disguisedLinks, '](', WORD_JOINER),
          fc.string({ maxLength: 20 }),
        ),
      )
      .map((all) => all.join(' '));
    fc.assert(
      fc.property(text, (all) => {
        expect(neutralizePings(all)).not.toMatch(dangerous);
        expect(restorePings(neutralizePings(all))).toBe(all);
        const room = all
          .split('')
          .map((_, index) => pingCost(all, index))
          .reduce((sum, cost) => sum + cost, 0);
        expect(neutralizePings(all).length - all.length).toBeLessThanOrEqual(room);
      }),
    );
  });
});
