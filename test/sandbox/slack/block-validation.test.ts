import { describe, expect, test } from 'vitest';
import { checkBlocks } from '../../../sandbox/slack/block-validation.ts';
import { SlackRefusal } from '../../../sandbox/slack/slack-refusal.ts';
import { visibleText } from '../../../sandbox/slack/visible-text.ts';

const plain = (text: string) => ({ type: 'plain_text', text });
const mrkdwn = (text: string) => ({ type: 'mrkdwn', text });
const section = (text: string) => ({ type: 'section', text: mrkdwn(text) });
const button = (more: object = {}) => ({ type: 'button', action_id: 'go', text: plain('Go'), ...more });
const actions = (...elements: object[]) => ({ type: 'actions', elements });
const markdown = (text: string) => ({ type: 'markdown', text });
const rich = (...elements: object[]) => ({
  type: 'rich_text',
  elements: [{ type: 'rich_text_section', elements }],
});
const cell = (text: string) => ({ type: 'raw_text', text });
const table = (rows: object[][]) => ({ type: 'table', rows });
const dataTable = (rows: object[][]) => ({ type: 'data_table', caption: 'T', rows });
const plan = (tasks: object[]) => ({ type: 'plan', title: 'Plan', tasks });
const task = (more: object = {}) => ({
  type: 'task_card',
  task_id: '1',
  title: 'Look',
  status: 'complete',
  ...more,
});

function verdict(blocks: unknown, surface: 'message' | 'modal' | 'home' = 'message'): string {
  try {
    checkBlocks(blocks, surface);
    return 'ok';
  } catch (error) {
    if (error instanceof SlackRefusal) return error.code;
    throw error;
  }
}

function reasons(blocks: unknown): string {
  try {
    checkBlocks(blocks, 'message');
    return '';
  } catch (error) {
    return JSON.stringify(error instanceof SlackRefusal ? error.extra : error);
  }
}

describe('blocks that Slack takes', () => {
  test.each([
    ['a section with a button', [{ ...section('x'), accessory: button() }]],
    ['an actions block', [actions(button({ style: 'danger', value: 'v' }), button({ action_id: 'b' }))]],
    ['marks up to the limit as entities', [markdown('>'.repeat(3_300))]],
    ['20 headings with the rest of their room', [markdown(`${'# a\n'.repeat(20)}${'b'.repeat(10_400)}`)]],
    ['comments in code', [markdown(`\`\`\`\n${'# a\n'.repeat(100)}${'b'.repeat(11_000)}\n\`\`\``)]],
    ['markdown of 12,000 characters', [markdown('a'.repeat(12_000))]],
    [
      'rich text',
      [rich({ type: 'text', text: 'a', style: { bold: true } }, { type: 'user', user_id: 'U1' })],
    ],
    [
      'a table',
      [
        table([
          [cell('a'), cell('b')],
          [cell('1'), { type: 'raw_number', value: 2, text: '2' }],
        ]),
      ],
    ],
    ['a plan with a pending task', [plan([task({ status: 'pending' })])]],
    ['a pending task outside a plan', [task({ status: 'pending' })]],
    [
      'a data table of 100 rows and a header',
      [
        {
          ...dataTable(Array.from({ length: 101 }, () => [cell('a')])),
          page_size: 10,
          row_header_column_index: 0,
        },
      ],
    ],
    [
      'feedback',
      [
        {
          type: 'context_actions',
          elements: [
            {
              type: 'feedback_buttons',
              action_id: 'f',
              positive_button: { text: plain('Good'), value: 'good' },
              negative_button: { text: plain('Bad'), value: 'bad' },
            },
          ],
        },
      ],
    ],
    [
      'a file-less header, context and divider',
      [
        { type: 'header', text: plain('H') },
        { type: 'context', elements: [mrkdwn('c')] },
        { type: 'divider' },
      ],
    ],
  ])('%s', (_name, blocks) => {
    expect(verdict(blocks)).toBe('ok');
    expect(verdict(JSON.parse(JSON.stringify(blocks)))).toBe('ok');
  });

  test('inputs stand in modals', () => {
    const input = {
      type: 'input',
      label: plain('Name'),
      element: { type: 'plain_text_input', action_id: 'name' },
    };
    expect(verdict([input], 'modal')).toBe('ok');
  });
});

