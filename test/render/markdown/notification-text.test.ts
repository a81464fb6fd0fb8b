import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fallbackText } from '../../../src/render/markdown/notification-text.ts';
import { truncateBytes } from '../../../src/render/markdown/pings.ts';
import { markdownArbitrary } from '../../support/markdown-arbitrary.ts';

describe('the text for notifications', () => {
  test.each([
    ['## Result\n\n**All** is `well`.', 'Result\n\nAll is well.'],
    ['```python\nprint(1)\n```', 'print(1)'],
    ['See [the paper](https://example.org/a "title").', 'See the paper.'],
    ['| a | b |\n| --- | :-: |\n| 1 | 2 |', 'a; b\n1; 2'],
    [
      'n:\n\n> | a | b\\|c\n> |---|---|\n> | `x` | **1.8** |\n\n|x| > 1',
      'n:\n\na; b|c\nx; 1.8\n\n|x| &gt; 1',
    ],
    ['a\n- - -\nb\n***\n-- c', 'a\nb\n-- c'],
    ['| a | b |\n|-|-|\n| - | - |\n| 1 | |\nc', 'a; b\n-; -\n1; \nc'],
    ['a < b & c', 'a &lt; b &amp; c'],
    ['10 &micro;L, `&micro;`', '10 µL, &amp;micro;'],
    ['p &lt; 0.05, R&amp;D, &amp;lt;', 'p &lt; 0.05, R&amp;D, &amp;lt;'],
    ['R&amp;D: `&amp;`, `a && b`', 'R&amp;D: &amp;amp;, a &amp;&amp; b'],
    ['```html\n&lt;\n```\n&lt;', '&amp;lt;\n&lt;'],
    ['```\n```', '…'],
    ['```pip install x``` first\n~~~ `a`\nb', 'pip install x first\nb'],
    ['BP: _____/_____ mmHg', 'BP: _____/_____ mmHg'],
    ['__/__/____, __%, (__/10); ___a b___', '__/__/____, __%, (__/10); a b'],
    ['```ls``` first\n10 &micro;L', 'ls first\n10 µL'],
    ['**C[C@@H](N)C(=O)O** and 2**10, ACGT____ACGT', 'C[C@@H](N)C(=O)O and 2**10, ACGT____ACGT'],
    [
      'p<0.01**, q<0.001***, **kwargs; **/*.py, __init__',
      'p&lt;0.01**, q&lt;0.001***, **kwargs; **/*.py, __init__',
    ],
    ['**Run `npm install` first** **`code`**: x', 'Run npm install first code: x'],
    [
      '**"Quoted"** text, **:warning: Caution**, **.env**, **/etc/hosts**, **Gene**s',
      '"Quoted" text, :warning: Caution, .env, /etc/hosts, Genes',
    ],
    [`'***' 0.001 '**' 0.01, “**” or "**"`, `'***' 0.001 '**' 0.01, “**” or "**"`],
    ['**Note:**text, x:**2 and y**2', 'Note:text, x:**2 and y**2'],
    ['***TP53*** and CYP2D6\\*4, ~~x~~, p\\_adj', 'TP53 and CYP2D6*4, x, p_adj'],
    ['[p53](https://example.org/P53_(protein)).', 'p53.'],
    ['* p < 0.05, ** p < 0.01; *** p', '* p &lt; 0.05, ** p &lt; 0.01; *** p'],
    ['*E. coli* and _in vivo_ (*n* = 3), π* and σ*', 'E. coli and in vivo (n = 3), π* and σ*'],
    ['a_b _c and C:\\data\\*.raw', 'a_b _c and C:\\data\\*.raw'],
    ['![A plot](plot.png) of [mice](<https://example.org/a>), [13](2)', 'A plot of mice, [13](2)'],
  ])('of %j is %j', (markdown, text) => {
    expect(fallbackText(markdown)).toBe(text);
  });

  test('pings nobody', () => {
    expect(fallbackText('<!channel> <@U1> @here &lt;!channel&gt; &lt;@U1&gt;')).not.toMatch(/<|@here/);
  });

  test('stays under 4,000 bytes whatever the agent wrote', () => {
    fc.assert(
      fc.property(markdownArbitrary(), (text) => {
        expect(Buffer.byteLength(fallbackText(text.repeat(20)))).toBeLessThan(4_000);
      }),
      { numRuns: 40 },
    );
  });
});

describe('a truncated text', () => {
  test.each(['漢', '👩‍👩‍👧', '<!', '@here ', '&', 'a'])(
    'of %j ends on a grapheme, within its limit in bytes',
    (unit) => {
      for (let most = 50; most < 90; most += 1) {
        const cut = truncateBytes(unit.repeat(200), most);
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(most);
        expect(cut).toMatch(/…$/);
        expect(cut.isWellFormed()).toBe(true);
      }
    },
  );

  test('stays as it is if it fits', () => {
    expect(truncateBytes('fits', 4)).toBe('fits');
  });
});
