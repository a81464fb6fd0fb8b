import type { DisplayNames } from '../../src/relay/reading/display-names.ts';

export const bot = 'U0TASKBOT';

/** Names of a small workspace. */
export const names: DisplayNames = new Map([
  [bot, 'Taskthread'],
  ['U0ADA', 'Ada Lovelace'],
  ['U0GRACE', 'Grace Hopper'],
  ['C0LAB', 'lab-results'],
]);

export const nobody: DisplayNames = new Map();

/** A message's `rich_text` blocks. */
export function richText(...elements: object[]): { blocks: object[] } {
  return { blocks: [{ type: 'rich_text', block_id: 'b1', elements }] };
}

export function section(...elements: (object | string)[]): object {
  return { type: 'rich_text_section', elements: elements.map(piece) };
}

export function list(style: 'bullet' | 'ordered', items: string[], more: object = {}): object {
  return { type: 'rich_text_list', style, elements: items.map((item) => section(item)), ...more };
}

export function piece(element: object | string): object {
  return typeof element === 'string' ? { type: 'text', text: element } : element;
}

export function styled(text: string, ...styles: string[]): object {
  return { type: 'text', text, style: Object.fromEntries(styles.map((name) => [name, true])) };
}

export const user = (id: string): object => ({ type: 'user', user_id: id });
