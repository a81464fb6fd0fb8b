import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mentionedIds } from '../../../src/relay/reading/listening.ts';
import { parseMessage } from '../../../src/relay/reading/message-parser.ts';
import { readableText } from '../../../src/relay/reading/message-to-markdown.ts';
import { attachmentsSchema, keptParts } from '../../../src/slack/slack-message.ts';
import { withinMs } from '../../support/busy-machine.ts';
import {
  bot,
  list,
  names,
  nobody,
  piece,
  richText,
  section,
  styled,
  user,
} from '../../support/message-builders.ts';

const read = (raw: object) => readableText(parseMessage(raw), names, bot);
const readBlocks = (...elements: object[]) => read(richText(...elements));

describe('a forwarded message', () => {
  const table = {
    type: 'table',
    rows: [[{ type: 'raw_text', text: 'gene' }], [{ type: 'raw_text', text: '' }]],
  };
  const words = (text: string) => richText(section(text)).blocks[0];
  const readShare = (share: object) => {
    const attachments = attachmentsSchema.parse([{ is_share: true, author_name: 'Ada', ...share }]);
    return read({ text: 'q', attachments: keptParts({ attachments }).attachments });
  };

  test.each([
    [
      'an alert attached to it',
      { attachments: [{ title: 'ALERT', text: 'too warm' }] },
      '> **ALERT**\n>\n> too warm',
    ],
    ['fields', { title: 'ALERT', fields: [{ title: 'Room', value: 12 }] }, '> **ALERT**\n>\n> **Room**: 12'],
    ['a table', { text: 'see', blocks: [table] }, '> see\n>\n> | gene |'],
    [
      'a table beside its blocks',
      { message_blocks: [{ message: { blocks: [words('hello')] } }], blocks: [table] },
      '> hello\n>\n> | gene |\n> | --- |\n> |  |',
    ],
    [
      'a table attached inside',
      { message_blocks: [{ message: { blocks: [words('hello')], attachments: [{ blocks: [table] }] } }] },
      '> hello\n>\n> | gene |',
    ],
    [
      'blocks without words, and a text',
      { message_blocks: [{ message: { blocks: [{ type: 'alert', body: 'y' }] } }], text: 'the words' },
      '> the words',
    ],
    [
      'empty rich text, and a text',
      { message_blocks: [{ message: { blocks: [{ type: 'rich_text', elements: [] }] } }], text: 'the words' },
      '> the words',
    ],
  ])('with %s shows it', (_what, share, shown) => {
    expect(readShare(share)).toContain(shown);
  });
});

