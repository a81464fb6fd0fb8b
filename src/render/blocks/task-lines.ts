import { escapeMrkdwn } from '../markdown/pings.ts';
import * as strings from '../strings/index.ts';
import { formatAge, shorten, toOneLine } from '../text-format.ts';

/** A task in a list, with the names of its row. */
export interface TaskSummary {
  channel: string;
  thread_ts: string;
  /** Untrusted; null if it was erased. */
  task_title: string | null;
  /** The service's task status, or `gone`. */
  state: string;
  task_model: string | null;
  started_at: Date;
  /** Slack's id of the person who started it; '' if it was erased. */
  started_by: string;
  /** Null if Slack does not return it. */
  permalink: string | null;
}

/** Characters of a title in a list, before escaping. */
const MAX_TITLE_CHARACTERS = 150;

/** A task as two lines of mrkdwn; the second names its channel or who began it. */
export function taskLine(task: TaskSummary, now: number, beside: 'channel' | 'starter'): string {
  const title = formatTitle(task.task_title);
  const facts = [
    formatState(task.state),
    formatModel(task.task_model),
    formatAge(now - task.started_at.getTime()),
    beside === 'channel' ? formatChannel(task.channel) : formatPerson(task.started_by),
  ];
  return `${linkedTitle(title, task.permalink)}\n${facts.filter((fact) => fact !== '').join(' · ')}`;
}

/** A title as one line, shortened and escaped. */
export function formatTitle(title: string | null, untitled: string = strings.tasks.untitled): string {
  const clean = toOneLine(title ?? '');
  return clean === '' ? untitled : escapeMrkdwn(shorten(clean, MAX_TITLE_CHARACTERS));
}

/** A task's state in words. */
export function formatState(state: string): string {
  return isState(state) ? strings.tasks.states[state] : escapeMrkdwn(shorten(toOneLine(state), 60));
}

/** A task's model in words; '' if it is the service's default. */
export function formatModel(model: string | null): string {
  return model === null ? '' : escapeMrkdwn(shorten(toOneLine(strings.modelName(model)), 60));
}

/** A channel as mrkdwn; direct messages have no name. */
export function formatChannel(channel: string): string {
  return channel.startsWith('D') ? strings.tasks.direct : `<#${channel}>`;
}

/** A person as mrkdwn. Bots and workflows (B…) have no name that Slack shows. */
export function formatPerson(person: string): string {
  if (person.startsWith('B')) return strings.tasks.automatic;
  return person === '' ? '' : `<@${person}>`;
}

/** A formatted title that leads to a thread, if its address is known. */
export function linkedTitle(title: string, url: string | null | undefined): string {
  return url != null && /^https?:\/\/[^\s|<>]{1,1000}$/.test(url)
    ? `<${url}|${title.replaceAll('|', '¦')}>`
    : title;
}

function isState(state: string): state is keyof typeof strings.tasks.states {
  return Object.hasOwn(strings.tasks.states, state);
}
