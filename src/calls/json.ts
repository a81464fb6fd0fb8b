import { z } from 'zod';

const recordSchema = z.record(z.string(), z.unknown());

/** Parses JSON that comes from outside; undefined for anything else. */
export function parseJson(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
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
