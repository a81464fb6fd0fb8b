import { type ActionsBlock, type ButtonElement, plainText } from '../../render/blocks/slack-blocks.ts';
import { type TaskSummary, taskLine } from '../../render/blocks/task-lines.ts';
import type { ChannelSelectBlock, ViewBlock } from '../../render/blocks/view-blocks.ts';
import * as strings from '../../render/strings/index.ts';

/** Tasks that one page of a list shows. */
export const HOME_PAGE_SIZE = 10;
/** https://docs.slack.dev/reference/views/home-tab-views */
const MAX_BLOCKS = 100;

/** Which pages of its two lists, from 0, and which channel a Home tab shows; kept in the view itself. */
export interface HomeTabState {
  page: number;
  channel?: string | undefined;
  channelPage: number;
}

/** A page of tasks; `count` is how many there are on all pages. */
export interface HomeTaskList {
  tasks: readonly TaskSummary[];
  count: number;
}

/** The chosen channel: its tasks, or why they are not shown. */
export type HomeChannelTasks = HomeTaskList | { refusal: string };

/** What a Home tab shows. */
export interface HomeContent {
  state: HomeTabState;
  ownTasks: HomeTaskList;
  /** Undefined where none is chosen. */
  channelTasks: HomeChannelTasks | undefined;
  /** A sentence on how fresh all of this is. */
  note?: string | undefined;
  /** Whether the chosen channel's settings can be opened. */
  canOpenSettings: boolean;
  /** What other features show at the end. */
  sections: readonly ViewBlock[];
  now: number;
}

/** https://docs.slack.dev/reference/views/home-tab-views */
export interface HomeView {
  type: 'home';
  private_metadata: string;
  blocks: ViewBlock[];
}

/** A person's Home tab. */
export function homeView(content: HomeContent): HomeView {
  const {
    state: place,
    ownTasks: own,
    channelTasks: channel,
    note,
    canOpenSettings: settings,
    sections,
    now,
  } = content;
  const blocks: ViewBlock[] = [
    { type: 'header', text: plainText(strings.home.title) },
    mrkdwnSection(strings.home.about),
    contextBlock(strings.automatedNotice),
    actionsBlock([button('home_refresh', strings.buttons.refresh, 'refresh')]),
    ...(note === undefined ? [] : [contextBlock(note)]),
    { type: 'header', text: plainText(strings.home.yourTasks) },
    ...listBlocks('own', own, place.page, 'channel', now, strings.home.noneOfYours),
    { type: 'divider' },
    { type: 'header', text: plainText(strings.home.ofChannel) },
    channelSelect(place.channel),
    ...channelBlocks(channel, place, settings, now),
  ];
  const room = MAX_BLOCKS - blocks.length;
  return {
    type: 'home',
    private_metadata: JSON.stringify(place),
    blocks: [...blocks, ...sections.slice(0, room)],
  };
}

/** Which list a button of a Home tab turns, and to which page. */
export function parsePageButton(value: string): { list: 'own' | 'channel'; page: number } | undefined {
  const match = /^(own|channel)\/(\d{1,5})$/.exec(value);
  if (match === null) return undefined;
  return { list: match[1] === 'own' ? 'own' : 'channel', page: Number(match[2]) };
}

/** The thread that a `task_details` button stands for. */
export function parseTaskButton(value: string): { channel: string; root: string } | undefined {
  const match = /^([A-Z0-9]{1,30})\/(\d{1,10}\.\d{6})$/.exec(value);
  return match?.[1] === undefined || match[2] === undefined
    ? undefined
    : { channel: match[1], root: match[2] };
}

function channelBlocks(
  channel: HomeChannelTasks | undefined,
  state: HomeTabState,
  canOpenSettings: boolean,
  now: number,
): ViewBlock[] {
  if (channel === undefined) return [];
  if ('refusal' in channel) return [mrkdwnSection(channel.refusal)];
  const blocks = listBlocks(
    'channel',
    channel,
    state.channelPage,
    'starter',
    now,
    strings.home.noneOfChannel,
  );
  if (!canOpenSettings || state.channel === undefined) return blocks;
  return [actionsBlock([button('home_settings', strings.buttons.channelSettings, state.channel)]), ...blocks];
}

function listBlocks(
  list: 'own' | 'channel',
  { tasks, count }: HomeTaskList,
  page: number,
  beside: 'channel' | 'starter',
  now: number,
  emptyText: string,
): ViewBlock[] {
  if (tasks.length === 0 && page === 0) return [mrkdwnSection(emptyText)];
  const from = page * HOME_PAGE_SIZE;
  const blocks: ViewBlock[] = tasks.slice(0, HOME_PAGE_SIZE).map((task) => ({
    ...mrkdwnSection(taskLine(task, { now, shows: beside })),
    accessory: button('task_details', strings.buttons.details, `${task.channel}/${task.root}`),
  }));
  if (count <= HOME_PAGE_SIZE && page === 0) return blocks;
  const turning = [];
  if (page > 0) turning.push(button('home_newer', strings.buttons.newer, `${list}/${page - 1}`));
  if (from + HOME_PAGE_SIZE < count)
    turning.push(button('home_older', strings.buttons.older, `${list}/${page + 1}`));
  if (tasks.length > 0) blocks.push(contextBlock(strings.pageShown(from + 1, from + tasks.length, count)));
  if (turning.length > 0) blocks.push(actionsBlock(turning));
  return blocks;
}

function channelSelect(chosen: string | undefined): ChannelSelectBlock {
  return {
    type: 'section',
    // Slack keeps what was chosen in a block of the same id, so that another choice of ours would not show.
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

function button(id: string, text: string, value: string): ButtonElement {
  return { type: 'button', action_id: id, text: plainText(text), value };
}

function actionsBlock(elements: ButtonElement[]): ActionsBlock {
  return { type: 'actions', elements };
}

function mrkdwnSection(text: string) {
  return { type: 'section', text: { type: 'mrkdwn', text } } as const;
}

function contextBlock(text: string): ViewBlock {
  return { type: 'context', elements: [plainText(text)] };
}
