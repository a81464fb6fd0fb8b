import { parseJson } from '../../calls/json.ts';
import { type HomeTabState, parseHomeTabState } from '../../relay/tasks/task-summaries.ts';
import type { ViewBlock } from '../../render/blocks/modal.ts';
import {
  actionsBlock,
  buttonElement,
  contextLineBlock,
  mrkdwnSection,
  namedButton,
  plainText,
} from '../../render/blocks/slack-blocks.ts';
import { plainTitle, type TaskSummary, taskLine } from '../../render/blocks/task-lines.ts';
import * as strings from '../../render/strings/index.ts';
import { pagerBlocks } from '../modals.ts';

/** Tasks on a page of a list. */
export const HOME_PAGE_SIZE = 10;
/** https://docs.slack.dev/reference/views/home-tab-views */
const MAX_BLOCKS = 100;

/** `isClosed`: nothing opens it. */
export type HomeTask = TaskSummary & { isClosed?: boolean };

/** A page of tasks; `count` is the number on all pages. */
export interface HomeTaskList {
  tasks: readonly HomeTask[];
  count: number;
}

/** What a Home tab shows. */
export interface HomeContent {
  state: HomeTabState;
  /** The workspace lets the person use the agent. */
  hasAccess: boolean;
  /** What the quotas still allow them; undefined if they have no access. */
  allowance: string | undefined;
  /** The bot answers direct messages. */
  isDirectOpen: boolean;
  waitingTasks: readonly TaskSummary[];
  ownTasks: HomeTaskList;
  /** The chosen channel's tasks, or why they are not shown; undefined if none is chosen. */
  channelTasks: HomeTaskList | { refusal: string } | undefined;
  /** A sentence at the top: how fresh the lists are. */
  note?: string | undefined;
  /** Blocks of other features, at the end. */
  sections: readonly ViewBlock[];
  now: number;
}

/** A person's Home tab. */
export function homeView(content: HomeContent) {
  const { state, hasAccess, allowance, isDirectOpen, note, sections, now } = content;
  const { waitingTasks, ownTasks, channelTasks } = content;
  const none = hasAccess ? strings.home.noneOfYours(isDirectOpen) : strings.home.noneWithoutAccess;
  const waitingHeader = { type: 'header' as const, text: plainText(strings.home.waiting) };
  const blocks: ViewBlock[] = [
    { type: 'header', text: plainText(strings.home.title) },
    mrkdwnSection(hasAccess ? strings.home.about(isDirectOpen) : strings.home.noAccess),
    contextLineBlock(strings.automatedNotice),
    ...(allowance === undefined ? [] : [contextLineBlock(allowance)]),
    actionsBlock([
      ...(hasAccess ? [buttonElement('ask_agent', 'new')] : []),
      buttonElement('home_refresh', 'refresh'),
    ]),
    ...(note === undefined ? [] : [contextLineBlock(note)]),
    ...(waitingTasks.length === 0 ? [] : [waitingHeader]),
    ...waitingTasks.map((task) => taskBlock(task, now, 'channel')),
    { type: 'header', text: plainText(strings.home.yourTasks) },
    ...listBlocks('own', ownTasks, state.page, now, none),
    { type: 'divider' },
    { type: 'header', text: plainText(strings.home.ofChannel) },
    channelSelect(state.channel),
    ...channelBlocks(channelTasks, state, now),
  ];
  const room = MAX_BLOCKS - blocks.length;
  return {
    type: 'home' as const,
    private_metadata: JSON.stringify(state),
    blocks: [...blocks, ...sections.slice(0, room)],
  };
}

/** Reads what a Home tab shows from its metadata; the first pages for anything else. */
export function parseHomeMetadata(metadata: string | undefined): HomeTabState {
  return parseHomeTabState(parseJson(metadata));
}

/** The thread of a `task_details` button; undefined for anything else. */
export function parseTaskButton(value: string): { channel: string; thread_ts: string } | undefined {
  const [, channel, thread_ts] = /^([A-Z0-9]{1,30})\/(\d{1,10}\.\d{6})$/.exec(value) ?? [];
  return channel === undefined || thread_ts === undefined ? undefined : { channel, thread_ts };
}

function channelBlocks(channel: HomeContent['channelTasks'], state: HomeTabState, now: number): ViewBlock[] {
  if (channel === undefined) return [];
  if ('refusal' in channel) return [mrkdwnSection(channel.refusal)];
  const blocks = listBlocks('channel', channel, state.channelPage, now, strings.home.noneOfChannel);
  if (state.channel === undefined) return blocks;
  return [actionsBlock([buttonElement('home_settings', state.channel)]), ...blocks];
}

function taskBlock(task: HomeTask, now: number, beside: 'channel' | 'starter'): ViewBlock {
  const section = mrkdwnSection(taskLine(task, now, beside));
  if (task.isClosed === true) return section;
  const details = buttonElement('task_details', `${task.channel}/${task.thread_ts}`);
  return { ...section, accessory: namedButton(details, plainTitle(task.task_title)) };
}

function listBlocks(
  list: 'own' | 'channel',
  { tasks, count }: HomeTaskList,
  page: number,
  now: number,
  none: string,
): ViewBlock[] {
  if (tasks.length === 0 && page === 0) return [mrkdwnSection(none)];
  const blocks = tasks.map((task) => taskBlock(task, now, list === 'own' ? 'channel' : 'starter'));
  const rows = { page, size: HOME_PAGE_SIZE, shown: tasks.length, count };
  return [...blocks, ...pagerBlocks(rows, ['home_newer', 'home_older'], list)];
}

function channelSelect(chosen: string | undefined): ViewBlock {
  return {
    type: 'section',
    // Slack keeps a person's choice in a block of the same id, and would not show ours.
    block_id: `home_channel/${chosen ?? ''}`,
    text: plainText(strings.home.chooseChannel),
    accessory: {
      type: 'conversations_select',
      action_id: 'home_channel',
      placeholder: plainText(strings.home.choose),
      ...(chosen !== undefined && { initial_conversation: chosen }),
      filter: { include: ['public', 'private'], exclude_bot_users: true },
    },
  };
}
