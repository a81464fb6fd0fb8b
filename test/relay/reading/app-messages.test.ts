import { describe, expect, test } from 'vitest';
import { mentionedIds } from '../../../src/relay/reading/listening.ts';
import { fileNamesOf, parseMessage } from '../../../src/relay/reading/message-parser.ts';
import { readableText } from '../../../src/relay/reading/message-to-markdown.ts';
import { renderReply } from '../../../src/render/messages/reply-message.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { bot, names, richText, section } from '../../support/message-builders.ts';

const read = (raw: object) => readableText(parseMessage(raw), names, bot);
const readBlocks = (...blocks: object[]) => read({ text: '', blocks });
const readAttachment = (attachment: object) => read({ text: '', attachments: [attachment] });
const mrkdwn = (text: string) => ({ type: 'mrkdwn', text });
const plain = (text: string) => ({ type: 'plain_text', text });
const option = (text: string, more: object = {}) => ({ text: plain(text), value: 'secret', ...more });
const rich = (words: string) => richText(section(words)).blocks[0];

test('a long answer of the bot, which people forward, is read once, with what stands below it', () => {
  const rows = Array.from(
    { length: 150 },
    (_, at) => `Row ${at}: immunoprecipitation${at}immunofluorescence`,
  );
  const [message] = renderReply({
    turnId: '01a1fbfe-6e3a-7000-83e3-5e284a624414',
    phase: 'failed',
    sentence: strings.agentFailed('disk full'),
    notes: ['“a.csv” was left out.'],
    blocks: [{ kind: 'text', text: rows.join('\n\n') }],
    elapsedMs: 65_000,
    maxMessages: 12,
  });
  const shown = readBlocks(...(message?.blocks ?? []));
  expect(read({ text: message?.text, blocks: message?.blocks })).toBe(shown);
  expect(shown).toContain(strings.agentFailed('disk full'));
});

describe('a control in a message shows', () => {
  const [dose, sex] = [option('10 mg/kg'), option('females', { description: plain('n = 6') })];

  test.each<[string, object, string]>([
    ['what is chosen of a list', { type: 'static_select', initial_option: sex }, 'females\n\nn = 6'],
    [
      'all that is chosen',
      { type: 'multi_static_select', initial_options: [dose, option('CD8')] },
      '10 mg/kg\n\nCD8',
    ],
    ['the items of a checklist', checklist([dose, sex], [sex]), '- [ ] 10 mg/kg\n- [x] females n = 6'],
    [
      'the items of a choice',
      { type: 'radio_buttons', options: [dose, sex], initial_option: dose },
      '- [x] 10 mg/kg\n- [ ] females n = 6',
    ],
    ['a date', { type: 'datepicker', initial_date: '2026-12-03' }, '2026-12-03'],
    ['a time', { type: 'datetimepicker', initial_date_time: 1_767_225_600 }, '2026-01-01T00:00:00Z'],
    ['a person', { type: 'users_select', initial_user: 'U0ADA' }, '@Ada Lovelace'],
    ['a channel', { type: 'multi_channels_select', initial_channels: ['C0LAB'] }, '#lab-results'],
    ['where a button leads', link('Open run'), '[Open run](https://runs.example/7)'],
    ['nothing else of buttons', { type: 'button', text: plain('Mute'), value: 'secret' }, ''],
    ['nothing of a menu', { type: 'overflow', options: [dose] }, ''],
  ])('%s', (_what, control, shown) => {
    const at = { type: 'section', text: mrkdwn('Mice'), accessory: control };
    expect(readBlocks(at)).toBe(['Mice', shown].filter((part) => part !== '').join('\n\n'));
    expect(readBlocks({ type: 'actions', elements: [control] })).toBe(shown);
  });

  test('its label and its hint, where it is asked for', () => {
    const element = { type: 'number_input', initial_value: '2.5' };
    const input = { type: 'input', label: plain('Dose (mg/kg)'), hint: plain('0.1 to 10'), element };
    expect(readBlocks(input)).toBe('Dose (mg/kg)\n\n2.5\n\n0.1 to 10');
  });

  test('a call by its name and where to join it, and a profile by its person', () => {
    const call = (v1: object) => ({
      type: 'call',
      call_id: 'R0CALL',
      api_decoration_available: false,
      call: { v1 },
    });
    const url = 'https://calls.example/7';
    expect(readBlocks(call({ name: 'Lab meeting', join_url: url }))).toBe(`[Lab meeting](${url})`);
    expect(readBlocks(call({ name: '', join_url: url }))).toBe(url);
    const beside = { text: 'Join', blocks: [call({ name: 'Join', join_url: url })] };
    expect(read(beside)).toContain(url);
    expect(readBlocks({ type: 'contact_card', block_id: 'x1', user_id: 'U0ADA' })).toBe('@Ada Lovelace');
  });

  test('a file of a forwarded message that was deleted as such, and others by their names', () => {
    const files = [{ id: 'F1', mode: 'tombstone' }, { id: 'F2', name: 'counts.csv' }, { id: 'F3' }];
    const forwarded = readAttachment({ is_share: true, text: 'See this', files });
    expect(forwarded).toContain('[files: a deleted file, counts.csv, a file]');
    expect(fileNamesOf(parseMessage({ text: '', files }))).toEqual([
      'a deleted file',
      'counts.csv',
      'a file',
    ]);
  });

  test('nothing that hides what the message says', () => {
    const blocks = [{ type: 'actions', elements: [link('Details')] }];
    expect(read({ text: 'Z′ = 0.7', blocks })).toBe('Z′ = 0.7\n\n[Details](https://runs.example/7)');
  });

  function checklist(options: object[], initial_options: object[]) {
    return { type: 'checkboxes', options, initial_options };
  }

  function link(text: string) {
    return { type: 'button', text: plain(text), url: 'https://runs.example/7' };
  }
});

