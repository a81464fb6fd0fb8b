import { afterEach, describe, expect, test, vi } from 'vitest';
import { formSender, REPLY_FORMS } from '../../../src/relay/replies/fallback-forms.ts';
import type { NewBlock, RenderedMessage } from '../../../src/render/blocks/slack-blocks.ts';
import { feedbackButtons } from '../../../src/render/messages/button-notes.ts';
import { PayloadRefusedError } from '../../../src/slack/errors.ts';
import { silentLog } from '../../support/silent-log.ts';

const turnId = '01a1fbfe-6e3a-7000-83e3-5e284a624414';
const plan = { type: 'plan' as const, block_id: 'plan', title: 'P', tasks: [] };
const table = { type: 'data_table' as const, caption: 'T', rows: [] };
const markdown = { type: 'markdown' as const, text: 'The answer' };
const thumbs = feedbackButtons(turnId);

function message(without: NewBlock, ...below: RenderedMessage['blocks']): RenderedMessage {
  const simpler = { text: 'a', blocks: [markdown, ...below] };
  const blocks = [without === 'plan' ? plan : table, markdown, ...below];
  return { text: 'a', blocks, simpler: { without, message: simpler } };
}

/** A workspace that refuses these blocks, and what it was sent. */
function workspaceWithout(...refused: string[]) {
  const workspace = { wasThereAfter: async () => true, blocksLeftOutUntil: new Map<string, number>() };
  const sent: string[] = [];
  const counted: string[] = [];
  const deps = { log: silentLog, onBlockRefused: (block: string) => counted.push(block) };
  const onPicturesRefused = vi.fn<() => void>();
  const sendForm = formSender({ deps, workspace }, { id: turnId }, onPicturesRefused);
  const send = (one: RenderedMessage) =>
    sendForm(
      'reply:0',
      REPLY_FORMS,
      () => one,
      async (form) => {
        const types = form(one).blocks.map(({ type }) => type);
        sent.push(types.join(' '));
        if (types.some((type) => refused.includes(type)))
          throw new PayloadRefusedError(
            { method: 'chat.update', slackCode: 'invalid_blocks', outcome: 'none' },
            'No.',
          );
      },
    );
  return { send, sent, counted, onPicturesRefused };
}

describe('a message that Slack refuses', () => {
  afterEach(() => vi.useRealTimers());

  test('is sent once more without its new block, which is then left out for six hours', async () => {
    vi.useFakeTimers();
    const { send, sent, counted } = workspaceWithout('plan');
    await send(message('plan'));
    await send(message('plan'));
    expect(sent).toEqual(['plan markdown', 'markdown', 'markdown']);
    expect(counted).toEqual(['plan']);
    vi.advanceTimersByTime(6 * 3_600_000);
    await send(message('plan'));
    expect(sent.slice(3)).toEqual(['plan markdown', 'markdown']);
    expect(counted).toEqual(['plan', 'plan']);
  });

  test('keeps the blocks that are not at fault', async () => {
    const { send, sent, counted } = workspaceWithout('context_actions');
    await send(message('data_table', thumbs));
    expect(counted).toEqual(['context_actions']);
    await send(message('data_table', thumbs));
    expect(sent).toEqual([
      'data_table markdown context_actions',
      'markdown context_actions',
      'markdown',
      'data_table markdown',
    ]);
    const other = workspaceWithout('plan');
    await other.send(message('plan'));
    await other.send(message('data_table', thumbs));
    expect(other.sent.at(-1)).toBe('data_table markdown context_actions');
  });

  test('tells of refused pictures only if it was taken without them', async () => {
    const picture = { type: 'image' as const, image_url: 'https://example.org/a.png', alt_text: 'A' };
    const withoutPicture = { text: 'a', blocks: [markdown] };
    const withPicture = {
      text: 'a',
      blocks: [markdown, picture],
      simpler: { without: 'image' as const, message: withoutPicture },
    };
    const whole = {
      text: 'a',
      blocks: [plan, markdown, picture],
      simpler: { without: 'plan' as const, message: withPicture },
    };
    const onlyPlan = workspaceWithout('plan');
    await onlyPlan.send(whole);
    expect(onlyPlan.sent).toEqual(['plan markdown image', 'markdown image']);
    expect(onlyPlan.onPicturesRefused).not.toHaveBeenCalled();
    const onlyPicture = workspaceWithout('image');
    await onlyPicture.send(withPicture);
    expect(onlyPicture.onPicturesRefused).toHaveBeenCalledOnce();
  });

  test('keeps its formatting where only the list of its sources is refused', async () => {
    const { send, sent, counted } = workspaceWithout('rich_text');
    await send(message('plan', { type: 'rich_text', elements: [] }));
    expect(sent).toEqual(['plan markdown rich_text', 'markdown rich_text', 'markdown']);
    expect(counted).toEqual([]);
  });

  test('becomes plain text where its Markdown is refused, and nothing is left out for that', async () => {
    const { send, sent, counted } = workspaceWithout('markdown');
    await send(message('plan'));
    expect(sent).toEqual(['plan markdown', 'markdown', 'section']);
    expect(counted).toEqual([]);
  });
});
