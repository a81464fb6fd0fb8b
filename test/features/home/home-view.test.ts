import { describe, expect, test } from 'vitest';
import { checkBlocks } from '../../../sandbox/slack/block-validation.ts';
import {
  HOME_PAGE_SIZE,
  type HomeContent,
  homeView,
  parseTaskButton,
} from '../../../src/features/home/home-view.ts';
import type { ViewBlock } from '../../../src/render/blocks/modal.ts';
import { LONGEST_TITLE, now, taskSummary } from '../../support/task-summary.ts';

function content(count: number, change: Partial<HomeContent> = {}): HomeContent {
  const tasks = Array.from({ length: Math.min(count, HOME_PAGE_SIZE) }, () =>
    taskSummary({ task_title: LONGEST_TITLE }),
  );
  return {
    state: { page: 0, channel: 'C0000000001', channelPage: 0 },
    hasAccess: true,
    allowance: 'You can send me 3 more messages this hour.',
    isDirectOpen: true,
    waitingTasks: tasks,
    ownTasks: { tasks, count },
    channelTasks: { tasks, count },
    note: 'A note',
    sections: [],
    now,
    ...change,
  };
}

function texts(blocks: readonly unknown[]): string {
  return JSON.stringify(blocks);
}

describe('the Home tab', () => {
  test.each([0, 1, 100, 1_000])('fits Slack with %i tasks in each list', (count) => {
    const view = homeView(content(count));
    expect(() => checkBlocks(view.blocks, 'home')).not.toThrow();
    expect(view.private_metadata.length).toBeLessThan(3_000);
    expect(texts(view.blocks).includes('home_older')).toBe(count > HOME_PAGE_SIZE);
    expect(texts(view.blocks)).not.toContain('home_newer');
  });

  test('has buttons to both neighbouring pages in the middle, and only back on the last page', () => {
    const middle = texts(homeView(content(100, { state: { page: 5, channelPage: 0 } })).blocks);
    expect(middle).toContain('"value":"own/4"');
    expect(middle).toContain('"value":"own/6"');
    const last = texts(
      homeView(content(100, { state: { page: 9, channelPage: 0 }, channelTasks: undefined })).blocks,
    );
    expect(last).toContain('"value":"own/8"');
    expect(last).not.toContain('own/10');
  });

  test('leaves out sections beyond the 100 blocks that Slack accepts', () => {
    const sections = Array.from({ length: 120 }, (): ViewBlock => ({ type: 'divider' }));
    const view = homeView(content(1_000, { sections }));
    expect(view.blocks).toHaveLength(100);
    expect(() => checkBlocks(view.blocks, 'home')).not.toThrow();
  });

  test('has a button for the settings of the chosen channel, if the person may see its tasks', () => {
    expect(texts(homeView(content(1)).blocks)).toContain('"action_id":"home_settings"');
    const none = content(1, { state: { page: 0, channelPage: 0 }, channelTasks: undefined });
    expect(texts(homeView(none).blocks)).not.toContain('home_settings');
    const refused = homeView(content(1, { channelTasks: { refusal: 'No.' } }));
    expect(texts(refused.blocks)).not.toContain('home_settings');
  });

  test('reads the button of a task, and nothing else', () => {
    expect(parseTaskButton('C1/1700000000.000100')).toEqual({
      channel: 'C1',
      thread_ts: '1700000000.000100',
    });
    for (const odd of ['', 'C1', 'C1/17', "C1'/1700000000.000100"])
      expect(parseTaskButton(odd)).toBeUndefined();
  });
});
