import type { TaskSummary } from '../../src/render/blocks/task-lines.ts';

export const now = Date.parse('2026-11-21T12:00:00Z');

/** The longest title after escaping, with what Slack could read as a mention. */
export const LONGEST_TITLE = '<!channel>&'.repeat(30).slice(0, 300);

/** A finished task, with these changes. */
export function taskSummary(change: Partial<TaskSummary> = {}): TaskSummary {
  return {
    channel: 'C0000000001',
    thread_ts: '1700000000.000100',
    task_title: 'Count the sheep',
    state: 'completed',
    task_model: null,
    started_at: new Date(now - 3 * 3_600_000),
    started_by: 'U0000000001',
    permalink: 'https://sandbox.slack.com/archives/C0000000001/p1700000000000100',
    ...change,
  };
}