test.each<[string, object, string]>([
  [
    'a text without formatting',
    { type: 'context', elements: [plain('HLA-A *02:01* &lt;A:1&gt; &gt; 5 <b:c>')] },
    'HLA-A *02:01* <A:1> > 5 <b:c>',
  ],
  [
    'a container with a formatted title',
    {
      type: 'container',
      title: plain('hidden'),
      rich_text_title: rich('Run 17'),
      child_blocks: [rich('ok')],
    },
    'Run 17\n\nok',
  ],
  [
    'the picture of a card, and then its title',
    {
      type: 'card',
      hero_image: { type: 'image', image_url: 'https://x.example/gel.png', alt_text: 'the gel' },
      title: mrkdwn('Run 17'),
    },
    '[picture: the gel](https://x.example/gel.png)\n\nRun 17',
  ],
  [
    'how a step of a plan ended',
    { type: 'plan', title: 'Variants', tasks: [{ type: 'task_card', title: 'Align', status: 'error' }] },
    'Variants\n\nAlign\n\nerror',
  ],
  [
    'the numbers of a chart, and its axes',
    {
      type: 'data_visualization',
      title: 'Yields',
      chart: {
        type: 'bar',
        series: [{ name: 'run 1', data: [{ label: 'Mon', value: -1.5 }] }],
        axis_config: { categories: ['Mon'], x_label: 'Day', y_label: 'ng' },
      },
    },
    'Yields\n\nDay\n\nng\n\nrun 1\n\nMon: -1.5',
  ],
  [
    'the parts of a pie',
    {
      type: 'data_visualization',
      title: 'Cells',
      chart: { type: 'pie', segments: [{ label: 'CD4*', value: 30 }] },
    },
    'Cells\n\nCD4*: 30',
  ],
  [
    'the sources of a step',
    {
      type: 'task_card',
      title: 'Look up',
      sources: [{ type: 'url', url: 'https://c.example/1', text: 'C' }],
    },
    'Look up\n\n[C](https://c.example/1)',
  ],
  [
    'who made a video, and where it is',
    {
      type: 'video',
      title: plain('Loading'),
      title_url: 'https://v.example/1',
      author_name: 'Core',
      description: plain('Wash twice'),
    },
    'Core\n\nLoading\n\nhttps://v.example/1\n\nWash twice',
  ],
  [
    "a pipe in a Markdown table's cell, and outside of one",
    { type: 'markdown', text: '| a | p(A\\|B) |\n|---|---|\n| 1 | \\*2 |\n\np(A\\|B)' },
    '| a | p(A\\|B) |\n|---|---|\n| 1 | *2 |\n\np(A|B)',
  ],
  [
    'Markdown that begins with the sign for less',
    { type: 'markdown', text: '<5 cells, <@U0ADA>' },
    '<5 cells, @Ada Lovelace',
  ],
  [
    'a mention, a link and code in bold',
    { type: 'section', text: mrkdwn('*<@U0ADA>* set *<https://x.example|#9 RIN> to `3`* ~<#C0LAB>~') },
    '**@Ada Lovelace** set **[#9 RIN](https://x.example) to `3`** ~~#lab-results~~',
  ],
  [
    'a time of day with its zone, and the address of a date',
    {
      type: 'section',
      text: mrkdwn(
        '<!date^1767225600^{date_num} {time}|1 am> <!date^1767225600^{date}^https://c.example|Jan 1>',
      ),
    },
    '1 am (2026-01-01T00:00:00Z) [Jan 1](https://c.example)',
  ],
])('blocks show %s', (_what, block, shown) => {
  expect(readBlocks(block)).toBe(shown);
});