describe('blocks that Slack refuses', () => {
  test.each([
    ['no list', 'invalid_blocks_format', { type: 'divider' }],
    ['a block without a type', 'invalid_blocks', [{}]],
    ['an unknown type', 'invalid_blocks', [{ type: 'fancy' }]],
    ['an unknown field', 'invalid_blocks', [{ ...section('x'), colour: 'red' }]],
    ['an unknown field deep inside', 'invalid_blocks', [actions(button({ color: 'red' }))]],
    ['an empty text', 'invalid_blocks', [section('')]],
    ['a section above 3,000 characters', 'invalid_blocks', [section('a'.repeat(3001))]],
    ['a section without text and fields', 'invalid_blocks', [{ type: 'section' }]],
    ['a header above 150 characters', 'invalid_blocks', [{ type: 'header', text: plain('a'.repeat(151)) }]],
    ['a header in mrkdwn', 'invalid_blocks', [{ type: 'header', text: mrkdwn('a') }]],
    [
      'a button text above 75 characters',
      'invalid_blocks',
      [actions(button({ text: plain('a'.repeat(76)) }))],
    ],
    [
      'a button value above 2,000 characters',
      'invalid_blocks',
      [actions(button({ value: 'a'.repeat(2001) }))],
    ],
    ['a button whose url is none', 'invalid_blocks', [actions(button({ url: 'example' }))]],
    ['an unknown button style', 'invalid_blocks', [actions(button({ style: 'loud' }))]],
    [
      '26 elements',
      'invalid_blocks',
      [actions(...Array.from({ length: 26 }, (_, i) => button({ action_id: `a${i}` })))],
    ],
    ['an action_id twice in a block', 'invalid_blocks', [actions(button(), button())]],
    [
      'a block_id twice',
      'invalid_blocks',
      [
        { ...section('a'), block_id: 'x' },
        { ...section('b'), block_id: 'x' },
      ],
    ],
    [
      'eleven context elements',
      'invalid_blocks',
      [{ type: 'context', elements: Array(11).fill(mrkdwn('a')) }],
    ],
    ['51 blocks', 'invalid_blocks', Array.from({ length: 51 }, () => ({ type: 'divider' }))],
    ['markdown that becomes 51 blocks', 'invalid_blocks', [markdown('# h\ntext\n'.repeat(26))]],
    ['markdown above 12,000 characters', 'invalid_blocks', [markdown('a'.repeat(12_001))]],
    [
      'markdown blocks above 12,000 characters together',
      'msg_blocks_too_long',
      [markdown('a'.repeat(7000)), markdown('a'.repeat(7000))],
    ],
    [
      '12,001 characters of all kinds',
      'msg_blocks_too_long',
      [...Array.from({ length: 4 }, () => section('a'.repeat(3000))), section('a')],
    ],
    ['40 headings', 'msg_blocks_too_long', [markdown(`${'# a\n'.repeat(40)}${'b'.repeat(8_500)}`)]],
    ['marks above the limit as entities', 'msg_blocks_too_long', [markdown('<'.repeat(3_400))]],
    ['101 table rows', 'invalid_blocks', [table(Array.from({ length: 101 }, () => [cell('a')]))]],
    ['21 table columns', 'invalid_blocks', [table([Array.from({ length: 21 }, () => cell('a'))])]],
    [
      'tables above 10,000 characters',
      'invalid_blocks',
      [table([[cell('a'.repeat(6000))]]), table([[cell('a'.repeat(6000))]])],
    ],
    ['a file block', 'invalid_blocks', [{ type: 'file', source: 'remote', external_id: 'x' }]],
    ['a plan beside a task card', 'invalid_blocks', [plan([task()]), task({ task_id: '2' })]],
    ['two plans', 'invalid_blocks', [plan([task()]), plan([task()])]],
    ['a plan without tasks', 'invalid_blocks', [plan([])]],
    [
      'a plan of 21 tasks',
      'invalid_blocks',
      [plan(Array.from({ length: 21 }, (_, n) => task({ task_id: `${n}` })))],
    ],
    ['a task id twice', 'invalid_blocks', [plan([task(), task()])]],
    ['a task that is "completed"', 'invalid_blocks', [plan([task({ status: 'completed' })])]],
    [
      'a plan with a text object as its title',
      'invalid_blocks',
      [{ ...plan([task()]), title: plain('Plan') }],
    ],
    [
      "a stream's source in a task",
      'invalid_blocks',
      [plan([task({ sources: [{ type: 'url_source', url: 'https://a.example', text: 'a' }] })])],
    ],
    [
      'a source without text',
      'invalid_blocks',
      [plan([task({ sources: [{ type: 'url', url: 'https://a.example', text: '' }] })])],
    ],
    ['a data table without rows', 'invalid_blocks', [dataTable([[cell('a')]])]],
    [
      'a data table of 102 rows',
      'invalid_blocks',
      [dataTable(Array.from({ length: 102 }, () => [cell('a')]))],
    ],
    ['a data table with uneven rows', 'invalid_blocks', [dataTable([[cell('a')], [cell('a'), cell('b')]])]],
    [
      'rich text in the header of a data table',
      'invalid_blocks',
      [dataTable([[rich({ type: 'text', text: 'a' })], [cell('a')]])],
    ],
    [
      'a data table of 10,001 characters',
      'invalid_blocks',
      [dataTable([[cell('a')], [cell('a'.repeat(9_999))]])],
    ],
    [
      'an empty cell',
      'invalid_blocks',
      [dataTable([[cell('a')], [{ type: 'raw_number', value: 1, text: '' }]])],
    ],
    [
      'two data tables',
      'invalid_blocks',
      [dataTable([[cell('a')], [cell('1')]]), dataTable([[cell('a')], [cell('1')]])],
    ],
    [
      'a data table without a caption',
      'invalid_blocks',
      [{ ...dataTable([[cell('a')], [cell('1')]]), caption: '' }],
    ],
    ['an empty rich text element', 'invalid_blocks', [rich({ type: 'text', text: '' })]],
    ['an unknown rich text element', 'invalid_blocks', [rich({ type: 'shout', text: 'a' })]],
  ])('%s', (_name, code, blocks) => {
    expect(verdict(blocks)).toBe(code);
  });

  test.each(['modal', 'home'] as const)('markdown and tasks in a %s', (surface) => {
    expect(verdict([markdown('a')], surface)).toBe('invalid_blocks');
    expect(verdict([task()], surface)).toBe('invalid_blocks');
  });

  test('the refusal names the place', () => {
    const extra = reasons([{ type: 'divider' }, actions(button({ color: 'red' }))]);
    expect(extra).toContain('color [json-pointer:/blocks/1/elements/0]');
  });

  test('the refusal of a plan names the place', () => {
    expect(reasons([plan([task(), task()])])).toContain('[json-pointer:/blocks/0/tasks/1/task_id]');
  });

  test('fences keep headings from becoming blocks of their own', () => {
    expect(verdict([markdown(`\`\`\`\n${'# h\ntext\n'.repeat(60)}\`\`\``)])).toBe('ok');
  });
});

test('shown text is what a reader sees', () => {
  const blocks = [
    { type: 'header', text: plain('H') },
    rich({ type: 'text', text: 'to ' }, { type: 'user', user_id: 'U1' }, { type: 'text', text: '!' }),
    table([[cell('a'), cell('b')]]),
    actions(button()),
  ];
  expect(visibleText(blocks)).toBe('H\nto <@U1>!\na | b\nGo');
});
