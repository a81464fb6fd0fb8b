import { describe, expect, test } from 'vitest';
import { markdownToHtml } from '../../../src/render/markdown/markdown-to-html.ts';
import { parseMarkdown } from '../../../src/render/markdown/parse-markdown.ts';
import { neutralizePings } from '../../../src/render/markdown/pings.ts';
import { resultPages } from '../../../src/render/messages/result-list.ts';
import { reviewMessages } from '../../../src/render/messages/review-message.ts';
import { sourceBlocks } from '../../../src/render/messages/sources.ts';
import { blocksWithDataTable } from '../../../src/render/messages/tables.ts';
import { AnswerSplitter } from '../../../src/render/splitting/answer-splitter.ts';

const TARGET = 'two.example';

/** Characters that nobody sees, or that look like a dot or a slash, by their classes; those that labels may hold are left out. */
const CLASSES = [
  ...[
    'Default_Ignorable_Code_Point',
    'Cf',
    'Cc',
    'Mn',
    'Me',
    'Zs',
    'Zl',
    'Zp',
    'Co',
    'Po',
    'Lm',
    'Sk',
    'No',
    'Nd',
    'Sm',
    'So',
  ],
];
const PLAIN = new Set('\u00a0×§©®¡¿…！：？ー々²³¹±™¬¦¶†‡′″⁰⁴⁵⁶⁷⁸⁹⁺⁻₀₁₂₃₄₅₆₇₈₉←→↔−≈≤≥');
const MOST = 40;
/** The rows of a table that Slack shows as one that can be sorted. */
const ROWS = 11;

/** Up to `MOST` characters of a class, spread over all of it. */
function charactersOf(name: string): string[] {
  const pattern = new RegExp(`^\\p{${name}}$`, 'u');
  const all: string[] = [];
  for (let code = 0x80; code <= 0x10_ff_ff; code += 1) {
    if (code >= 0xd8_00 && code <= 0xdf_ff) continue;
    const character = String.fromCodePoint(code);
    if (pattern.test(character) && !PLAIN.has(character)) all.push(character);
    if (name === 'Co' && all.length >= MOST) break;
  }
  const step = Math.max(1, Math.floor(all.length / MOST));
  return all.filter((_, index) => index % step === 0);
}

const CHARACTERS = CLASSES.map(charactersOf);

/** Labels that hide or imitate another host than that of the link. */
const LABELS = [
  ...CHARACTERS.flatMap((characters) =>
    characters.flatMap((character) => {
      const within = `on${character}e.example`;
      // What the renderer itself puts into texts is left out of them before.
      const isLeftOut = character === '\u2060' || `e${character}`.normalize('NFC').length === 1;
      return isLeftOut ? [within] : [within, `one${character}example`];
    }),
  ),
  ...[
    'localhost',
    'localhost:8080',
    '192.0.2.7',
    'https://3221225991/',
    'http://0xc0000207',
    'https://intranet/a',
  ],
  ...[
    '//one.example/a',
    'one,example',
    'one .example',
    'one&#46;example',
    'one&#8203;.example',
    'one.ex**am**ple',
    'p.abc12.example',
    'https://p.abc12/',
    'one°example',
    'one°.example',
  ],
  ...[
    'https://[2001:db8::1]/',
    'one.example/two.example',
    'one.example@two.example',
    'two.example.one.example',
  ],
];

const links = (label: string) => [
  `[${label}](https://${TARGET}/a)`,
  `[${label}](<https://${TARGET}/a>)`,
  `[${label}](https://${TARGET}/a "A title")`,
];

const TOGETHER = 8;

/** Texts with a sentence about each of these, several to a text, in paragraphs of their own: most of a text's cost is its own. */
function textsAbout(things: readonly string[]): string[] {
  const sentences = things.map((thing) => `See ${thing} there.`);
  return Array.from({ length: Math.ceil(things.length / TOGETHER) }, (_, text) =>
    sentences.slice(text * TOGETHER, (text + 1) * TOGETHER).join('\n\n'),
  );
}

