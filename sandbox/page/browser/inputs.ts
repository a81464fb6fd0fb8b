import type { Fields } from '../page-protocol.ts';
import { type Child, h } from './dom.ts';
import { plain, text } from './json-fields.ts';
import { initials, type Option, optionsOf } from './select-options.ts';

/** How the element's texts are called in HTML. */
const written: Record<string, string> = {
  email_text_input: 'email',
  url_text_input: 'url',
  number_input: 'number',
  datepicker: 'date',
  timepicker: 'time',
  datetimepicker: 'datetime-local',
};
const OPTION_SELECTS = ['static_select', 'external_select', 'multi_static_select', 'multi_external_select'];
const WORKSPACE_SELECTS = ['users_select', 'channels_select', 'conversations_select'];

/** Every element that holds something people write or choose. */
export const INPUT_TYPES: ReadonlySet<string> = new Set([
  ...Object.keys(written),
  ...OPTION_SELECTS,
  ...WORKSPACE_SELECTS,
  ...WORKSPACE_SELECTS.map((type) => `multi_${type}`),
  'plain_text_input',
  'rich_text_input',
  'radio_buttons',
  'checkboxes',
  'file_input',
]);

/**
 * An input. `key` is `block_id/action_id`, under which forms find it; `changed` hears the values after each change.
 * `labelled` is the id of its label, where it has one of its own.
 */
export function choiceInput(
  one: Fields,
  key: string,
  changed: (values: string[]) => void,
  labelled?: { by: string; describedBy: string | undefined },
): HTMLElement {
  const type = text(one.type);
  const common = {
    'data-input': key,
    'data-key': key,
    'data-action': text(one.action_id),
    'aria-labelledby': labelled?.by,
    'aria-describedby': labelled?.describedBy,
    'aria-label':
      labelled === undefined ? plain(one.placeholder) || text(one.action_id).replaceAll('_', ' ') : undefined,
  };
  const tell = (event: Event) => {
    const { currentTarget } = event;
    if (currentTarget instanceof HTMLElement) changed(valuesOf(currentTarget));
  };
  if (type === 'plain_text_input' || type === 'rich_text_input') return writing(one, common, tell);
  if (type === 'file_input') {
    const most = Number(one.max_files) || 10;
    return h('input', { type: 'file', ...common, multiple: most > 1, accept: accepted(one), onchange: tell });
  }
  if (type in written) {
    const initial = text(one.initial_value ?? one.initial_date ?? one.initial_time);
    const limits = { min: text(one.min_value) || undefined, max: text(one.max_value) || undefined };
    return h('input', { type: written[type], ...common, ...limits, value: initial, onchange: tell });
  }
  if (type === 'radio_buttons' || type === 'checkboxes' || type.startsWith('multi_')) {
    return ticks(
      type === 'radio_buttons' ? 'radio' : 'checkbox',
      optionsOf(one),
      initials(one),
      common,
      tell,
    );
  }
  return select(optionsOf(one), initials(one)[0], plain(one.placeholder) || 'Choose', common, tell);
}

type Common = Record<string, string | undefined>;

function writing(one: Fields, common: Common, tell: (event: Event) => void): HTMLElement {
  const attributes = {
    ...common,
    placeholder: plain(one.placeholder) || undefined,
    minlength: Number(one.min_length) || undefined,
    maxlength: Number(one.max_length) || undefined,
    onchange: tell,
  };
  const initial = text(one.initial_value);
  if (one.multiline === true || one.type === 'rich_text_input')
    return h('textarea', { rows: 4, ...attributes }, initial);
  return h('input', { type: 'text', value: initial, ...attributes });
}

function ticks(
  kind: 'radio' | 'checkbox',
  options: Option[],
  chosen: string[],
  common: Common,
  tell: (event: Event) => void,
): HTMLElement {
  const rows: Child[] = options.map(({ value, label, about }) =>
    h(
      'label',
      { class: 'tick' },
      h('input', { type: kind, name: common['data-input'], value, checked: chosen.includes(value) }),
      h('span', {}, label, about !== undefined && h('small', {}, about)),
    ),
  );
  return h(
    'div',
    { role: kind === 'radio' ? 'radiogroup' : 'group', class: 'ticks', ...common, onchange: tell },
    rows,
  );
}

/** A list to choose from; what the options say about themselves stands below it, for the one that is chosen. */
function select(
  options: Option[],
  chosen: string | undefined,
  placeholder: string,
  common: Common,
  tell: (event: Event) => void,
): HTMLElement {
  const made = h(
    'select',
    { ...common, onchange: tell },
    chosen === undefined && h('option', { value: '', disabled: true, selected: true }, placeholder),
    options.map(({ value, label }) => h('option', { value, selected: value === chosen }, label)),
  );
  if (options.every(({ about }) => about === undefined)) return made;
  const about = h('small', { class: 'about-option', 'aria-live': 'polite' });
  const show = () => {
    about.textContent = options.find(({ value }) => value === made.value)?.about ?? '';
  };
  made.addEventListener('input', show);
  show();
  return h('div', { class: 'select' }, made, about);
}

function accepted(one: Fields): string | undefined {
  const types: unknown[] = Array.isArray(one.filetypes) ? one.filetypes : [];
  return types.length === 0 ? undefined : types.map((type) => `.${text(type)}`).join(',');
}

/** What an input holds. */
export function valuesOf(input: HTMLElement): string[] {
  if (input instanceof HTMLInputElement || input instanceof HTMLTextAreaElement) {
    if (input.type === 'datetime-local' && input.value !== '')
      return [String(Math.floor(new Date(input.value).getTime() / 1_000))];
    return input.type === 'file' || input.value === '' ? [] : [input.value];
  }
  if (input instanceof HTMLSelectElement) return input.value === '' ? [] : [input.value];
  return [...input.querySelectorAll('input')].filter(({ checked }) => checked).map(({ value }) => value);
}