describe('the rich text of a message', () => {
  test("omits the bot's mention at the beginning", () => {
    expect(readBlocks(section(user(bot), ' Compare the two cohorts'))).toBe('Compare the two cohorts');
  });

  test("omits the bot's mention twice at the beginning, with the comma and the line break after it", () => {
    expect(readBlocks(section(user(bot), ' ', user(bot), ', \n', 'go on'))).toBe('go on');
  });

  test("keeps an emoji after the bot's mention", () => {
    expect(readBlocks(section(user(bot), ':wave: hi'))).toBe(':wave: hi');
  });

  test('names the bot in the middle of a sentence', () => {
    expect(readBlocks(section('Ask ', user(bot), ' for the table'))).toBe('Ask @Taskthread for the table');
  });

  test('names the bot "agent" when its name is not known', () => {
    const message = parseMessage(richText(section('Ask ', user(bot))));
    expect(readableText(message, nobody, bot)).toBe('Ask @agent');
  });

  test('omits a mention that is alone on the first line', () => {
    expect(readBlocks(section(user(bot)), list('bullet', ['one']))).toBe('- one');
  });

  test('names people, channels, usergroups and special mentions', () => {
    const everything = section(
      user('U0ADA'),
      ' in ',
      { type: 'channel', channel_id: 'C0LAB' },
      ' with ',
      { type: 'usergroup', usergroup_id: 'S0GENES' },
      ' and ',
      { type: 'broadcast', range: 'here' },
    );
    expect(readBlocks(everything)).toBe('@Ada Lovelace in #lab-results with @S0GENES and @here');
  });

  test('shows the id of a person without a known name', () => {
    expect(readBlocks(section('ask ', user('U0GHOST')))).toBe('ask @U0GHOST');
  });

  test('takes a name from the label in the text before it falls back to the id', () => {
    const message = {
      ...richText(section({ type: 'usergroup', usergroup_id: 'S0STATS' }, ' please')),
      text: '<!subteam^S0STATS|@statistics> please',
    };
    expect(read(message)).toBe('@statistics please');
  });

  test('writes links with their label, and once when the label is the address', () => {
    const links = section(
      { type: 'link', url: 'https://example.org/a', text: 'the paper' },
      ' ',
      { type: 'link', url: 'https://example.org/b' },
      ' ',
      { type: 'link', url: 'http://example.org', text: 'example.org' },
      ' ',
      { type: 'link', url: 'mailto:ada@example.org', text: 'ada@example.org' },
    );
    expect(readBlocks(links)).toBe(
      '[the paper](https://example.org/a) https://example.org/b http://example.org ada@example.org',
    );
  });

  test('keeps a link whole that has parentheses in its address or brackets in its label', () => {
    const link = { type: 'link', url: 'https://example.org/p53_(gene)', text: 'p53 [gene]' };
    expect(readBlocks(section(link))).toBe('[p53 \\[gene\\]](<https://example.org/p53_(gene)>)');
  });

  test('shows dates by their fallback, or else as an ISO time', () => {
    const date = { type: 'date', timestamp: 1767225600, format: '{date}' };
    expect(readBlocks(section({ ...date, fallback: 'New Year' }, ' ', date))).toBe(
      'New Year 2026-01-01T00:00:00Z',
    );
  });

  test('shows emoji as characters, and custom ones by name', () => {
    const thumb = { type: 'emoji', name: '+1', unicode: '1f44d-1f3fd' };
    expect(readBlocks(section(thumb, { type: 'emoji', name: 'our-logo' }))).toBe('👍🏽:our-logo:');
  });

  test('shows what data has between colons as it was typed', () => {
    const hundred = { type: 'emoji', name: '100', unicode: '1f4af' };
    const b = { type: 'emoji', name: 'b', unicode: '1f171-fe0f' };
    expect(readBlocks(section('chr1', hundred, 'A:T and 12', b, '1,2'))).toBe('chr1:100:A:T and 12:b:1,2');
    const x = { type: 'emoji', name: 'x', unicode: '274c' };
    expect(readBlocks(section('assay B ', x, ' ', hundred), section(b))).toBe('assay B ❌ 💯\n\n🅱️');
    expect(readBlocks(list('bullet', ['a']), section(x, 'no, assay (B)', x, ', C'))).toBe(
      '- a\n\n❌no, assay (B):x:, C',
    );
  });

  test('shows names of files that Slack takes for hosts as they were typed', () => {
    const link = (name: string) => ({ type: 'link', url: `http://${name}`, text: name });
    expect(readBlocks(section('See ', link('README.md'), ' and ', link('run_all.sh')))).toBe(
      'See README.md and run_all.sh',
    );
    for (const name of ['docs.rs/micromark', 'www.uni.md/faculty', 'www.uni.md'])
      expect(readBlocks(section('See ', link(name)))).toBe(`See http://${name}`);
  });

  test('shows a comparison at the beginning of a line of an app as it is', () => {
    expect(read({ text: '&gt;= 5 reads\n&gt; said' })).toBe('>= 5 reads\n\n> said');
  });

  test('writes styles as Markdown with the markers next to the text', () => {
    const styles = section(
      styled('bold ', 'bold'),
      styled('both', 'bold', 'italic'),
      ' ',
      styled('gone', 'strike'),
    );
    expect(readBlocks(styles)).toBe('**bold _both_** ~~gone~~');
  });

  test('does not let a style span a line break', () => {
    expect(readBlocks(section(styled('one\ntwo', 'bold')))).toBe('**one**\n**two**');
  });

  test('writes inline code with enough backticks', () => {
    expect(readBlocks(section(styled('a', 'code'), ' ', styled('b`c', 'code')))).toBe('`a` ``b`c``');
  });

  test('fences preformatted text with a fence that it does not contain, and keeps it unchanged', () => {
    const code = { type: 'rich_text_preformatted', elements: [piece('x = "<&>"\n```\n  y')], border: 0 };
    expect(readBlocks(section('Run\n'), code, section('\nplease'))).toBe(
      'Run\n\n````\nx = "<&>"\n```\n  y\n````\n\nplease',
    );
  });

  test('quotes every line of a quotation', () => {
    const quote = { type: 'rich_text_quote', elements: [piece('one\n\ntwo')] };
    expect(readBlocks(quote, section('what of it?'))).toBe('> one\n>\n> two\n\nwhat of it?');
  });

  test('nests lists under the marker above and resumes numbers where they were left', () => {
    const markdown = readBlocks(
      list('ordered', ['first'], { indent: 0 }),
      list('bullet', ['inner\nsecond line'], { indent: 1 }),
      list('bullet', ['innermost'], { indent: 2 }),
      list('ordered', ['tenth', 'eleventh'], { indent: 0, offset: 9 }),
      list('bullet', ['below'], { indent: 1 }),
    );
    expect(markdown.split('\n')).toEqual([
      '1. first',
      '   - inner',
      '     second line',
      '     - innermost',
      '10. tenth',
      '11. eleventh',
      '    - below',
    ]);
  });

  test('keeps a nested list inside a quotation nested', () => {
    const markdown = readBlocks(
      list('bullet', ['a'], { border: 1 }),
      list('bullet', ['b'], { border: 1, indent: 1 }),
    );
    expect(markdown).toBe('> - a\n>   - b');
  });

  test('shows the text of unknown elements, or their type', () => {
    const unknown = section({ type: 'sparkle', text: 'shiny' }, ' ', { type: 'hologram', depth: 3 });
    const block = { type: 'rich_text_aside', elements: [piece('aside')] };
    expect(readBlocks(unknown, block)).toBe('shiny [hologram]\n\naside');
  });

  test.each([
    [{ type: 'citation', url: 'https://one.example/a', text: 'a paper' }, '[a paper](https://one.example/a)'],
    [{ type: 'citation', url: 'https://one.example/a', text: null }, 'https://one.example/a'],
    [{ type: 'canvas', file_id: 'F0PLAN', label: 'The plan' }, 'The plan'],
    [{ type: 'badge', text: { type: 'plain_text', text: 'beta' } }, 'beta'],
    [{ type: 'mention', user_id: 'U0ADA' }, '@Ada Lovelace'],
    [{ type: 'conversation', channel_id: 'C0LAB', message_ts: '1.000001' }, '#lab-results'],
    [{ type: 'group', id: 'S0GENES' }, '@S0GENES'],
    [{ type: 'canvas', file_id: 'F0PLAN' }, '[canvas F0PLAN]'],
  ])('shows what it can of %j', (element, shown) => {
    expect(readBlocks(section('see ', element))).toBe(`see ${shown}`);
  });

  test('loses no word whatever the blocks, styles and order are', () => {
    const word = fc.stringMatching(/^[a-z<>&*_~`#-]{1,8}$/);
    const style = fc.subarray(['bold', 'italic', 'strike']);
    const inline = fc
      .tuple(word, style)
      .map(([text, styles]) => ({ text, json: styled(`${text} `, ...styles) }));
    const block = fc.record({
      type: fc.constantFrom(
        'rich_text_section',
        'rich_text_quote',
        'rich_text_preformatted',
        'rich_text_novelty',
      ),
      content: fc.array(inline, { minLength: 1, maxLength: 4 }),
    });
    fc.assert(
      fc.property(fc.array(block, { maxLength: 5 }), (blocks) => {
        const markdown = readBlocks(
          ...blocks.map(({ type, content }) => ({ type, elements: content.map(({ json }) => json) })),
        );
        let from = 0;
        for (const { text } of blocks.flatMap(({ content }) => content)) {
          const at = markdown.indexOf(text, from);
          expect(at).toBeGreaterThanOrEqual(from);
          from = at + text.length;
        }
      }),
    );
  });

  test('reads anything without throwing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (blocks, text) => {
        const element = { type: 'rich_text', elements: [blocks] };
        const message = parseMessage({ text, blocks: [element, blocks], files: blocks, attachments: blocks });
        expect(typeof readableText(message, names, bot)).toBe('string');
        expect(parseMessage(blocks).ts ?? '').toBeTypeOf('string');
      }),
    );
  });
});

describe('a message without rich text', () => {
  const text = (words: string) => read({ text: words });

  test("omits the bot's mention, with or without a label", () => {
    expect(text(`<@${bot}> hello`)).toBe('hello');
    expect(text(`<@${bot}|taskthread>: hello`)).toBe('hello');
  });

  test('decodes entities once', () => {
    expect(text('a &lt; b &amp;&amp; c &gt; d &amp;lt;')).toBe('a < b && c > d &lt;');
  });

  test('does not read an encoded mention as a mention', () => {
    expect(text('&lt;@U0ADA&gt;')).toBe('<@U0ADA>');
  });

  test('names people, channels, usergroups, special mentions and dates', () => {
    expect(text('<@U0ADA> <#C0LAB|> <#C0OTHER|other> <!subteam^S0GENES> <!here>')).toBe(
      '@Ada Lovelace #lab-results #other @S0GENES @here',
    );
    expect(text('due <!date^1767225600^{date_num}|Jan 1st>')).toBe('due Jan 1st');
  });

  test('writes links with their label', () => {
    expect(text('<https://example.org/?a=1&amp;b=2|the &lt;data&gt;> <https://example.org>')).toBe(
      '[the <data>](https://example.org/?a=1&b=2) https://example.org',
    );
  });

  test.each(['_*', '*_', '> ', '__a'])(
    'that repeats %j is read in a time that grows with it alone',
    (unit) => {
      const long = unit.repeat(200_000 / unit.length);
      const startedAt = performance.now();
      text(long);
      expect(performance.now() - startedAt).toBeLessThan(withinMs(2_000));
    },
  );

  test('turns styles into Markdown and leaves other characters', () => {
    expect(text('*bold* _it_ ~gone~ *_both_*')).toBe('**bold** _it_ ~~gone~~ **_both_**');
    expect(text('2 * 3 * 4, snake_case_name and ~5')).toBe('2 * 3 * 4, snake_case_name and ~5');
    expect(text('**already Markdown** and __init__')).toBe('**already Markdown** and __init__');
    expect(text('*<https://example.org/a_b_c|paper>*')).toBe('**[paper](https://example.org/a_b_c)**');
  });

  test('keeps code unchanged', () => {
    expect(text('run `*x* &lt; _y_` now')).toBe('run `*x* < _y_` now');
    expect(text('see\n```\nif a &lt; *b*:\n  <https://example.org|go>\n```\nok')).toBe(
      'see\n\n```\nif a < *b*:\n  go\n```\n\nok',
    );
  });

  test('quotes lines, and everything after a triple >', () => {
    expect(text('&gt; one\n&gt; two\nthree')).toBe('> one\n> two\n\nthree');
    expect(text('&gt;&gt;&gt; all\nof it')).toBe('> all\n> of it');
  });

  test('turns bullets into list items', () => {
    expect(text('• a\n    ◦ b')).toBe('- a\n    - b');
  });

  test('adds forwarded messages as quotations', () => {
    const attachments = [{ is_share: true, author_name: 'Grace Hopper', text: 'see *this*' }];
    expect(read({ text: `<@${bot}> what is it?`, attachments })).toBe(
      'what is it?\n\n> Forwarded message from Grace Hopper:\n>\n> see **this**',
    );
  });

  test("reads an app's blocks when there is nothing else", () => {
    const blocks = [{ type: 'section', text: { type: 'mrkdwn', text: '*Build* failed' } }];
    expect(read({ text: '', blocks })).toBe('**Build** failed');
  });

  test('is quick on a long line of unfinished styles', () => {
    const began = process.threadCpuUsage();
    expect(text('*a _b ~c '.repeat(5000)).length).toBeGreaterThan(40_000);
    expect(process.threadCpuUsage(began).user / 1_000).toBeLessThan(2_000);
  });

  test('returns plain text unchanged', () => {
    const words = fc.array(fc.stringMatching(/^[a-zA-Z0-9äöüé.,;!?()%+=/"'-]{1,10}$/), { minLength: 1 });
    fc.assert(
      fc.property(words, (list) => {
        expect(text(list.join(' '))).toBe(list.join(' '));
      }),
    );
  });
});

describe('a message of an app shows its blocks', () => {
  const mrkdwn = (text: string) => ({ type: 'mrkdwn', text });
  const plain = (text: string) => ({ type: 'plain_text', text });
  const why = 'the plate reader is *offline*';
  const rich = (...words: string[]) => richText(section(...words)).blocks[0];

  test.each<[string, object, string]>([
    ['section', { type: 'section', text: mrkdwn(why) }, 'the plate reader is **offline**'],
    ['section with fields', { type: 'section', fields: [mrkdwn('*Host*'), mrkdwn('n3')] }, '**Host**\n\nn3'],
    ['header', { type: 'header', text: plain('Plate reader offline') }, 'Plate reader offline'],
    ['context', { type: 'context', elements: [mrkdwn('run 17'), plain('n3')] }, 'run 17\n\nn3'],
    [
      'Markdown',
      { type: 'markdown', text: '## Why\n- *offline* since `5 > 3`' },
      '## Why\n- *offline* since `5 > 3`',
    ],
    [
      'Markdown with escapes',
      {
        type: 'markdown',
        text: 'HLA-A\\*02:01, 5 \\< 6, \\`a\\*b\\`, `\\*p` \\alpha \\<@U1>\n```\nx\\_y\n```',
      },
      'HLA-A*02:01, 5 < 6, `a*b`, `\\*p` \\alpha <@U1>\n```\nx\\_y\n```',
    ],
    [
      'picture',
      { type: 'image', image_url: 'https://x.example/p.png', alt_text: 'Yield by day' },
      '[picture: Yield by day](https://x.example/p.png)',
    ],
    [
      'picture in Slack',
      { type: 'image', slack_file: { id: 'F1' }, title: plain('Yield') },
      '[picture: Yield]',
    ],
    [
      'picture beside a section',
      { type: 'section', text: mrkdwn('Yield:'), accessory: { type: 'image', alt_text: 'a curve' } },
      'Yield:\n\n[picture: a curve]',
    ],
    [
      'table with a caption',
      { type: 'data_table', caption: 'Yields', rows: [[{ type: 'raw_text', text: 'gene' }]] },
      'Yields\n\n| gene |',
    ],
    ['card', { type: 'card', title: mrkdwn('Run 17'), body: mrkdwn('It stopped.') }, 'Run 17\n\nIt stopped.'],
    [
      'plan',
      {
        type: 'plan',
        title: 'The plan',
        tasks: [{ type: 'task_card', title: 'Align', output: rich('done') }],
      },
      'The plan\n\nAlign\n\ndone',
    ],
  ])('that are a %s, not its summary', (_what, block, shown) => {
    const controls = { type: 'actions', elements: [{ type: 'button', text: plain('Mute') }] };
    expect(read({ text: 'JobFailed', blocks: [block, controls, { type: 'divider' }] })).toContain(shown);
    expect(read({ text: 'JobFailed', blocks: [block, controls] })).not.toMatch(/JobFailed|Mute/);
    const forwarded = {
      is_share: true,
      text: 'JobFailed',
      message_blocks: [{ message: { blocks: [block] } }],
    };
    const quoted = read({ text: 'q', attachments: attachmentsSchema.parse([forwarded]) });
    expect(quoted.replaceAll(/^> ?/gm, '')).toContain(shown);
  });

  test('and its text where that says more', () => {
    const whole = 'One *two* three, four and <https://x.example|five> :tada: six';
    expect(read({ ...richText(section('One ', styled('two', 'bold'), ' three, fo')), text: whole })).toBe(
      'One **two** three, four and [five](https://x.example) :tada: six',
    );
    expect(read({ text: whole, blocks: [{ type: 'rich_text', elements: [] }] })).toContain('six');
    expect(read({ text: whole, blocks: [{ type: 'actions' }, { type: 'divider' }] })).toContain('six');
    const picture = { type: 'image', alt_text: 'Yield' };
    expect(read({ text: whole, blocks: [{ type: 'section', text: mrkdwn('One two') }, picture] })).toMatch(
      /^One \*\*two\*\* three.*six\n\n\[picture: Yield\]$/s,
    );
  });

  test('and no text that only repeats them, whatever it calls them', () => {
    const tada = { type: 'emoji', name: 'tada', unicode: '1f389' };
    const message = richText(section('Compare '), list('ordered', ['one', 'two']), section(tada));
    expect(read({ ...message, text: 'Compare \n1. one\n2. two\n:tada:' })).toBe(read(message));
  });
});

test('a mention in a section, or only in the summary beside it, is one', () => {
  const blocks = [{ type: 'section', text: { type: 'mrkdwn', text: `<@${bot}> the reader is offline` } }];
  expect(mentionedIds(parseMessage({ text: 'JobFailed', blocks }))).toContain(bot);
  expect(read({ text: 'JobFailed', blocks })).toBe('the reader is offline');
  const summary = {
    text: `<@${bot}> JobFailed`,
    blocks: [{ type: 'header', text: { text: 'The reader is offline' } }],
  };
  expect(mentionedIds(parseMessage(summary))).toContain(bot);
});
