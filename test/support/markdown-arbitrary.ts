import fc from 'fast-check';

const word = fc.oneof(
  fc.constantFrom(
    'gene',
    'protein',
    'cell',
    'p < 0.05',
    'a|b',
    '5*6',
    '漢字かな',
    '👩‍👩‍👧',
    'שלום',
    '@here',
    '<!channel>',
    '<@U1>',
    '<https://a.example|b.example>',
    '[https://a.example](https://b.example)',
    'x_1',
    '$a_b$',
    '\\(x_1 * y\\)',
    '重**点。**后',
    'CO<sub>2</sub>',
    'p<sub>adj</sub>',
    'a<br>b',
    '10^{-9}',
    '$p < 10^{-9}$',
    '\\alpha',
    '![plot](figures/my_plot.png)',
    '<!',
  ),
  fc.string({ maxLength: 12 }),
);
const words = fc.array(word, { minLength: 1, maxLength: 40 }).map((list) => list.join(' '));
const longUrl = fc
  .integer({ min: 1, max: 400 })
  .map((length) => `https://journal.example.org/articles/31?token=${'a'.repeat(length)}`);
const inline = fc.oneof(
  words,
  words.map((text) => `**${text}**`),
  words.map((text) => `_${text}_`),
  words.map((text) => `\`${text}\``),
  words.map((text) => `[${text}](https://example.org/${'a'.repeat(text.length)})`),
  words.map((text) => `~~${text}~~`),
  longUrl.map((url) => `[[1]](${url}) [arr[0]](${url} "a title"), ![a [b] c](${url} (a title))`),
  fc
    .array(longUrl, { minLength: 1, maxLength: 12 })
    .map((urls) => urls.map((url) => `[n](${url})`).join(', ')),
);
const paragraph = fc.array(inline, { minLength: 1, maxLength: 5 }).map((list) => list.join(' '));
const cell = fc.constantFrom('a', 'b c', '**d**', '漢', '`e`', '', '<!here>');

/** Constructs that lie deeper in each other than anybody writes. */
const deep = fc
  .record({
    pair: fc.constantFrom(
      ['+ ', ''],
      ['1. ', ''],
      ['> - ', ''],
      ['>', ''],
      ['*a _b ', '_*'],
      ['![', '](u)'],
      ['[', ']'],
      ['*', '*'],
    ),
    depth: fc.integer({ min: 1, max: 90 }),
  })
  .map(({ pair: [open = '', close = ''], depth }) => `${open.repeat(depth)}x${close.repeat(depth)}`);

/** Blocks of Markdown, also such as agents write by mistake. */
const block = fc.oneof(
  paragraph,
  paragraph.map((text) => `## ${text.replaceAll('\n', ' ')}`),
  paragraph.map((text) => `> ${text}\n> more`),
  fc.array(words, { minLength: 1, maxLength: 30 }).map((lines) => `\`\`\`js\n${lines.join('\n')}\n\`\`\``),
  fc.array(words, { minLength: 1, maxLength: 8 }).map((lines) => lines.map((line) => `- ${line}`).join('\n')),
  fc
    .array(words, { minLength: 1, maxLength: 8 })
    .map((lines) => lines.map((line, index) => `${'  '.repeat(index % 3)}- ${line}`).join('\n')),
  fc
    .array(words, { minLength: 1, maxLength: 6 })
    .map((lines) => lines.map((line, index) => `${index + 1}. ${line}`).join('\n')),
  fc
    .record({
      columns: fc.integer({ min: 1, max: 25 }),
      rows: fc.array(fc.array(cell, { minLength: 25, maxLength: 25 }), { maxLength: 140 }),
    })
    .map(({ columns, rows }) =>
      ['h', '-', ...rows]
        .map(
          (row) =>
            `|${Array.from({ length: columns }, (_, index) => (Array.isArray(row) ? row[index] : row.repeat(3))).join('|')}|`,
        )
        .join('\n'),
    ),
  fc
    .array(words, { minLength: 1, maxLength: 5 })
    .map((lines) => `- item\n  ~~~py\n${lines.map((line) => `  ${line}`).join('\n')}\n  ~~~`),
  fc.constant('---'),
  deep,
  words.map((text) => `$$\n${text}\n- x_1\n$$`),
  fc.string({ maxLength: 60 }),
  fc.stringMatching(/^[#*_`~>|\-[\]()!\n a1.]{1,40}$/),
);

export const markdownArbitrary = () =>
  fc.array(block, { minLength: 1, maxLength: 12 }).map((blocks) => blocks.join('\n\n'));
