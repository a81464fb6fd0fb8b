import { z } from 'zod';

const recordSchema = z.record(z.string(), z.unknown());

/** Parsed JSON, or undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The value at a dotted path such as `error.message`, or undefined. */
export function valueAt(value: unknown, path: string): unknown {
  let at = value;
  for (const step of path.split('.')) {
    const record = recordSchema.safeParse(at);
    if (!record.success || !Object.hasOwn(record.data, step)) return undefined;
    at = record.data[step];
  }
  return at;
}

/** The first text that is not empty at one of these paths, or null. Longer texts are skipped. */
export function firstTextAt(
  value: unknown,
  paths: readonly string[],
  maxLength = Number.POSITIVE_INFINITY,
): string | null {
  for (const path of paths) {
    const text = valueAt(value, path);
    if (typeof text === 'string' && text !== '' && text.length <= maxLength) return text;
  }
  return null;
}