/** Whether a Markdown text, as Slack reads it, has no link whose label does not show its host. */
function isHonest(markdown: string): boolean {
  const nodes = [parseMarkdown(markdown, { characters: 0 })];
  for (const node of nodes) nodes.push(...node.children);
  return nodes
    .filter(({ type }) => type === 'link')
    .every(({ start, end }) => {
      const source = markdown.slice(start, end);
      const label = source.slice(0, source.lastIndexOf(']('));
      return !source.startsWith('[') || label.endsWith(`(${TARGET})`);
    });
}

/** The links of a table of these cells; undefined where a cell keeps Slack from showing one that can be sorted. */
function linksInTable(cells: readonly string[]): { url: string; text: string }[] | undefined {
  const rows = cells.map((cell) => `| ${cell} | 1 |\n`).join('');
  const [part] = new AnswerSplitter().parts(`| a | b |\n| --- | --- |\n${rows}`, { final: true, most: 1 });
  if (part === undefined) throw new Error(`There is no part: ${rows}`);
  const options = { continues: false, hasFile: false, count: { characters: 0 } };
  const blocks = blocksWithDataTable(part, options);
  if (blocks === undefined) return undefined;
  const links = JSON.stringify(blocks).matchAll(/"type":"link","url":"([^"]*)","text":"((?:[^"\\]|\\.)*)"/g);
  return [...links].map(([, url = '', text = '']) => ({ url, text }));
}

/** The links that tables with these cells show: of several at a time, as far as that can be. */
function linksInTables(cells: readonly string[]) {
  const plain = Array.from({ length: ROWS - 1 }, () => 'one');
  const alone = (cell: string) => linksInTable([cell, ...plain]) ?? [];
  return Array.from({ length: Math.ceil(cells.length / ROWS) }, (_, table) => {
    const some = cells.slice(table * ROWS, (table + 1) * ROWS);
    return (some.length === ROWS && linksInTable(some)) || some.flatMap(alone);
  }).flat();
}

const distinctTexts = (links: readonly { text: string }[]) => new Set(links.map(({ text }) => text)).size;

const markdownOf = (blocks: readonly { type: string }[]) =>
  blocks.map((block) => ('text' in block && typeof block.text === 'string' ? block.text : '')).join('\n');

describe('a label that hides or imitates another host', () => {
  test('is one of many', () => {
    expect(LABELS.length).toBeGreaterThan(900);
  });

  test('shows the host of its link, or is no link, in an answer, a review and a text of its own', () => {
    const failed = textsAbout(LABELS.flatMap(links)).filter((text) => {
      const parts = new AnswerSplitter().parts(text, { final: true, most: 3 });
      const review = reviewMessages([{ kind: 'text', text }], 3).messages;
      return ![
        ...parts.map(({ blocks }) => markdownOf(blocks)),
        ...review.map(({ blocks }) => markdownOf(blocks)),
        neutralizePings(text),
      ].every(isHonest);
    });
    expect(failed).toEqual([]);
  });

  test('does so in a table', () => {
    const cells = LABELS.filter((label) => !/[\n\r|\u2028\u2029]/.test(label)).map(
      (label) => `[${label}](https://${TARGET}/a)`,
    );
    const shown = linksInTables(cells);
    expect(distinctTexts(shown)).toBeGreaterThan(LABELS.length * 0.9);
    const failed = shown.filter(({ text }) => !text.endsWith(`(${TARGET})`));
    expect(failed).toEqual([]);
  });

  test('does so on the page of a record', () => {
    const failed = textsAbout(LABELS.flatMap(links)).filter((text) => {
      const page = [...markdownToHtml(text)].join('');
      const labels = [...page.matchAll(/<a href="[^"]*two\.example[^>]*>([\s\S]*?)<\/a>/g)];
      return !labels.every(([, label = '']) => label.includes(`(${TARGET})`));
    });
    expect(failed).toEqual([]);
  });

  test('is not taken for the name of a source or a result', () => {
    for (const label of LABELS.slice(0, 200)) {
      const text = `[${label}](https://${TARGET}/a) and [${label}](https://three.example.org/b)`;
      const shown = JSON.stringify(sourceBlocks([{ kind: 'text', text }]));
      expect(shown.match(/"url":"https:\/\/([^/]*)[^"]*","text":"(?!\1)/)).toBeNull();
      const url = `https://${TARGET}/a`;
      const [page] = resultPages([{ name: label, sizeBytes: 1, mimeType: 'text/csv', url }]);
      expect(page?.blocks.some((block) => block.type === 'markdown')).toBe(false);
    }
  });
});

