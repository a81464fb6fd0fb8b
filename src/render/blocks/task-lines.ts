import { escapeMrkdwn } from '../markdown/pings.ts';
import * as strings from '../strings/index.ts';
import { formatAge } from '../text/duration.ts';
import { shorten } from '../text/graphemes.ts';
import { toOneLine } from '../text/one-line.ts';
import { mrkdwnSection, type RenderedMessage } from './slack-blocks.ts';

/** A task in a list. */
export interface TaskSummary {
  channel: string;
  /** The ts of its thread's root message. */
  root: string;
  /** Untrusted; null if it was erased. */
  title: string | null;
  /** The service's task status, or `gone`. */
  state: string;
  model: string | null;
  begunAt: Date;
  /** Slack's id of the person who started it; '' if it was erased. */
  starter: string;
  /** The thread's permalink; null if Slack does not return it. */
  url: string | null;
}

/** How to render a task's line. */
export interface TaskLineOptions {
  now: number;
  /** The last fact on the line: the channel, or the person who started the task. */
  shows: 'channel' | 'starter';
}

/** Characters of a title in a list, before escaping. */
const MAX_TITLE_CHARACTERS = 150;
/** Most tasks in one message: even at their longest they stay below Slack's 12,000 characters. */
export const MAX_LISTED_TASKS = 10;

/** A task as two lines of mrkdwn. */
export function taskLine(task: TaskSummary, { now, shows: beside }: TaskLineOptions): string {
  const title = formatTitle(task);
  const facts = [
    formatState(task.state),
    formatModel(task.model),
    formatAge(now - task.begunAt.getTime()),
    beside === 'channel' ? formatChannel(task.channel) : formatPerson(task.starter),
  ];
  return `${linkedTitle(title, task.url)}\n${facts.filter((fact) => fact !== '').join(' · ')}`;
}

/** A title as one line, shortened and escaped. */
export function formatTitle({ title }: Pick<TaskSummary, 'title'>): string {
  const clean = toOneLine(title ?? '');
  return clean === '' ? strings.tasks.untitled : escapeMrkdwn(shorten(clean, MAX_TITLE_CHARACTERS));
}

/** A task's state in words. */
export function formatState(state: string): string {
  return isState(state) ? strings.tasks.states[state] : escapeMrkdwn(shorten(toOneLine(state), 60));
}

/** A task's model in words. */
export function formatModel(model: string | null): string {
  return model === null ? strings.tasks.defaultModel : escapeMrkdwn(shorten(toOneLine(model), 60));
}

/** A channel as mrkdwn; direct messages have no name. */
export function formatChannel(channel: string): string {
  return channel.startsWith('D') ? strings.tasks.direct : `<#${channel}>`;
}

/** A person as mrkdwn. */
export function formatPerson(person: string): string {
  return person === '' ? '' : `<@${person}>`;
}

/** The message that lists the newest tasks of a channel; `count` is how many the channel has. */
export function taskListMessage(tasks: readonly TaskSummary[], count: number, now: number): RenderedMessage {
  if (tasks.length === 0)
    return { text: strings.tasks.noneInChannel, blocks: [mrkdwnSection(strings.tasks.noneInChannel)] };
  const shown = tasks.slice(0, MAX_LISTED_TASKS);
  const heading = strings.channelTasks(shown.length, count);
  const blocks = shown.map((task) => mrkdwnSection(taskLine(task, { now, shows: 'starter' })));
  return { text: heading, blocks: [mrkdwnSection(heading), ...blocks] };
}

function linkedTitle(title: string, url: string | null): string {
  return url !== null && /^https?:\/\/[^\s|<>]{1,1000}$/.test(url)
    ? `<${url}|${title.replaceAll('|', '¦')}>`
    : title;
}

function isState(state: string): state is keyof typeof strings.tasks.states {
  return Object.hasOwn(strings.tasks.states, state);
}