test('a summary that shares words with the blocks beside it is not read a second time', () => {
  const fields = [mrkdwn('*Sample*\nS-7'), mrkdwn('*RIN*\n3.1')];
  const blocks = [
    { type: 'header', text: plain('QC failed') },
    { type: 'section', fields },
  ];
  expect(read({ text: 'QC failed for sample S-7: RIN 3.1', blocks })).toBe(
    'QC failed\n\n**Sample**\nS-7\n\n**RIN**\n3.1',
  );
});

describe('an attachment of an app shows', () => {
  test('all its parts in their order, each once', () => {
    const shown = readAttachment({
      fallback: 'hidden',
      pretext: 'Alert',
      author_name: 'Grafana',
      title: 'Freezer 3',
      title_link: 'https://g.example/3',
      text: '-62 °C',
      fields: [{ title: 'Room', value: 'B12' }],
      image_url: 'https://g.example/3.png',
      actions: [
        { type: 'button', text: 'Runbook', url: 'https://g.example/r' },
        { type: 'button', text: 'Mute', value: 'secret' },
      ],
      footer: '<https://g.example|v11>',
      ts: 1_767_225_600,
    });
    expect(shown).toBe(
      [
        'Alert',
        'Grafana',
        '[Freezer 3](https://g.example/3)',
        '-62 °C',
        '**Room**: B12',
        '[picture: Freezer 3](https://g.example/3.png)',
        '[Runbook](https://g.example/r)',
        '[v11](https://g.example), 2026-01-01 00:00 UTC',
      ].join('\n\n'),
    );
  });

  test('its fallback only where it has nothing else, and its footer', () => {
    expect(readAttachment({ fallback: 'a plot', footer: 'R' })).toBe('a plot\n\nR');
    expect(readAttachment({ fallback: 'a plot', image_url: 'https://g.example/1' })).toBe(
      '[picture: a plot](https://g.example/1)',
    );
  });

  test('its fallback also where it only names its author, or has a button', () => {
    const author = { author_name: 'Grafana', fallback: 'RIN below 7' };
    expect(readAttachment(author)).toBe('Grafana\n\nRIN below 7');
    expect(readAttachment({ ...author, image_url: 'https://g.example/1' })).toBe(
      'Grafana\n\n[picture: RIN below 7](https://g.example/1)',
    );
    const actions = [{ type: 'button', text: 'Open', url: 'https://g.example/2' }];
    expect(readAttachment({ fallback: 'RIN below 7', actions })).toBe(
      'RIN below 7\n\n[Open](https://g.example/2)',
    );
  });

  test('a title of several lines as one', () => {
    expect(readAttachment({ title: 'A paper\n  on mice', title_link: 'https://p.example/1' })).toBe(
      '[A paper on mice](https://p.example/1)',
    );
    expect(readAttachment({ title: 'A paper\non mice' })).toBe('**A paper on mice**');
  });

  test('alleles in titles as they are', () => {
    const fields = [{ title: 'HLA-A*', value: 'A*02:01' }];
    expect(readAttachment({ title: 'HLA-A*02:01 typing', fields })).toBe(
      'HLA-A*02:01 typing\n\nHLA-A*: A*02:01',
    );
  });

  test('its fallback nowhere beside what was attached to a forwarded message', () => {
    const forwarded = { is_share: true, fallback: 'hidden', attachments: [{ title: 'Freezer 3' }] };
    expect(readAttachment(forwarded)).toBe('> Forwarded message:\n>\n> **Freezer 3**');
  });

  test('nothing of what Slack itself writes below a forwarded message', () => {
    const forwarded = { is_share: true, author_name: 'Ada', text: 'the words', footer: 'Posted in #lab' };
    expect(readAttachment(forwarded)).toBe('> Forwarded message from Ada:\n>\n> the words');
  });

  test('a mention that counts, unless a link is previewed or a message forwarded', () => {
    const mentions = (attachment: object) =>
      mentionedIds(parseMessage({ text: 'Alert', attachments: [attachment] })).includes(bot);
    const text = `<@${bot}> please look`;
    expect(mentions({ text })).toBe(true);
    expect(mentions({ blocks: [{ type: 'section', text: mrkdwn(text) }] })).toBe(true);
    expect(mentions({ text, is_share: true })).toBe(false);
    expect(mentions({ text, from_url: 'https://x.example' })).toBe(false);
    expect(mentions({ text: `\`${text}\`` })).toBe(false);
  });
});