test('a label is judged by what its formulas are shown as', () => {
  const [part] = new AnswerSplitter().parts(`[one\\(.\\)example](https://${TARGET}/a)`, {
    final: true,
    most: 1,
  });
  expect(markdownOf(part?.blocks ?? [])).toBe(`[one.example (${TARGET})](https://${TARGET}/a)`);
});

/** What may stand before the host of an address, and looks like a host or ends one. */
const PLAIN_USERS = [
  ...['one.example', 'onehost', 'localhost', '192.0.2.7', 'one.example:443', 'one.example%2Fa', ':secret'],
  ...'!"$%&\'()*+,-.:;=[]^_`{|}~>'.split('').map((mark) => `one.example${mark}x`),
];
/** The same, and what hides where a host ends. */
const USERS = [
  ...PLAIN_USERS,
  ...CHARACTERS.flatMap((characters) =>
    characters
      .filter((character) => !/[\s\u2060]/.test(character))
      .map((character) => `one.example${character}x`),
  ),
];
const FORMS: readonly ((user: string) => string)[] = [
  (user) => `https://${user}@${TARGET}/a`,
  (user) => `HTTP://${user}@${TARGET}`,
  (user) => `www.${user}@${TARGET}/a`,
  (user) => `<https://${user}@${TARGET}/a>`,
  (user) => `[the paper](https://${user}@${TARGET}/a)`,
  (user) => `[https://${user}@${TARGET}/a](https://${TARGET}/a)`,
];
const WITH_USER = FORMS.flatMap((form) => USERS.map(form));
/** The last form alone is a link in a table. Each of the others needs a table for itself, so each character is in one of them. */
const LINKED = FORMS.length - 1;
const IN_TABLES = FORMS.flatMap((form, index) =>
  USERS.filter((_, at) => index === LINKED || at < PLAIN_USERS.length || at % LINKED === index).map(form),
);

