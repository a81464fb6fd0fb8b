import type { ChannelActor } from '../relay/runtime/control-request.ts';
import type { RelayDeps } from '../relay/runtime/deps.ts';
import { refreshTasks, taskSummary, threadPermalink } from '../relay/tasks/task-list.ts';
import {
  buttonElement,
  contextLineBlock,
  mrkdwnSection,
  type RenderedMessage,
  type SectionBlock,
  sectionBlock,
} from '../render/blocks/slack-blocks.ts';
import { formatTitle, linkedTitle, type TaskSummary, taskLine } from '../render/blocks/task-lines.ts';
import * as strings from '../render/strings/index.ts';
import type { RunningTurn } from '../store/threads/turn-usage.ts';

/** Most tasks in the message. */
const MAX_RUNNING_ROWS = 20;

/** A running task with its thread's address, if Slack gives one. */
type RunningTask = RunningTurn & { url: string | undefined };

/**
 * A person's tasks in a channel: those that wait for them, then those that run. A running one has a Stop button
 * (`stop_listed`; the value is the turn's id).
 */
export function runningTasksMessage(rows: readonly RunningTask[], otherCount: number): RenderedMessage {
  const footer = otherCount > 0 ? [strings.command.othersRunning(otherCount)] : [];
  if (rows.length === 0) return { text: [strings.command.noneOfYours, ...footer].join(' '), blocks: [] };
  const more = rows.length > MAX_RUNNING_ROWS ? [strings.command.more] : [];
  const shown = rows.slice(0, MAX_RUNNING_ROWS);
  const { waiting, yourTasks } = strings.command;
  const lists = [
    { heading: waiting, list: shown.filter((row) => row.is_waiting) },
    { heading: yourTasks, list: shown.filter((row) => !row.is_waiting) },
  ].filter(({ list }) => list.length > 0);
  const blocks = lists.flatMap(({ heading, list }) => [sectionBlock(heading), ...list.map(runningTaskBlock)]);
  const below = [...more, ...footer];
  const note = below.length === 0 ? [] : [contextLineBlock(below.join(' '))];
  return { text: lists[0]?.heading ?? yourTasks, blocks: [...blocks, ...note] };
}

function runningTaskBlock(row: RunningTask): SectionBlock {
  const since = (row.is_waiting ? row.waits_since : undefined) ?? row.started_at;
  const state = row.is_stopping
    ? strings.command.stopping
    : strings.command.since(Date.now() - since.getTime());
  const title = linkedTitle(formatTitle(row.task_title, strings.command.untitled), row.url);
  const section = mrkdwnSection(`${title} · ${state}`);
  if (row.is_stopping || !row.is_running) return section;
  return { ...section, accessory: buttonElement('stop_listed', row.turn_id) };
}

/** What `/agent status` and `/agent stop` answer: the asker's running tasks in a channel. Throws a StoreError. */
export async function listRunningTasks(
  deps: RelayDeps,
  { workspace, channel, person }: ChannelActor,
): Promise<RenderedMessage> {
  const { turnUsage } = deps.store;
  const [own, all] = await Promise.all([
    turnUsage.runningOf({ workspace, channel, person }, MAX_RUNNING_ROWS + 1),
    turnUsage.countRunning(workspace, channel),
  ]);
  const slack = deps.workspace(workspace);
  const rows = await Promise.all(
    own.map(async (turn) => ({
      ...turn,
      url: slack && (await threadPermalink(slack, { channel, thread_ts: turn.thread_ts })),
    })),
  );
  return runningTasksMessage(
    rows,
    own.length > MAX_RUNNING_ROWS ? 0 : all - own.filter((row) => row.is_running).length,
  );
}

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
  deps: RelayDeps,
  workspace: string,
  channel: string,
): Promise<RenderedMessage> {
  const newest = () => deps.store.tasks.ofChannel(workspace, channel, { from: 0, most: MAX_LISTED_TASKS });
  await refreshTasks(deps, (await newest()).rows);
  const { rows, total } = await newest();
  return channelTasksMessage(rows.map(taskSummary), total, Date.now());
}
