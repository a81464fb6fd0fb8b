import { describe, expect, test } from 'vitest';
import { checkBlocks } from '../../sandbox/slack/block-validation.ts';
import { channelTasksMessage, runningTasksMessage } from '../../src/features/agent-command-answers.ts';
import { commandHelp } from '../../src/render/strings/index.ts';
import { LONGEST_TITLE, now, taskSummary } from '../support/task-summary.ts';

const turnId = '01a1fbfe-6e3a-7000-83e3-5e284a624414';
const url = 'https://lab.slack.com/archives/C1/p1';

const running = (count: number, task_title: string | null = 'A title') =>
  Array.from({ length: count }, (_, at) => ({
    turn_id: turnId,
    channel: 'C1',
    thread_ts: '1.000001',
    asked_by: 'U1',
    where: 'here' as const,
    task_title,
    is_stopping: at === 1,
    is_waiting: false,
    is_running: true,
    waits_since: null,
    started_at: new Date(Date.now() - 90_000),
    url,
  }));

describe('the answer to /agent status', () => {
  test.each([0, 1, 100, 1_000])('fits Slack with %i tasks', (count) => {
    for (const title of ['T'.repeat(300), '<!channel> | *x* <https://a|b>', '', null]) {
      const { text, blocks } = runningTasksMessage(running(count, title), ['A line.', 'Another one.']);
      checkBlocks(blocks, 'message');
      expect(text.length).toBeGreaterThan(0);
      expect(JSON.stringify(blocks)).not.toContain('<!channel>');
    }
  });

  test('has a Stop button for each task that is not stopping', () => {
    const { blocks } = runningTasksMessage(running(3), []);
    expect(blocks.filter((block) => 'accessory' in block)).toHaveLength(2);
    expect(JSON.stringify(blocks)).toContain('stopping');
    expect(JSON.stringify(blocks)).toContain(`"value":"${turnId}"`);
  });

  test('names every task in its text and beside its button', () => {
    const { text, blocks } = runningTasksMessage(running(3, 'Which genes & why?'), ['A line.']);
    expect(text).toBe(
      [
        'The agent is working for you here:',
        `<${url}|Which genes &amp; why?> · for 1 min`,
        `<${url}|Which genes &amp; why?> · stopping`,
        `<${url}|Which genes &amp; why?> · for 1 min`,
        'A line.',
      ].join('\n'),
    );
    expect(JSON.stringify(blocks).match(/"accessibility_label":"Stop: Which genes & why\?"/g)).toHaveLength(
      2,
    );
  });

  test('says that there are more', () => {
    expect(JSON.stringify(runningTasksMessage(running(21), []))).toContain('There are more');
    expect(JSON.stringify(runningTasksMessage(running(20), []))).not.toContain('There are more');
  });

  test('fits one message when it is the help', () => {
    expect(commandHelp.length).toBeLessThan(3_000);
  });
});

test.each([0, 1, 100, 1_000])('the list of a channel fits Slack with %i tasks', (count) => {
  const tasks = Array.from({ length: count }, () => taskSummary({ task_title: LONGEST_TITLE }));
  const message = channelTasksMessage(tasks, count, now);
  expect(() => checkBlocks(message.blocks, 'message')).not.toThrow();
  expect(Buffer.byteLength(message.text)).toBeLessThan(4_000);
  expect(message.text.includes('App Home')).toBe(count > 10);
});

test('the list of a channel has its tasks in its text', () => {
  const tasks = [
    taskSummary({ task_title: 'Lane 4' }),
    taskSummary({ task_title: 'Lane 5', state: 'failed' }),
  ];
  const { text } = channelTasksMessage(tasks, 2, now);
  expect(text).toMatch(/^The 2 tasks here, newest first:\n.*Lane 4.*\n.*\n.*Lane 5.*\nfailed/);
});
