import { expect, test } from 'vitest';
import { checkBlocks } from '../../sandbox/slack/block-validation.ts';
import { commentView } from '../../src/features/answer-feedback.ts';

test.each([null, 'x'.repeat(3_000)])('the form for a comment fits Slack', (written) => {
  const view = commentView('01920000-0000-7000-8000-000000000001', written);
  expect(checkBlocks(view.blocks, 'modal')).toHaveLength(1);
  expect(view.title.text.length).toBeLessThanOrEqual(24);
});
