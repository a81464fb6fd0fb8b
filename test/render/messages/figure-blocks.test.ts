import { describe, expect, test } from 'vitest';
import { checkBlocks } from '../../../sandbox/slack/block-validation.ts';
import { type DisplayedReply, renderReply } from '../../../src/render/messages/reply-message.ts';
import { figurePaths } from '../../../src/render/messages/split-answer.ts';

/** What a finished answer shows. */
function shown(answer: string, figures?: DisplayedReply['figures']) {
  const state: DisplayedReply = {
    turnId: '8e6f0d5c-0f6e-4a8f-9a7f-3a2c1d9b7e55',
    phase: 'done',
    blocks: [{ kind: 'text', text: answer }],
    elapsedMs: 1_000,
    notes: [],
    maxMessages: 12,
    newBlocks: ['data_table'],
    figures,
  };
  const messages = renderReply(state);
  for (const { blocks, simpler } of messages) {
    checkBlocks(blocks, 'message');
    if (simpler !== undefined) checkBlocks(simpler.message.blocks, 'message');
  }
  const pieces = messages.flatMap(({ blocks }) =>
    blocks.flatMap((block) => {
      if (block.type === 'markdown') return block.text;
      if (block.type !== 'image' || !('slack_file' in block)) return [];
      return 'id' in block.slack_file ? `<${block.slack_file.id}>` : [];
    }),
  );
  return { pieces, messages, paths: figurePaths(state) };
}

const placed = new Map([
  ['a.png', 'FAAAAAAAA'],
  ['b.png', 'FBBBBBBBB'],
  ['c.png', null],
]);

describe('a figure of a finished answer', () => {
  test.each([
    ['is still to come', 'One.\n\n![A](a.png)', undefined, ['One.\n\nFigure: a.png, below']],
    [
      'stands on its own line',
      'One.\n![A](a.png)\n*Its title.*',
      placed,
      ['One.\n', '<FAAAAAAAA>', '\n*Its title.*'],
    ],
    [
      'stands within a list',
      '- see ![A](a.png) here\n- two\n\nThree.',
      placed,
      ['- see Figure: a.png, below here\n- two', '<FAAAAAAAA>', '\n\nThree.'],
    ],
    [
      'stands within a table',
      '| x |\n| - |\n| ![A](a.png) |\n\nThree.',
      placed,
      ['| x |\n| - |\n| Figure: a.png, below |', '<FAAAAAAAA>', '\n\nThree.'],
    ],
    ['comes twice', '![A](a.png)\n\n![B](b.png)\n', placed, ['<FAAAAAAAA>', '<FBBBBBBBB>']],
    ['is shared below', '![C](c.png)', placed, ['Figure: c.png, below']],
    [
      'never came',
      '![The *lost* one](d_1.png) and ![d.png](d.png)',
      placed,
      ['Figure: The lost one (d_1.png) and Figure: d.png'],
    ],
  ])('that %s', (_, answer, figures, pieces) => {
    expect(shown(answer, figures).pieces).toEqual(pieces);
  });

  test('has a simpler form, in words', () => {
    const [message] = shown('![A](a.png)', placed).messages;
    expect(message?.simpler?.without).toBe('image');
    expect(JSON.stringify(message?.simpler?.message.blocks)).toContain('Figure: a.png, below');
  });

  test('is in the text of its message by its label, wherever the picture is, or by its name', () => {
    const [message] = shown('![The *lost* one](d_1.png), ![A plot](a 1.png) and ![](c.png)', placed).messages;
    expect(message?.text.split('\n')[0]).toBe('The lost one, A plot and Figure: c.png, below');
  });

  test('is told by its path, decoded', () => {
    expect(shown('![A](sandbox:/mnt/data/a%20b.png) `![B](b.png)` ![C](https://c.org/c.png)').paths).toEqual([
      '/mnt/data/a b.png',
    ]);
  });

  test('stands beside a table that people can sort', () => {
    const rows = Array.from({ length: 12 }, (_, n) => `| ${n} |`).join('\n');
    const { messages } = shown(`![A](a.png)\n\n| n |\n| - |\n${rows}\n\n![B](b.png)`, placed);
    expect(messages[0]?.blocks.map(({ type }) => type).slice(0, 3)).toEqual(['image', 'data_table', 'image']);
    expect(messages[0]?.simpler?.message.simpler?.without).toBe('data_table');
  });
});
