import type { Fields } from '../page-protocol.ts';
import { cellContent } from './data-table.ts';
import { h } from './dom.ts';
import { icon } from './icons.ts';
import { isFields, maybeText, objects, plain, text } from './json-fields.ts';
import { link } from './links.ts';
import { tableFrame } from './markdown.ts';
import { richText } from './rich-text.ts';

/** A table; its first row is the header. */
export function table(block: Fields): HTMLElement {
  const [head = [], ...rows] = Array.isArray(block.rows) ? block.rows.map(objects) : [];
  const columns = Array.isArray(block.column_settings) ? block.column_settings : [];
  const cells = (row: Fields[], tag: 'th' | 'td') =>
    row.map((cell, at) => {
      const settings: unknown = columns[at];
      const align = isFields(settings) ? maybeText(settings.align) : undefined;
      return h(tag, align === undefined ? {} : { class: `align-${align}` }, cellContent(cell));
    });
  const body = rows.map((row) => cells(row, 'td'));
  return h('div', { class: 'block prose' }, tableFrame(cells(head, 'th'), body));
}

const states: Record<string, { words: string; icon: string }> = {
  pending: { words: 'Waiting', icon: 'dot' },
  in_progress: { words: 'In progress', icon: 'dot' },
  complete: { words: 'Done', icon: 'check' },
  error: { words: 'Failed', icon: 'cross' },
};

export function plan(block: Fields): HTMLElement {
  const tasks = objects(block.tasks);
  const done = tasks.filter(({ status }) => status === 'complete').length;
  return h(
    'div',
    { class: 'block plan' },
    h(
      'p',
      { class: 'plan-title' },
      plain(block.title),
      h('span', { class: 'soft' }, ` ${done} of ${tasks.length}`),
    ),
    h('ol', { class: 'plan-tasks' }, ...tasks.map((task) => h('li', {}, taskCard(task)))),
  );
}

export function taskCard(task: Fields): HTMLElement {
  const status = text(task.status);
  const known = states[status];
  const more = [
    isFields(task.details) && h('div', { class: 'prose' }, ...richText(task.details)),
    isFields(task.output) && h('div', { class: 'prose' }, ...richText(task.output)),
    ...objects(task.sources).map((source) =>
      h('p', {}, link(source.url, text(source.text) || text(source.url))),
    ),
  ].filter((one) => one !== false);
  const line = h(
    'span',
    { class: `task-line task-${status}` },
    icon(known?.icon ?? 'dot'),
    h('span', { class: 'visually-hidden' }, `${known?.words ?? status}: `),
    plain(task.title),
  );
  if (more.length === 0) return h('div', { class: 'block task-card' }, line);
  return h(
    'details',
    { class: 'block task-card', 'data-task': text(task.task_id) },
    h('summary', {}, line),
    ...more,
  );
}
