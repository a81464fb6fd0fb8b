import type { BlockModel, Fields } from '../page-protocol.ts';
import type { Surface } from './block-surface.ts';
import { cellContent } from './data-table.ts';
import { h } from './dom.ts';
import { element, picture, textObject } from './elements.ts';
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
  return h(
    'div',
    { class: 'block prose' },
    tableFrame(
      h('thead', {}, h('tr', {}, cells(head, 'th'))),
      h('tbody', {}, ...rows.map((row) => h('tr', {}, cells(row, 'td')))),
    ),
  );
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

export function card(block: Fields, blockId: string, surface: Surface): HTMLElement {
  const actions = objects(block.actions);
  return h(
    'div',
    { class: 'block card' },
    isFields(block.hero_image) && picture(block.hero_image, 'large'),
    h(
      'div',
      { class: 'card-head' },
      isFields(block.icon) && picture(block.icon, 'small'),
      h(
        'div',
        {},
        isFields(block.title) && h('p', { class: 'card-title' }, textObject(block.title)),
        isFields(block.subtitle) && h('p', { class: 'soft' }, textObject(block.subtitle)),
      ),
    ),
    isFields(block.body) && h('div', { class: 'lines' }, textObject(block.body)),
    isFields(block.subtext) && h('p', { class: 'soft' }, textObject(block.subtext)),
    actions.length > 0 &&
      h('div', { class: 'actions' }, ...actions.map((one) => element(one, blockId, surface))),
  );
}

/** A container block; `render` renders its blocks. */
export function container(
  block: Fields,
  _blockId: string,
  surface: Surface,
  render: (blocks: BlockModel[], surface: Surface) => HTMLElement[],
): HTMLElement {
  const title = isFields(block.rich_text_title) ? richText(block.rich_text_title) : plain(block.title);
  const inside = objects(block.child_blocks).map((child) => ({ ...child, type: text(child.type) }));
  const head = [
    title,
    isFields(block.subtitle) && h('span', { class: 'soft' }, ' ', textObject(block.subtitle)),
  ];
  if (block.is_collapsible !== true) {
    return h(
      'div',
      { class: 'block card' },
      h('p', { class: 'card-title' }, ...head),
      ...render(inside, surface),
    );
  }
  return h(
    'details',
    { class: 'block card', open: block.default_collapsed !== true },
    h('summary', { class: 'card-title' }, ...head),
    ...render(inside, surface),
  );
}

export function alert(block: Fields): HTMLElement {
  return h('div', { class: `block alert alert-${text(block.level) || 'default'}` }, textObject(block.text));
}

export function video(block: Fields): HTMLElement {
  return h('p', { class: 'block' }, link(block.title_url ?? block.video_url, plain(block.title)), ' (video)');
}