/** Whether an address of the web has something before its host. */
const hasUser = (address: string) => /^(?:https?:\/\/|www\.)[^/?#]*@/i.test(address.replace(/^</, ''));

/** Whether a Markdown text, as Slack reads it, has no link that shows an address with a user. */
function showsNoUser(markdown: string): boolean {
  const nodes = [parseMarkdown(markdown, { characters: 0 })];
  for (const node of nodes) nodes.push(...node.children);
  const links = nodes
    .filter(({ type }) => type === 'link')
    .map(({ start, end }) => markdown.slice(start, end));
  return links.every((source) => {
    if (!source.startsWith('[')) return !hasUser(source);
    const label = source.slice(1, source.lastIndexOf(']('));
    return !hasUser(source.slice(label.length + 3)) && (!hasUser(label) || label.endsWith(`(${TARGET})`));
  });
}

describe('an address with a user before its host', () => {
  test('is text, or shows its host, in an answer, a review and a text of its own', () => {
    expect(WITH_USER.length).toBeGreaterThan(2_000);
    const failed = textsAbout(WITH_USER).filter((text) => {
      const parts = new AnswerSplitter().parts(text, { final: true, most: 3 });
      const review = reviewMessages([{ kind: 'text', text }], 3).messages;
      const shown = [...parts, ...review].map(({ blocks }) => markdownOf(blocks));
      return ![...shown, neutralizePings(text)].every(showsNoUser);
    });
    expect(failed).toEqual([]);
  });

  test('is text, or shows its host, in a table', () => {
    const shown = linksInTables(IN_TABLES.filter((address) => !/[|`]/.test(address)));
    expect(distinctTexts(shown)).toBeGreaterThan(USERS.length * 0.9);
    const failed = shown.filter(
      ({ url, text }) => hasUser(url) || (hasUser(text) && !text.endsWith(`(${TARGET})`)),
    );
    expect(failed).toEqual([]);
  });

  test('shows its host on the page of a record, and is no source', () => {
    const hidden = textsAbout(WITH_USER).filter((text) => {
      const page = [...markdownToHtml(text)].join('');
      const labels = [...page.matchAll(/<a href="(?!mailto:)[^>]*>([\s\S]*?)<\/a>/g)];
      return !labels.every(([, label = '']) => !hasUser(label) || label.endsWith(`(${TARGET})`));
    });
    expect(hidden).toEqual([]);
    const sources = WITH_USER.filter((address) => {
      const text = `${address} and https://three.example.org/b and https://four.example.org/c`;
      return JSON.stringify(sourceBlocks([{ kind: 'text', text }])).includes('@');
    });
    expect(sources).toEqual([]);
  });

  test.each([
    'https://two.example/@one.example',
    'https://two.example/a?by=me@one.example',
    'me@one.example',
  ])('is not what %s is, which stays as it is', (address) => {
    expect(neutralizePings(address)).toBe(address);
    expect([...markdownToHtml(address)].join('')).not.toContain(' (');
  });
});

test.each([
  'the paper',
  'Smith et al. (2024), p < 0.05',
  'Müller – “α-Synuclein”',
  '一篇论文（2024）',
  'report.md',
  'v1.2.3',
  'NM_000492.4(CFTR):c.1521_1523del (p.Phe508del)',
  'p.Arg97Gly and p.Lys12Asnfs',
  'At 37°C (or 42 °C), turned by 45°',
  'Lysis at −80 °C, 5′ → 3′, Ca²⁺ ≥ 10⁻³ M, CO₂',
])('the label %s stays as it is', (label) => {
  const link = `[${label}](https://${TARGET}/report.md)`;
  const [part] = new AnswerSplitter().parts(link, { final: true, most: 1 });
  expect(markdownOf(part?.blocks ?? [])).toBe(link);
  expect([...markdownToHtml(link)].join('')).not.toContain(`(${TARGET})`);
});

test.each([
  [
    'https://one.example/a#:~:text=On%20two%20days,they',
    'https://one.example/a\\#:\\~:text=On%20two%20days,they',
  ],
  ['mailto:ada.bell@uni.example', 'ada.bell@uni.example'],
  ['https://one.example/?q=BRCA1,TP53', 'https://one.example/?q=BRCA1,T…'],
])('a link to %s stays a link where its label is that address', (target, label) => {
  const link = `[${label}](${target})`;
  const [part] = new AnswerSplitter().parts(link, { final: true, most: 1 });
  expect(markdownOf(part?.blocks ?? [])).toBe(link);
  expect([...markdownToHtml(link)].join('')).toContain(`<a href="${target}">`);
});

test.each([
  'javascript:x',
  'tel:1',
  'ftp://two.example/a',
  'file:///a',
  '//two.example/share',
  'data&colon;x',
  'slack://a',
])('a link to %s is text in answers and on the page of a record', (target) => {
  expect(neutralizePings(`[go](${target})`)).toBe(`[go]\u2060(${target})`);
  expect([...markdownToHtml(`[go](${target})`)].join('')).not.toContain('<a');
});