describe("Slack's preview of a link", () => {
  const from_url = 'https://x.example/1';
  const heading = `Slack's preview of ${from_url}`;

  test.each<[string, object, string]>([
    [
      'its writer and its fields, but no picture',
      {
        author_name: 'Ada',
        title: 'T',
        fields: [{ title: 'Status', value: 'open' }],
        image_url: 'https://x',
      },
      'Ada – T – Status: open',
    ],
    ['each of its blocks apart', { blocks: [rich('one'), rich('two')] }, 'one – two'],
    ['its code', { text: '```samtools view```' }, 'samtools view'],
  ])('shows %s', (_what, shown, words) => {
    expect(readAttachment({ from_url, ...shown })).toBe(`[${heading}: ${words}]`);
  });

  test('names a record of an app that Slack shows', () => {
    const preview = { type: 'entity', title: plain('EXP-1 blot'), subtitle: plain('ELN') };
    const record = { from_url, fallback: '[no preview available]', preview };
    expect(readAttachment(record)).toBe(`[${heading}: EXP-1 blot – ELN]`);
    expect(readAttachment({ ...record, preview: undefined })).toBe(`[${heading}]`);
  });

  test('that an app made is read as it is, however long', () => {
    const code = 'x <- 1\n'.repeat(200);
    const unfurl = { from_url, is_app_unfurl: true, title: 'a.R', text: `\`\`\`${code}\`\`\`` };
    const lines = [`${heading}:`, '', '**a.R**', '', '```', ...code.trimEnd().split('\n'), '```'];
    expect(readAttachment(unfurl)).toBe(lines.map((line) => `> ${line}`.trimEnd()).join('\n'));
  });
});
