import type { Fields } from '../page-protocol.ts';
import { type Child, h } from './dom.ts';
import { plain, text } from './json-fields.ts';
import { initials, type Option, optionsOf } from './select-options.ts';

/** Every element type with a value. */
export const INPUT_TYPES: ReadonlySet<string> = new Set([
  'static_select',
  'conversations_select',
  'multi_conversations_select',
  'plain_text_input',
  'radio_buttons',
  'checkboxes',
  'file_input',
]);

/**
 * Creates an input. `key` is its `block_id/action_id`; `changed` receives the values after each change. `labelled` has
 * its label, and the ids of label and hint, if it has its own label: some tools pass over one that is scrolled out of sight.
 * A select that is `optional` can be emptied again.
 */
export function choiceInput(
  one: Fields,
  key: string,
  changed: (values: string[]) => void,
  labelled?: { by: string; name: string; describedBy: string | undefined; optional: boolean },
): HTMLElement {
  const type = text(one.type);
  const common = {
    'data-input': key,
    'data-key': key,
    'data-action': text(one.action_id),
    'aria-labelledby': labelled?.by,
    'aria-describedby': labelled?.describedBy,
    'aria-label': labelled?.name ?? (plain(one.placeholder) || text(one.action_id).replaceAll('_', ' ')),
  };
  const onChange = (event: Event) => {
    const { currentTarget } = event;
    if (currentTarget instanceof HTMLElement) changed(valuesOf(currentTarget));
  };
  if (type === 'plain_text_input') return textInput(one, common, onChange);
  if (type === 'file_input') {
    const most = Number(one.max_files) || 10;
    return h('input', {
      type: 'file',
      ...common,
      multiple: most > 1,
      accept: accepted(one),
      onchange: onChange,
    });
  }
  if (type === 'radio_buttons' || type === 'checkboxes' || type.startsWith('multi_')) {
    return optionList(
      type === 'radio_buttons' ? 'radio' : 'checkbox',
      optionsOf(one),
      initials(one),
      common,
      onChange,
    );
  }
  const none = { label: plain(one.placeholder) || 'Choose', selectable: labelled?.optional === true };
  return select(optionsOf(one), initials(one)[0], none, common, onChange);
}

type Common = Record<string, string | undefined>;

function textInput(one: Fields, common: Common, onChange: (event: Event) => void): HTMLElement {
  const attributes = {
    ...common,
    placeholder: plain(one.placeholder) || undefined,
    minlength: Number(one.min_length) || undefined,
    maxlength: Number(one.max_length) || undefined,
    onchange: onChange,
  };
  const initial = text(one.initial_value);
  if (one.multiline === true) return h('textarea', { rows: 4, ...attributes }, initial);
  return h('input', { type: 'text', value: initial, ...attributes });
}

function optionList(
  kind: 'radio' | 'checkbox',
  options: Option[],
  chosen: string[],
  common: Common,
  onChange: (event: Event) => void,
): HTMLElement {
  const rows: Child[] = options.map(({ value, label, description }) =>
    h(
      'label',
      { class: 'tick' },
      h('input', { type: kind, name: common['data-input'], value, checked: chosen.includes(value) }),
      h('span', {}, label, description !== undefined && h('small', {}, description)),
    ),
  );
  return h(
    'div',
    { role: kind === 'radio' ? 'radiogroup' : 'group', class: 'ticks', ...common, onchange: onChange },
    rows,
  );
}

/** A select; the description of the selected option appears below it. */
function select(
  options: Option[],
  chosen: string | undefined,
  none: { label: string; selectable: boolean },
  common: Common,
  onChange: (event: Event) => void,
): HTMLElement {
  const made = h(
    'select',
    { ...common, onchange: onChange },
    (none.selectable || chosen === undefined) &&
      h('option', { value: '', disabled: !none.selectable, selected: chosen === undefined }, none.label),
    options.map(({ value, label }) => h('option', { value, selected: value === chosen }, label)),
  );
  if (options.every(({ description }) => description === undefined)) return made;
  const description = h('small', { class: 'about-option', 'aria-live': 'polite' });
  const show = () => {
    description.textContent = options.find(({ value }) => value === made.value)?.description ?? '';
  };
  made.addEventListener('input', show);
  show();
  return h('div', { class: 'select' }, made, description);
}

function accepted(one: Fields): string | undefined {
  const types: unknown[] = Array.isArray(one.filetypes) ? one.filetypes : [];
  return types.length === 0 ? undefined : types.map((type) => `.${text(type)}`).join(',');
}

/** The values of an input. */
export function valuesOf(input: HTMLElement): string[] {
  if (input instanceof HTMLInputElement || input instanceof HTMLTextAreaElement)
    return input.type === 'file' || input.value === '' ? [] : [input.value];
  if (input instanceof HTMLSelectElement) return input.value === '' ? [] : [input.value];
  return [...input.querySelectorAll('input')].filter(({ checked }) => checked).map(({ value }) => value);
}
