import { escapeMrkdwn } from '../markdown/pings.ts';
import { namesHost } from '../markdown/unsafe-links.ts';
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

/** Characters of a title in a list, before escaping: so long are the titles that the app makes. */
export const MAX_TITLE_CHARACTERS = 150;

/** A task as two lines of mrkdwn; the second names its channel or who began it. */
export function taskLine(task: TaskSummary, now: number, beside: 'channel' | 'starter'): string {
  const title = linkedTitle(plainTitle(task.task_title), task.permalink);
  return `${title}\n${taskFacts(task, now, [beside])}`;
}

/** What is known of a task beside its title, as a line of mrkdwn. */
export function taskFacts(
  task: TaskSummary,
  now: number,
  beside: readonly ('channel' | 'starter')[] = ['channel', 'starter'],
): string {
  const facts = [
    escapeMrkdwn(formatState(task.state)),
    formatModel(task.task_model),
    formatAge(now - task.started_at.getTime()),
    beside.includes('channel') ? formatChannel(task.channel) : '',
    beside.includes('starter') ? formatPerson(task.started_by) : '',
  ];
  return facts.filter((fact) => fact !== '').join(' · ');
}

/** An untrusted title as one line, shortened. */
export function plainTitle(title: string | null, untitled: string = strings.tasks.untitled): string {
  return shorten(toOneLine(title ?? ''), MAX_TITLE_CHARACTERS) || untitled;
}

const STATES = new Map<string, string>(Object.entries(strings.tasks.states));

/** A task's or a review's state in words, as plain text. */
export function formatState(state: string): string {
  return STATES.get(state) ?? shorten(toOneLine(state.replace(/[*_~`:]+/g, ' ')), 60);
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

/** A title as mrkdwn, which leads to a thread if its address is known. */
export function linkedTitle(title: string, url: string | null | undefined): string {
  const escaped = escapeMrkdwn(title);
  const isLinked = url != null && /^https?:\/\/[^\s|<>]{1,1000}$/.test(url);
  // Slack reads no marks in a link, whose text ends before a bar and must name no other host, and none in code.
  if (isLinked && !title.includes('|') && !namesHost(title)) return `<${url}|${escaped}>`;
  const shown = /[*_~:]/.test(title) && !title.includes('`') ? `\`${escaped}\`` : escaped;
  return isLinked ? `${shown} (<${url}|${strings.buttons.open_thread.label}>)` : shown;
}
