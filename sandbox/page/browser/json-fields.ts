import type { Fields } from '../page-protocol.ts';

/** Whether a value is a JSON object. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects in a list; empty if the value is not a list. */
export function objects(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

export function maybeText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The text of a text object, without styles. */
export function plain(value: unknown): string {
  return isFields(value) ? text(value.text) : text(value);
}
