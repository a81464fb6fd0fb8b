import type { Fields } from '../page-protocol.ts';

/** Reading of JSON that nobody has promised a shape for. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects of a list; none where it is no list. */
export function objects(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

export function maybeText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The words of a text object, plain or mrkdwn, without their form. */
export function plain(value: unknown): string {
  return isFields(value) ? text(value.text) : text(value);
}
