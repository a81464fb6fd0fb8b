import { describe, expect, test } from 'vitest';
import { markdownToHtml } from '../../../src/render/markdown/markdown-to-html.ts';
import { neutralizePings, WORD_JOINER } from '../../../src/render/markdown/pings.ts';
import { type DisplayedReply, renderReply } from '../../../src/render/messages/reply-message.ts';

/** What people are shown of an answer, block by block. */
function answer(text: string, more: Partial<DisplayedReply> = {}): string {
  const turnId = '01a1fbfe-6e3a-7000-83e3-5e284a624414';
  const reply = { turnId, phase: 'done', elapsedMs: 0, notes: [], maxMessages: 5 } as const;
  return JSON.stringify(renderReply({ ...reply, blocks: [{ kind: 'text', text }], ...more })[0]?.blocks);
}

/** Links whose label shows one.example and that lead to another host, and that host. */
const IMITATIONS = [
  ['a name in brackets', '[see[one.example]](https://seeone.example/x)', 'seeone.example'],
  ['a name after a tilde that is text', '[see~one.example](https://seeone.example/x)', 'seeone.example'],
  ['a name after a bracket of HTML', '[see<one.example](https://seeone.example/x)', 'seeone.example'],
  ['a name after an underscore', '[see_one.example](https://seeone.example/x)', 'seeone.example'],
  ['a letter of another script', '[\u043ene.example](https://xn--ne-emc.example/)', 'xn--ne-emc.example'],
  ['a user before its host', '[one.example](https://x@two.example/)', 'two.example'],
  ['data in its label', '[one.example 5~10 mg](https://x@two.example/)', 'two.example'],
  ['nested brackets in its address', '[one.example](https://x@two.example/((a)))', 'two.example'],
  ['an angle in its address', '[one.example](https://x@two.example/a<b)', 'two.example'],
  [
    'a second address of e-mail',
    '[me@one.example](mailto:a@two.example,me@one.example)',
    'two.example,me@one.example',
  ],
  [
    'a page before its address of e-mail',
    '[one.example/a@two.example](mailto:one.example/a@two.example)',
    'two.example',
  ],
  ['a name before the DOI of its link', '[one.example/10.1234/abc](https://doi.org/10.1234/abc)', 'doi.org'],
  [
    'an address after its own',
    '[https://two.example/ https://one.example/x](https://two.example/%20https://one.example/x)',
    'two.example',
  ],
  ['a name that ends another DOI', '[10.1234/one.example](https://doi.org/10.1234/abc)', 'doi.org'],
] as const;

describe('a link whose label imitates a host', () => {
  test.each(IMITATIONS)('by %s shows its own host, or is text', (_by, link, host) => {
    const shown = [answer(`Read ${link} first.`), neutralizePings(link)];
    for (const text of shown)
      expect(text.includes(` (${host})](`) || text.includes(`]${WORD_JOINER}(`)).toBe(true);
    expect([...markdownToHtml(link)].join('')).toContain(` (${host})</a>`);
  });

  test('is text where its label shows another page of its host, and data', () => {
    const link = '[https://one.example/a 5~10](https://one.example/b)';
    expect(answer(link)).toContain(`]${WORD_JOINER}(`);
  });

  test('shows its host in a table that is too wide for Slack', () => {
    const cells = ['[one.example](https://x@two.example/((a)))', ...Array.from({ length: 24 }, () => 'x')];
    const row = `| ${cells.join(' | ')} |`;
    const table = [row, `|${' --- |'.repeat(cells.length)}`, row, row].join('\n');
    const shown = answer(table, { newBlocks: ['data_table'] });
    expect(shown).toContain('data_table');
    expect(shown).not.toContain('"text":"one.example"');
  });

  test('shows its host where the page of a record sets a part of the label below the line', () => {
    const page = (link: string) => [...markdownToHtml(link)].join('');
    expect(page('[one<sub>two.example</sub>](https://onesubtwo.example)')).toContain(
      ' (onesubtwo.example)</a>',
    );
    expect(page('[two<br>one.example](https://twoone.example)')).toContain(' (twoone.example)</a>');
  });
});

test.each([
  '[one.example](https://one.example/x)',
  '[**one**.example](https://one.example/x)',
  '[read_counts.csv](https://one.example/files/read_counts.csv)',
  '[the page (with *marks*)](https://one.example/x_(y))',
  '[me@one.example](mailto:me@one.example?subject=hello)',
  '[doi:10.1002/1097-0142(20010101)91:1<1::AID-CNCR1>3.0.CO;2-A](https://doi.org/10.1002/1097-0142(20010101)91:1%3C1::AID-CNCR1%3E3.0.CO;2-A)',
])('the link %s stays as it is', (link) => {
  expect(answer(link)).toContain(JSON.stringify(link).slice(1, -1));
  expect(neutralizePings(link)).toBe(link);
});
