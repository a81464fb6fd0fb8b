import { type ActionsBlock, type ButtonElement, plainText } from '../slack-blocks.ts';
import * as words from '../words.ts';
import { type ShownTask, taskLine } from './task-lines.ts';
import type { ChannelSelectBlock, ViewBlock } from './view-blocks.ts';

/** Tasks that one page of a list shows. */
export const homePageSize = 10;
/** https://docs.slack.dev/reference/views/home-tab-views */
const BLOCKS_MOST = 100;

/** Which pages of its two lists, from 0, and which channel a Home tab shows; kept in the view itself. */
export interface HomePlace {
  page: number;
  channel?: string | undefined;
  channelPage: number;
}

/** A page of tasks; `count` is how many there are on all pages. */
export interface HomeList {
  tasks: readonly ShownTask[];
  count: number;
}

/** The chosen channel: its tasks, or why they are not shown. */
export type HomeChannel = HomeList | { refusal: string };

/** What a Home tab shows. */
export interface HomeContent {
  place: HomePlace;
  own: HomeList;
  /** Undefined where none is chosen. */
  channel: HomeChannel | undefined;
  /** A sentence on how fresh all of this is. */
  note?: string | undefined;
  /** Whether the chosen channel's settings can be opened. */
  settings: boolean;
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
  const { place, own, channel, note, settings, sections, now } = content;
  const blocks: ViewBlock[] = [
    { type: 'header', text: plainText(words.home.title) },
    mrkdwn(words.home.about),
    small(words.automated),
    actions([button('home_refresh', words.buttons.refresh, 'refresh')]),
    ...(note === undefined ? [] : [small(note)]),
    { type: 'header', text: plainText(words.home.yours) },
    ...listBlocks('own', own, place.page, 'channel', now, words.home.noneOfYours),
    { type: 'divider' },
    { type: 'header', text: plainText(words.home.ofChannel) },
    channelSelect(place.channel),
    ...channelBlocks(channel, place, settings, now),
  ];
  const room = BLOCKS_MOST - blocks.length;
  return {
    type: 'home',
    private_metadata: JSON.stringify(place),
    blocks: [...blocks, ...sections.slice(0, room)],
  };
}

/** Which list a button of a Home tab turns, and to which page. */
export function readTurn(value: string): { list: 'own' | 'channel'; page: number } | undefined {
  const match = /^(own|channel)\/(\d{1,5})$/.exec(value);
  if (match === null) return undefined;
  return { list: match[1] === 'own' ? 'own' : 'channel', page: Number(match[2]) };
}

/** The thread that a `task_details` button stands for. */
export function readTaskKey(value: string): { channel: string; root: string } | undefined {
  const match = /^([A-Z0-9]{1,30})\/(\d{1,10}\.\d{6})$/.exec(value);
  return match?.[1] === undefined || match[2] === undefined
    ? undefined
    : { channel: match[1], root: match[2] };
}

function channelBlocks(
  channel: HomeChannel | undefined,
  place: HomePlace,
  settings: boolean,
  now: number,
): ViewBlock[] {
  if (channel === undefined) return [];
  if ('refusal' in channel) return [mrkdwn(channel.refusal)];
  const blocks = listBlocks('channel', channel, place.channelPage, 'starter', now, words.home.noneOfChannel);
  if (!settings || place.channel === undefined) return blocks;
  return [actions([button('home_settings', words.buttons.channelSettings, place.channel)]), ...blocks];
}

function listBlocks(
  list: 'own' | 'channel',
  { tasks, count }: HomeList,
  page: number,
  beside: 'channel' | 'starter',
  now: number,
  none: string,
): ViewBlock[] {
  if (tasks.length === 0 && page === 0) return [mrkdwn(none)];
  const from = page * homePageSize;
  const blocks: ViewBlock[] = tasks.slice(0, homePageSize).map((task) => ({
    ...mrkdwn(taskLine(task, { now, beside })),
    accessory: button('task_details', words.buttons.details, `${task.channel}/${task.root}`),
  }));
  if (count <= homePageSize && page === 0) return blocks;
  const turning = [];
  if (page > 0) turning.push(button('home_newer', words.buttons.newer, `${list}/${page - 1}`));
  if (from + homePageSize < count)
    turning.push(button('home_older', words.buttons.older, `${list}/${page + 1}`));
  if (tasks.length > 0) blocks.push(small(words.pageShown(from + 1, from + tasks.length, count)));
  if (turning.length > 0) blocks.push(actions(turning));
  return blocks;
}

function channelSelect(chosen: string | undefined): ChannelSelectBlock {
  return {
    type: 'section',
    // Slack keeps what was chosen in a block of the same id, so that another choice of ours would not show.
    block_id: `home_channel/${chosen ?? ''}`,
    text: plainText(words.home.chooseChannel),
    accessory: {
      type: 'conversations_select',
      action_id: 'home_channel',
      placeholder: plainText(words.home.choose),
      ...(chosen !== undefined && { initial_conversation: chosen }),
      filter: { include: ['public', 'private'], exclude_bot_users: true },
    },
  };
}

function button(id: string, text: string, value: string): ButtonElement {
  return { type: 'button', action_id: id, text: plainText(text), value };
}

function actions(elements: ButtonElement[]): ActionsBlock {
  return { type: 'actions', elements };
}

function mrkdwn(text: string) {
  return { type: 'section', text: { type: 'mrkdwn', text } } as const;
}

function small(text: string): ViewBlock {
  return { type: 'context', elements: [plainText(text)] };
}
