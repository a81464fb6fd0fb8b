import { describe, expect, test } from 'vitest';
import { checkBlocks } from '../../../sandbox/slack/block-validation.ts';
import {
  HOME_PAGE_SIZE,
  type HomeContent,
  homeView,
  parsePageButton,
  parseTaskButton,
} from '../../../src/features/home/home-view.ts';
import { FILES_PER_PAGE, type TaskFile, taskView } from '../../../src/features/tasks/task-view.ts';
import { type TaskSummary, taskLine, taskListMessage } from '../../../src/render/blocks/task-lines.ts';
import type { ViewBlock } from '../../../src/render/blocks/view-blocks.ts';

const now = Date.parse('2026-11-21T12:00:00Z');

/** The longest that a title becomes when it is escaped, and what Slack could read as a mention. */
const worst = '<!channel>&'.repeat(30).slice(0, 300);

function task(change: Partial<TaskSummary> = {}): TaskSummary {
  return {
    channel: 'C0000000001',
    root: '1700000000.000100',
    title: 'Count the sheep',
    state: 'completed',
    model: null,
    begunAt: new Date(now - 3 * 3_600_000),
    starter: 'U0000000001',
    url: 'https://sandbox.slack.com/archives/C0000000001/p1700000000000100',
    ...change,
  };
}

function content(count: number, change: Partial<HomeContent> = {}): HomeContent {
  const tasks = Array.from({ length: Math.min(count, HOME_PAGE_SIZE) }, () => task({ title: worst }));
  return {
    state: { page: 0, channel: 'C0000000001', channelPage: 0 },
    ownTasks: { tasks, count },
    channelTasks: { tasks, count },
    note: 'A note',
    canOpenSettings: true,
    sections: [],
    now,
    ...change,
  };
}

function texts(blocks: readonly unknown[]): string {
  return JSON.stringify(blocks);
}

describe('the Home tab', () => {
  test.each([0, 1, 100, 1_000])('is taken by Slack with %i tasks in each list', (count) => {
    const view = homeView(content(count));
    expect(() => checkBlocks(view.blocks, 'home')).not.toThrow();
    expect(view.private_metadata.length).toBeLessThan(3_000);
    expect(texts(view.blocks).includes('home_older')).toBe(count > HOME_PAGE_SIZE);
    expect(texts(view.blocks)).not.toContain('home_newer');
  });

  test('turns its pages both ways in the middle, and only back on the last', () => {
    const middle = texts(homeView(content(100, { state: { page: 5, channelPage: 0 } })).blocks);
    expect(middle).toContain('"value":"own/4"');
    expect(middle).toContain('"value":"own/6"');
    const last = texts(
      homeView(content(100, { state: { page: 9, channelPage: 0 }, channelTasks: undefined })).blocks,
    );
    expect(last).toContain('"value":"own/8"');
    expect(last).not.toContain('own/10');
  });

  test('leaves out what others add beyond the 100 blocks that Slack takes', () => {
    const sections = Array.from({ length: 120 }, (): ViewBlock => ({ type: 'divider' }));
    const view = homeView(content(1_000, { sections }));
    expect(view.blocks).toHaveLength(100);
    expect(() => checkBlocks(view.blocks, 'home')).not.toThrow();
  });

  test("has a button for the chosen channel's settings where there are some", () => {
    expect(texts(homeView(content(1)).blocks)).toContain('"action_id":"home_settings"');
    expect(texts(homeView(content(1, { canOpenSettings: false })).blocks)).not.toContain('home_settings');
    const refused = homeView(content(1, { channelTasks: { refusal: 'No.' } }));
    expect(texts(refused.blocks)).not.toContain('home_settings');
  });

  test('reads its own buttons, and nothing else', () => {
    expect(parsePageButton('own/12')).toEqual({ list: 'own', page: 12 });
    expect(parsePageButton('channel/0')).toEqual({ list: 'channel', page: 0 });
    for (const odd of ['', 'own/', 'own/-1', 'other/1', 'own/1/2'])
      expect(parsePageButton(odd)).toBeUndefined();
    expect(parseTaskButton('C1/1700000000.000100')).toEqual({ channel: 'C1', root: '1700000000.000100' });
    for (const odd of ['', 'C1', 'C1/17', "C1'/1700000000.000100"])
      expect(parseTaskButton(odd)).toBeUndefined();
  });
});

