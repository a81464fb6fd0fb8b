import type { BlockModel, Fields, MarkdownBlock } from '../page-protocol.ts';
import type { Surface } from './block-surface.ts';
import { dataTable } from './data-table.ts';
import { type Child, h } from './dom.ts';
import { element, textObject } from './elements.ts';
import { choiceInput } from './inputs.ts';
import { isFields, objects, plain, text } from './json-fields.ts';
import { markdown } from './markdown.ts';
import { richText } from './rich-text.ts';
import { plan, table, taskCard } from './table-and-card-blocks.ts';

type Renderer = (block: Fields, blockId: string, surface: Surface) => HTMLElement;

const renderers: Record<string, Renderer> = {
  markdown: (block) =>
    h('div', { class: 'block prose' }, isMarkdown(block) ? markdown(block.tree) : text(block.text)),
  rich_text: (block) => h('div', { class: 'block prose rich' }, ...richText(block)),
  section,
  context: (block) => h('div', { class: 'block context' }, ...objects(block.elements).map(contextPart)),
  header: (block) => h('h3', { class: 'block header' }, plain(block.text)),
  image: (block) => {
    const file = isFields(block.file) ? block.file : {};
    const picture = {
      src: text(file.url),
      alt: text(block.alt_text),
      class: 'picture large',
      loading: 'lazy',
    };
    const title = isFields(block.title) && h('figcaption', { class: 'soft' }, plain(block.title));
    return h('figure', { class: 'block figure' }, title, h('img', picture));
  },
  divider: () => h('hr', { class: 'block' }),
  actions,
  context_actions: actions,
  input,
  table,
  data_table: dataTable,
  plan,
  task_card: taskCard,
};

/** Renders blocks; an unknown type shows its name. */
export function blocks(list: readonly BlockModel[], surface: Surface): HTMLElement[] {
  return list.map((block) => oneBlock(block, surface));
}

export function oneBlock(block: BlockModel, surface: Surface): HTMLElement {
  const render = Object.hasOwn(renderers, block.type) ? renderers[block.type] : undefined;
  if (render === undefined) return h('p', { class: 'block unknown' }, `Unknown block type: ${block.type}`);
  return render(block, text(block.block_id), surface);
}

function isMarkdown(block: Fields): block is MarkdownBlock {
  return block.type === 'markdown' && isFields(block.tree);
}

function section(block: Fields, blockId: string, surface: Surface): HTMLElement {
  const fields = objects(block.fields);
  return h(
    'div',
    { class: 'block section' },
    h(
      'div',
      { class: 'section-text' },
      isFields(block.text) && h('div', { class: 'lines' }, textObject(block.text)),
      fields.length > 0 &&
        h(
          'div',
          { class: 'fields' },
          ...fields.map((field) => h('div', { class: 'lines' }, textObject(field))),
        ),
    ),
    isFields(block.accessory) && h('div', { class: 'accessory' }, element(block.accessory, blockId, surface)),
  );
}

function contextPart(one: Fields): Child {
  return h('span', { class: 'lines' }, textObject(one));
}

function actions(block: Fields, blockId: string, surface: Surface): HTMLElement {
  return h(
    'div',
    { class: 'block actions' },
    ...objects(block.elements).map((one) => element(one, blockId, surface)),
  );
}

function input(block: Fields, blockId: string, surface: Surface): HTMLElement {
  const one = isFields(block.element) ? block.element : {};
  const label = `label-${blockId}`;
  const hint = isFields(block.hint) ? `hint-${blockId}` : undefined;
  const actionId = text(one.action_id);
  const changed = (values: string[]) => {
    const [value] = values;
    if (block.dispatch_action === true)
      void surface.act({ actionId, ...(value === undefined ? {} : { value }) });
  };
  return h(
    'div',
    { class: 'block field', 'data-block': blockId },
    h(
      'div',
      { id: label, class: 'label' },
      plain(block.label),
      block.optional === true && h('span', { class: 'soft' }, ' (optional)'),
    ),
    choiceInput(one, `${blockId}/${actionId}`, changed, {
      by: label,
      name: plain(block.label),
      describedBy: hint,
      optional: block.optional === true,
    }),
    hint !== undefined && h('div', { id: hint, class: 'hint' }, plain(block.hint)),
  );
}
