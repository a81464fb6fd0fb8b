import { describe, expect, test } from 'vitest';
import { checkBlocks } from '../../../sandbox/slack/block-validation.ts';
import { FILES_PER_PAGE, type TaskFile, taskView } from '../../../src/features/task-details/task-view.ts';
import { LONGEST_TITLE, now, taskSummary } from '../../support/task-summary.ts';

describe('the details of a task', () => {
  const shared = { isComplete: true, offersLook: false, home: { page: 0, channelPage: 0 }, now };
  const files = (count: number): TaskFile[] =>
    Array.from({ length: count }, (_, index) =>
      index % 3 === 0
        ? { kind: 'input', id: `file_${index}`, name: `${LONGEST_TITLE}.csv`, sizeBytes: 1_000 }
        : index % 3 === 1
          ? {
              kind: 'output',
              name: `${LONGEST_TITLE}.csv`,
              sizeBytes: 1_000,
              url: `https://host/${'a'.repeat(index * 500)}`,
            }
          : { kind: 'gone' },
    );

  test.each([0, 1, 100, 1_000])('fit Slack with %i files', (count) => {
    const shown = files(Math.min(count, FILES_PER_PAGE));
    const details = {
      task: taskSummary({ task_title: LONGEST_TITLE }),
      id: 'tsk_1',
      reviews: Array(50).fill({ status: '&'.repeat(100), messageId: null, errorMessage: '&'.repeat(4_000) }),
      files: shown,
      page: 0,
      count,
      ...shared,
    };
    const view = taskView({ ...details, note: 'x'.repeat(5_000) });
    expect(() => checkBlocks(view.blocks, 'modal')).not.toThrow();
    expect(view.private_metadata?.length).toBeLessThan(3_000);
    expect(JSON.stringify(view.blocks).includes('task_files_more')).toBe(count > FILES_PER_PAGE);
  });

  test('name each review with its state, and with the error of one that failed', () => {
    const of = (status: string, errorMessage: string | null) => ({ status, errorMessage, messageId: 'm' });
    const reviews = [
      of('completed', null),
      of('running', null),
      of('completed', 'No *time*, see <https://one.example>'),
      of('failed', null),
      of('R&D <ok>', null),
      of('failed', 'a\nb\u202e'),
    ];
    const details = { task: taskSummary(), id: 'tsk_1', reviews, files: [], page: 0, count: 0, ...shared };
    const { blocks } = taskView(details);
    const lines = JSON.stringify(blocks).match(/(?<="plain_text","text":")Review: [^"]+/g);
    expect(lines).toEqual([
      'Review: done',
      'Review: working',
      'Review: failed (“No *time*, see <https://one.example>”)',
      'Review: failed',
      'Review: R&D <ok>',
      'Review: failed (“a b”)',
    ]);
  });

  test('ask for confirmation before a deletion', () => {
    const details = {
      task: taskSummary(),
      id: 'tsk_1',
      reviews: [],
      files: undefined,
      page: 0,
      count: 0,
      ...shared,
    };
    const [deletion] =
      JSON.stringify(taskView(details).blocks).match(/"action_id":"task_delete".*?"confirm":\{.*?\}\}/) ?? [];
    expect(deletion).toContain('Delete this task?');
  });
});
