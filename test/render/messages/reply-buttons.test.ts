import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkBlocks } from '../../../sandbox/slack/block-validation.ts';
import { endedNotice, feedbackButtons, noteWithButtons } from '../../../src/render/messages/button-notes.ts';
import * as strings from '../../../src/render/strings/index.ts';

const turn = '01920000-0000-7000-8000-000000000001';

test('the paused notice is accepted by Slack, whatever the number and the name', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000 }), fc.string({ maxLength: 300 }), (count, who) => {
      for (const { blocks, text } of [
        noteWithButtons(strings.messagesPaused(count), ['send_paused', 'discard_paused'], turn),
        endedNotice(strings.pausedSent(count, who)),
        endedNotice(strings.pausedDiscarded(count, who)),
      ]) {
        expect(checkBlocks(blocks, 'message').length).toBeGreaterThan(0);
        expect(text).toContain(String(count));
      }
    }),
    { numRuns: 50 },
  );
});

test('thumbs name their turn', () => {
  const blocks = [feedbackButtons(turn)];
  expect(checkBlocks(blocks, 'message')).toHaveLength(1);
  const values = [...JSON.stringify(blocks).matchAll(/"value":"([^"]+)"/g)].map(([, value]) => value ?? '');
  expect(values).toEqual([`good/${turn}`, `bad/${turn}`]);
});
