import type { RelayDeps } from '../../relay/runtime/deps.ts';
import { type TaskList, taskSummary } from '../../relay/tasks/task-list.ts';
import { mrkdwnSection, type RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import { type TaskSummary, taskLine } from '../../render/blocks/task-lines.ts';
import * as strings from '../../render/strings/index.ts';

/** Most tasks in the message: even with all texts at their longest it stays below Slack's 12,000 characters. */
const MAX_LISTED_TASKS = 10;

/** The newest tasks of a channel, for one person to see. `count` is the number of all its tasks. */
export function channelTasksMessage(
  tasks: readonly TaskSummary[],
  count: number,
  now: number,
): RenderedMessage {
  if (tasks.length === 0)
    return { text: strings.tasks.noneHere, blocks: [mrkdwnSection(strings.tasks.noneHere)] };
  const shown = tasks.slice(0, MAX_LISTED_TASKS);
  const heading = strings.channelTasks(shown.length, count);
  const lines = shown.map((task) => mrkdwnSection(taskLine(task, now, 'starter')));
  return { text: heading, blocks: [mrkdwnSection(heading), ...lines] };
}

/** What `/agent tasks` answers: the newest tasks of a channel, in which the asker must be. Throws a StoreError. */
export async function listChannelTasks(
  { store }: Pick<RelayDeps, 'store'>,
  taskList: Pick<TaskList, 'refresh'>,
  workspace: string,
  channel: string,
): Promise<RenderedMessage> {
  const newest = () => store.tasks.ofChannel(workspace, channel, { from: 0, most: MAX_LISTED_TASKS });
  await taskList.refresh((await newest()).rows);
  const { rows, total } = await newest();
  return channelTasksMessage(rows.map(taskSummary), total, Date.now());
}
