import type { Block } from '../../sandbox/slack/model.ts';

const plain = (text: string) => ({ type: 'plain_text', text });
const mrkdwn = (text: string) => ({ type: 'mrkdwn', text });
const button = (action_id: string, more: object = {}) => ({
  type: 'button',
  action_id,
  text: plain(action_id),
  ...more,
});
const richText = (text: string) => ({
  type: 'rich_text',
  elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text }] }],
});
const options = ['one', 'two'].map((value) => ({ text: plain(value), value }));

const markdown = [
  '## A heading',
  'Some **bold** and `code`, a [link](https://example.com/paper) and <b>no HTML</b>.',
  '| gene | reads |\n| --- | ---: |\n| TP53 | 12 |',
  '```python\nprint("<script>alert(1)</script>")\n```',
  '- [x] done\n- [ ] open',
  '[not a link](javascript:alert(1)) ![a picture](https://example.com/a.png)',
].join('\n\n');

/** Blocks of every type that the bot posts; `address` is one on this machine. */
export function everyBlock(address: string): Block[] {
  return [
    { type: 'header', text: plain('A header') },
    { type: 'markdown', text: markdown },
    { type: 'divider' },
    {
      type: 'section',
      text: mrkdwn(
        '*Bold* _italic_ ~gone~ `code` <https://example.com/a|a page> &lt;b&gt; :tada:\n&gt; quoted',
      ),
      fields: [mrkdwn('*Field* one'), plain('Field two <i>')],
      accessory: button('open_result', { url: address }),
    },
    {
      type: 'actions',
      elements: [
        button('stop', { value: 'turn-1', style: 'danger' }),
        button('delete', {
          confirm: {
            title: plain('Sure?'),
            text: plain('It is gone then.'),
            confirm: plain('Yes'),
            deny: plain('No'),
          },
        }),
        { type: 'static_select', action_id: 'pick', placeholder: plain('Pick one'), options },
        { type: 'overflow', action_id: 'more', options },
        { type: 'checkboxes', action_id: 'ticks', options },
        { type: 'radio_buttons', action_id: 'radio', options },
      ],
    },
    {
      type: 'context_actions',
      elements: [
        {
          type: 'feedback_buttons',
          action_id: 'feedback',
          positive_button: { text: plain('Good answer'), value: 'up' },
          negative_button: { text: plain('Bad answer'), value: 'down' },
        },
      ],
    },
    { type: 'context', elements: [plain('A small line'), mrkdwn('with *style*')] },
    {
      type: 'rich_text',
      elements: [
        {
          type: 'rich_text_section',
          elements: [
            { type: 'text', text: 'Rich ', style: { bold: true } },
            { type: 'emoji', name: 'dna' },
          ],
        },
        {
          type: 'rich_text_list',
          style: 'bullet',
          elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text: 'an item' }] }],
        },
        { type: 'rich_text_quote', elements: [{ type: 'text', text: 'a quote' }] },
        { type: 'rich_text_preformatted', elements: [{ type: 'text', text: 'x = 1' }] },
      ],
    },
    {
      type: 'table',
      rows: [
        [
          { type: 'raw_text', text: 'name' },
          { type: 'raw_text', text: 'value' },
        ],
        [
          { type: 'raw_text', text: 'alpha' },
          { type: 'raw_text', text: '1' },
        ],
      ],
    },
    {
      type: 'plan',
      title: 'Looking at the run',
      tasks: [
        {
          type: 'task_card',
          task_id: 't1',
          title: 'Read the table',
          status: 'complete',
          output: richText('14,245 rows'),
        },
        { type: 'task_card', task_id: 't2', title: 'Draw the chart', status: 'in_progress' },
      ],
    },
  ];
}

/** A modal with every kind of input that the bot shows. */
export const everyInput = {
  type: 'modal',
  callback_id: 'start',
  title: plain('Ask the agent'),
  submit: plain('Start'),
  close: plain('Not now'),
  blocks: [
    {
      type: 'input',
      block_id: 'question',
      label: plain('Question'),
      hint: plain('In your own words'),
      element: { type: 'plain_text_input', action_id: 'text', multiline: true },
    },
    {
      type: 'input',
      block_id: 'model',
      label: plain('Model'),
      element: { type: 'static_select', action_id: 'choice', options, initial_option: options[0] },
    },
    {
      type: 'input',
      block_id: 'channel',
      label: plain('Channel'),
      element: { type: 'conversations_select', action_id: 'place', default_to_current_conversation: true },
    },
    {
      type: 'input',
      block_id: 'places',
      optional: true,
      label: plain('Places'),
      element: { type: 'multi_conversations_select', action_id: 'where' },
    },
    {
      type: 'input',
      block_id: 'flags',
      optional: true,
      label: plain('Options'),
      element: { type: 'checkboxes', action_id: 'flags', options },
    },
    {
      type: 'input',
      block_id: 'files',
      optional: true,
      label: plain('Files'),
      element: { type: 'file_input', action_id: 'files', max_files: 3 },
    },
    { type: 'actions', block_id: 'acts', elements: [button('redraw')] },
  ],
};
