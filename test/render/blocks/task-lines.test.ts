import { describe, expect, test } from 'vitest';
import { taskLine } from '../../../src/render/blocks/task-lines.ts';
import { LONGEST_TITLE, now, taskSummary } from '../../support/task-summary.ts';

describe('a line about a task', () => {
  test('shows title, state, model, age and channel', () => {
    expect(taskLine(taskSummary(), now, 'channel')).toBe(
      '<https://sandbox.slack.com/archives/C0000000001/p1700000000000100|Count the sheep>\ndone · 3 h ago · <#C0000000001>',
    );
    expect(taskLine(taskSummary({ channel: 'D1', permalink: null, task_model: 'max' }), now, 'channel')).toBe(
      'Count the sheep\ndone · Max · 3 h ago · direct message',
    );
    expect(taskLine(taskSummary({ started_by: '', state: 'gone' }), now, 'starter')).toMatch(
      /no longer at the agent service · 3 h ago$/,
    );
  });

  test('keeps a title from pinging anyone, ending its link or filling the list', () => {
    const line = taskLine(taskSummary({ task_title: LONGEST_TITLE }), now, 'starter');
    expect(line).not.toContain('<!channel>');
    expect(line.length).toBeLessThan(1_500);
    const odd = taskLine(taskSummary({ task_title: 'a\n> b|c>\u202Ed' }), now, 'starter');
    expect(odd.split('\n')[0]).toBe(
      'a &gt; b|c&gt;d (<https://sandbox.slack.com/archives/C0000000001/p1700000000000100|Open thread>)',
    );
    const marks = { task_title: '*_R1_*.fastq.gz of 5~10 <mg' };
    expect(taskLine(taskSummary({ ...marks, permalink: null }), now, 'starter')).toMatch(
      /^`\*_R1_\*\.fastq\.gz of 5~10 &lt;mg`\n/,
    );
    expect(taskLine(taskSummary(marks), now, 'starter')).toContain('|*_R1_*.fastq.gz of 5~10 &lt;mg>');
    expect(taskLine(taskSummary({ task_title: null }), now, 'starter')).toContain('Untitled task');
    const page = taskLine(taskSummary({ task_title: 'see https://one.example/a' }), now, 'starter');
    expect(page).toMatch(/^`see https:\/\/one\.example\/a` \(<[^|]+\|Open thread>\)/);
    for (const task_title of ['see one.example', 'WWW.ONE.EXAMPLE', 'see //server/share', 'one .example'])
      expect(taskLine(taskSummary({ task_title }), now, 'starter')).not.toContain(`|${task_title}>`);
    for (const task_title of ['Compare counts.csv', 'TP53 p.Arg175His', 'of 3.5 mg, e.g. two'])
      expect(taskLine(taskSummary({ task_title }), now, 'starter')).toContain(`|${task_title}>`);
    const state = taskLine(taskSummary({ state: '*odd*, see <https://one.example>' }), now, 'starter');
    expect(state).toContain('odd , see &lt;https //one.example&gt;');
    expect(taskLine(taskSummary({ permalink: 'javascript:alert(1)' }), now, 'starter')).toMatch(/^Count/);
    expect(taskLine(taskSummary({ state: 'on <holiday>' }), now, 'starter')).toContain('on &lt;holiday&gt;');
  });
});
