import { describe, expect, test } from 'vitest';
import { checkBlocks } from '../../../sandbox/slack/block-validation.ts';
import {
  type DisplayedReply,
  type ReplyPhase,
  renderReply,
} from '../../../src/render/messages/reply-message.ts';

const turnId = '01a1fbfe-6e3a-7000-83e3-5e284a624414';

/** The one message of a reply with a short answer. */
function rendered(fields: Partial<DisplayedReply>): { text: string; shown: string } {
  const messages = renderReply({
    turnId,
    phase: 'done',
    blocks: [{ kind: 'text', text: 'The answer.' }],
    elapsedMs: 65_000,
    notes: [],
    maxMessages: 12,
    ...fields,
  });
  expect(messages).toHaveLength(1);
  const blocks = messages.flatMap((message) => checkBlocks(message.blocks, 'message'));
  return { text: messages[0]?.text ?? '', shown: JSON.stringify(blocks) };
}

describe('a reply', () => {
  test.each([
    ['starting', 'Got it, getting started…'],
    ['uploading', 'Sending your files to the agent…'],
    ['queued', 'The agent service has your message'],
    ['working', 'The agent is working on it… · 1 min'],
    ['stopping', 'Stopping…'],
    ['done', 'Took 1 min'],
    ['cancelled', 'Stopped.'],
    ['failed', 'The agent ran into a problem and stopped. It has your message'],
    ['length', 'Press Continue'],
    ['delayed', 'The agent service is very busy right now.'],
  ] satisfies [ReplyPhase, string][])(
    'in the phase %s says so below what there is of the answer, also in the text',
    (phase, words) => {
      const { text, shown } = rendered({ phase });
      expect(shown).toContain('The answer.');
      expect(shown).toContain(words);
      expect(text).toMatch(/^The answer\.\n/);
      expect(text).toContain(words);
    },
  );

  test.each([
    ['working', 'stop'],
    ['length', 'continue'],
    ['failed', 'retry'],
  ] satisfies [ReplyPhase, string][])('in the phase %s has the button %s for its turn', (phase, action) => {
    const { shown } = rendered({ phase });
    expect(shown).toContain(`"action_id":"${action}"`);
    expect(shown).toContain(`"value":"${turnId}"`);
  });

  test.each(['working', 'failed', 'cancelled', 'delayed'] as const)(
    'in the phase %s says the sentence that it is given in place of its own',
    (phase) => {
      const { shown } = rendered({ phase, sentence: 'Stopped by <!channel> Ada.' });
      expect(shown).toContain('Ada.');
      expect(shown).not.toContain('<!channel>');
      expect(shown).not.toContain('The agent is working');
    },
  );

  test.each(['done', 'failed', 'cancelled'] as const)(
    'in the phase %s with a sentence in place of an answer and of steps does not say how long it took',
    (phase) => {
      const sentence = "You don't have access to this agent here.";
      expect(rendered({ phase, sentence, blocks: [] }).shown).not.toContain('Took');
      expect(rendered({ phase, sentence }).shown).toContain(phase === 'done' ? 'access' : 'Took 1 min');
      const step = { kind: 'tool_use', id: 't', name: 'look', input: {} } as const;
      expect(rendered({ phase, sentence, blocks: [step] }).shown).toContain('1 step in 1 min');
    },
  );

  test('that ends without text says so', () => {
    expect(rendered({ blocks: [] }).shown).toContain('The agent finished without writing anything.');
    expect(rendered({ blocks: [], phase: 'failed' }).shown).not.toContain('without writing');
  });

  test('shows its notes below the answer, one on each line, and counts those that do not fit', () => {
    expect(rendered({ notes: ['a.csv was\nleft out.', ' ', 'b.csv was left out.'] }).shown).toContain(
      '"a.csv was left out.\\nb.csv was left out."',
    );
    const many = Array.from({ length: 40 }, (_, index) => `${index} ${'x'.repeat(200)}`);
    expect(rendered({ notes: many }).shown).toMatch(/… and \d+ more\./);
  });

  test('puts what is below the answer in a separate message if the last one is full', () => {
    const text = 'word '.repeat(1_880).trimEnd();
    const notes = Array.from({ length: 10 }, () => 'n'.repeat(240));
    const messages = renderReply({
      ...{ turnId, phase: 'done', elapsedMs: 1_000, notes, maxMessages: 12 },
      blocks: [{ kind: 'text', text }],
    });
    expect(messages).toHaveLength(2);
    expect(messages[1]?.text).toMatch(/^n{240}\n[\s\S]*n\nTook 1 s$/);
    for (const { blocks } of messages) expect(checkBlocks(blocks, 'message').length).toBeGreaterThan(0);
  });
});