describe('a line about a task', () => {
  test('says title, state, model, age and where it is', () => {
    expect(taskLine(task(), { now, shows: 'channel' })).toBe(
      '<https://sandbox.slack.com/archives/C0000000001/p1700000000000100|Count the sheep>\ndone · default model · 3 h ago · <#C0000000001>',
    );
    expect(taskLine(task({ channel: 'D1', url: null, model: 'max' }), { now, shows: 'channel' })).toBe(
      'Count the sheep\ndone · max · 3 h ago · direct message',
    );
    expect(taskLine(task({ starter: '', state: 'gone' }), { now, shows: 'starter' })).toMatch(
      /no longer at the agent service · default model · 3 h ago$/,
    );
  });

  test('lets no title ping anybody, end its link or fill the list', () => {
    const line = taskLine(task({ title: worst }), { now, shows: 'starter' });
    expect(line).not.toContain('<!channel>');
    expect(line.length).toBeLessThan(1_500);
    const odd = taskLine(task({ title: 'a\n> b|c>\u202Ed' }), { now, shows: 'starter' });
    expect(odd.split('\n')[0]).toBe(
      '<https://sandbox.slack.com/archives/C0000000001/p1700000000000100|a &gt; b¦c&gt;d>',
    );
    expect(taskLine(task({ title: null }), { now, shows: 'starter' })).toContain('Untitled task');
    expect(taskLine(task({ url: 'javascript:alert(1)' }), { now, shows: 'starter' })).toMatch(/^Count/);
    expect(taskLine(task({ state: 'on <holiday>' }), { now, shows: 'starter' })).toContain(
      'on &lt;holiday&gt;',
    );
  });
});

describe('the list of a channel', () => {
  test.each([0, 1, 100, 1_000])('is a message that Slack takes with %i tasks', (count) => {
    const tasks = Array.from({ length: count }, () => task({ title: worst }));
    const message = taskListMessage(tasks, count, now);
    expect(() => checkBlocks(message.blocks, 'message')).not.toThrow();
    expect(message.text.length).toBeLessThan(4_000);
    expect(message.text.includes('App Home')).toBe(count > 10);
  });
});

describe('the details of a task', () => {
  const home = { page: 0, channelPage: 0 };
  const files = (count: number): TaskFile[] =>
    Array.from({ length: count }, (_, index) =>
      index % 3 === 0
        ? { kind: 'input', id: `file_${index}`, name: `${worst}.csv`, sizeBytes: 1_000 }
        : index % 3 === 1
          ? {
              kind: 'output',
              name: `${worst}.csv`,
              sizeBytes: 1_000,
              url: `https://host/${'a'.repeat(index * 500)}`,
            }
          : { kind: 'gone' },
    );

  test.each([0, 1, 100, 1_000])('are taken by Slack with %i files', (count) => {
    const shown = files(Math.min(count, FILES_PER_PAGE));
    const details = { task: task({ title: worst }), id: 'tsk_1', files: shown, page: 0, count, home, now };
    const view = taskView({ ...details, note: 'x'.repeat(5_000) });
    expect(() => checkBlocks(view.blocks, 'modal')).not.toThrow();
    expect(view.private_metadata?.length).toBeLessThan(3_000);
    expect(texts(view.blocks).includes('task_files_more')).toBe(count > FILES_PER_PAGE);
  });

  test('ask before they delete', () => {
    const details = { task: task(), id: 'tsk_1', files: undefined, page: 0, count: 0, home, now };
    const [deletion] =
      texts(taskView(details).blocks).match(/"action_id":"task_delete".*?"confirm":\{.*?\}\}/) ?? [];
    expect(deletion).toContain('Delete this task?');
  });
});
