import { allowanceTold } from '../relay/access/quotas.ts';
import { refusalTold } from '../relay/access/refusals.ts';
import { lackingRight, readIfAllowed, useDenial } from '../relay/access/rights.ts';
import type { StopControl } from '../relay/controls/stop-control.ts';
import type { ChannelActor } from '../relay/runtime/control-request.ts';
import type { RelayDeps } from '../relay/runtime/deps.ts';
import { inviteMe, refreshTasks, taskSummary, threadPermalink } from '../relay/tasks/task-summaries.ts';
import {
  buttonElement,
  contextLineBlock,
  messageOfBlocks,
  mrkdwnSection,
  namedButton,
  type RenderedMessage,
  type SlackBlock,
  sectionBlock,
} from '../render/blocks/slack-blocks.ts';
import {
  formatChannel,
  formatPerson,
  linkedTitle,
  plainTitle,
  type TaskSummary,
  taskLine,
} from '../render/blocks/task-lines.ts';
import * as strings from '../render/strings/index.ts';
import type { RunningTurn } from '../store/threads/turn-usage.ts';

const MAX_RUNNING_ROWS = 20;
/** Longest that a command waits to be told whether the bot is in its channel (ms). */
const PLACE_TIMEOUT_MS = 5_000;

/** A running task as one person sees it in one channel. */
interface RunningTask extends RunningTurn {
  /** Its thread's address, if Slack gives one. */
  url: string | undefined;
  where: 'here' | 'in_your_thread' | 'elsewhere' | 'hidden';
}

/**
 * A person's tasks in a channel: those that wait for them, then those that run. A running one has a Stop button
 * (`stop_listed`; the value is the turn's id), and sentences `footer` stand below.
 */
export function runningTasksMessage(
  rows: readonly RunningTask[],
  footer: readonly string[],
): RenderedMessage {
  if (rows.length === 0) return { text: [strings.command.noneOfYours, ...footer].join(' '), blocks: [] };
  const more = rows.length > MAX_RUNNING_ROWS ? [strings.command.more] : [];
  const shown = rows.slice(0, MAX_RUNNING_ROWS);
  const { waiting, yourTasks, inYourThreads, elsewhere } = strings.command;
  const lists = [
    { heading: waiting, list: shown.filter(({ is_waiting }) => is_waiting) },
    { heading: yourTasks, list: shown.filter(({ where, is_waiting }) => where === 'here' && !is_waiting) },
    { heading: inYourThreads, list: shown.filter(({ where }) => where === 'in_your_thread') },
    { heading: elsewhere, list: shown.filter(({ where }) => where === 'elsewhere' || where === 'hidden') },
  ].filter(({ list }) => list.length > 0);
  const blocks = lists.flatMap(({ heading, list }) => [sectionBlock(heading), ...list.map(runningTaskBlock)]);
  const below = [...more, ...footer];
  const note = below.length === 0 ? [] : [contextLineBlock(below.join(' '))];
  return messageOfBlocks([...blocks, ...note]);
}

function runningTaskBlock(row: RunningTask): SlackBlock {
  const since = (row.is_waiting ? row.waits_since : undefined) ?? row.started_at;
  const state = row.is_stopping
    ? strings.command.stopping
    : strings.command.since(Date.now() - since.getTime());
  const { hiddenTask, untitled } = strings.command;
  const title = row.where === 'hidden' ? hiddenTask : plainTitle(row.task_title, untitled);
  const isHere = row.where === 'here' || row.where === 'in_your_thread';
  const about = row.where === 'in_your_thread' ? formatPerson(row.asked_by) : formatChannel(row.channel);
  const facts = [linkedTitle(title, row.url), row.where === 'here' ? '' : about, state];
  const section = mrkdwnSection(facts.filter((fact) => fact !== '').join(' · '));
  if (row.is_stopping || !row.is_running || !isHere) return section;
  return { ...section, accessory: namedButton(buttonElement('stop_listed', row.turn_id), title) };
}

/**
 * What `/agent stop` answers: the list of what the agent works on for the asker. If that is one thing alone, in this
 * channel, it is stopped before. Throws a StoreError.
 */
export async function stopOnlyRun(
  deps: RelayDeps,
  stopControl: Pick<StopControl, 'requestStop'>,
  command: ChannelActor,
): Promise<RenderedMessage> {
  const { workspace, channel, person } = command;
  const running = await deps.store.turnUsage.runningOf(command, MAX_RUNNING_ROWS);
  const [only, ...others] = running.filter((turn) => turn.is_running && turn.asked_by === person);
  if (only?.channel === channel && others.length === 0) {
    const ts = (Date.now() / 1_000).toFixed(6);
    const outcome = await stopControl.requestStop({ workspace, channel, turnId: only.turn_id, person, ts });
    if (outcome === 'stopping') return { text: strings.controlFailed.stopping, blocks: [] };
  }
  return listRunningTasks(deps, command);
}

