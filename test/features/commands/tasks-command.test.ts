import { expect, test } from 'vitest';
import { checkBlocks } from '../../../sandbox/slack/block-validation.ts';
import { channelTasksMessage } from '../../../src/features/commands/tasks-command.ts';
import { LONGEST_TITLE, now, taskSummary } from '../../support/task-summary.ts';

test.each([0, 1, 100, 1_000])('the list of a channel fits Slack with %i tasks', (count) => {
  const tasks = Array.from({ length: count }, () => taskSummary({ title: LONGEST_TITLE }));
  const message = channelTasksMessage(tasks, count, now);
  expect(() => checkBlocks(message.blocks, 'message')).not.toThrow();
  expect(message.text.length).toBeLessThan(4_000);
  expect(message.text.includes('App Home')).toBe(count > 10);
});