/** What works for the asker; for `/agent status`, which `tellsAllowance`, also what the quotas still allow them. Throws a StoreError. */
export async function listRunningTasks(
  deps: RelayDeps,
  command: ChannelActor,
  tellsAllowance = false,
): Promise<RenderedMessage> {
  const { workspace, channel, person } = command;
  const { turnUsage } = deps.store;
  const [own, all, denial, allowance] = await Promise.all([
    turnUsage.runningOf({ workspace, channel, person }, MAX_RUNNING_ROWS + 1),
    turnUsage.countRunning(workspace, channel),
    useDenial(deps, command, 'acting', AbortSignal.timeout(PLACE_TIMEOUT_MS)),
    tellsAllowance ? allowanceTold(deps, command) : undefined,
  ]);
  const slack = deps.workspace(workspace);
  const rows = await Promise.all(
    own.map(async (turn): Promise<RunningTask> => {
      const isHere = turn.channel === channel;
      const isOwnHere = isHere && turn.asked_by === person;
      const need = { who: 'reader', place: isHere ? 'acting' : 'listed' } as const;
      const mayRead =
        isOwnHere || (await lackingRight(deps, { ...turn, workspace, person }, need)) === undefined;
      const where = !mayRead ? 'hidden' : isOwnHere ? 'here' : isHere ? 'in_your_thread' : 'elsewhere';
      const isLinked = slack !== undefined && where !== 'hidden';
      return { ...turn, where, url: isLinked ? await threadPermalink(slack, turn) : undefined };
    }),
  );
  const shownHere = own.filter((row) => row.is_running && row.channel === channel);
  const others = own.length > MAX_RUNNING_ROWS ? 0 : all - shownHere.length;
  const footer = [
    ...(others > 0 ? [strings.command.othersRunning(others)] : []),
    ...(denial === undefined && allowance !== undefined ? [allowance] : []),
  ];
  const message = runningTasksMessage(rows, footer);
  return rows.length + all > 0 ? message : emptyListIn(deps, command, message);
}

/** An empty list, or how to invite the bot where it is not in the channel. */
async function emptyListIn(
  deps: RelayDeps,
  { workspace, channel }: ChannelActor,
  message: RenderedMessage,
): Promise<RenderedMessage> {
  const slack = deps.workspace(workspace);
  const place = await slack?.people.botPlaceIn(channel, PLACE_TIMEOUT_MS).catch(() => undefined);
  if (slack === undefined || place === undefined || place === 'inside') return message;
  return { text: await inviteMe(slack), blocks: [] };
}

/** Most tasks in the message: even with all texts at their longest it stays below Slack's 12,000 characters. */
const MAX_LISTED_TASKS = 10;

/** The newest tasks of a channel, for one person to see. `count` is the number of all its tasks. */
export function channelTasksMessage(
  tasks: readonly TaskSummary[],
  count: number,
  now: number,
): RenderedMessage {
  if (tasks.length === 0) return messageOfBlocks([mrkdwnSection(strings.tasks.noneHere)]);
  const shown = tasks.slice(0, MAX_LISTED_TASKS);
  const heading = strings.channelTasks(shown.length, count);
  const lines = shown.map((task) => mrkdwnSection(taskLine(task, now, 'starter')));
  return messageOfBlocks([mrkdwnSection(heading), ...lines]);
}

/** What `/agent tasks` answers: the newest tasks of a channel, in which the asker must be. Throws a StoreError. */
export async function listChannelTasks(deps: RelayDeps, command: ChannelActor): Promise<RenderedMessage> {
  const { workspace, channel } = command;
  const newest = () => deps.store.tasks.ofChannel(workspace, channel, { from: 0, most: MAX_LISTED_TASKS });
  const known = (await newest()).rows;
  if (known.length === 0) return emptyListIn(deps, command, channelTasksMessage([], 0, Date.now()));
  const refusal = async () => {
    const why = await lackingRight(deps, command, { who: 'reader', place: 'acting' });
    return why && refusalTold(deps, command, { why }, 'form');
  };
  const read = await readIfAllowed(refusal, async () => {
    await refreshTasks(deps, known);
    return newest();
  });
  if (typeof read === 'string') return { text: read, blocks: [] };
  return channelTasksMessage(read.rows.map(taskSummary), read.total, Date.now());
}
