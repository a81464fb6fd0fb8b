import { z } from 'zod';

const recordSchema = z.record(z.string(), z.unknown());

const BYTE_ORDER_MARK = /^\uFEFF/;
/** A text, or a number that Python writes and JSON lacks. Never tried twice at one place, however a text ends. */
const TEXT_OR_BARE_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"?|-?\b(?:NaN|Infinity)\b/gs;

/** Where whole numbers may be too large for JavaScript. */
const LARGE_INTEGER = /[[:,]\s*-?\d{16,}\s*[\],}]/;

/**
 * Parses JSON that comes from outside, with a byte order mark or Python's bare numbers, too; undefined for anything else.
 * A whole number that JavaScript would round becomes a text of its digits: it may be an id.
 */
export function parseJson(text: unknown): unknown {
  const json = String(text).replace(BYTE_ORDER_MARK, '');
  try {
    return LARGE_INTEGER.test(json) ? JSON.parse(json, exactInteger) : JSON.parse(json);
  } catch {
    return /NaN|Infinity/.test(json) ? parseBareNumbers(json) : undefined;
  }
}

function exactInteger(_: string, value: unknown, { source = '' }: { source?: string } = {}): unknown {
  const isRounded = typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source);
  return isRounded ? source : value;
}

/** `NaN`, `Infinity` and `-Infinity` become null, as `JSON.stringify` writes them. */
function parseBareNumbers(json: string): unknown {
  try {
    return JSON.parse(json.replace(TEXT_OR_BARE_NUMBER, (found) => (found.startsWith('"') ? found : 'null')));
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

/** An id of so many characters at most, which fit an address; one that the service sends as a whole number is read as its digits. */
export function idUpTo(maxCharacters: number) {
  return z.preprocess(
    (id) => (Number.isSafeInteger(id) ? String(id) : id),
    z
      .string()
      .max(maxCharacters)
      .regex(/^[^\0\p{Cs}]+$/u),
  );
}

/** A list with more unreadable items is refused: each takes about 10 µs. */
const MAX_UNREADABLE_ITEMS = 1_000;

/** The items of a list that can be read, and how many are left out, such as messages of old integrations. */
export function countedListOf<Item extends z.ZodType>(item: Item) {
  return z.array(z.unknown()).transform((wire, context): { items: z.output<Item>[]; leftOut: number } => {
    const items: z.output<Item>[] = [];
    let leftOut = 0;
    for (const input of wire) {
      const { data, error } = item.safeParse(input);
      if (error === undefined) items.push(data);
      else if (++leftOut > MAX_UNREADABLE_ITEMS) {
        context.issues.push({ code: 'custom', input: '', message: 'too many unreadable items' });
        return z.NEVER;
      }
    }
    return { items, leftOut };
  });
}

/** A list without the items that cannot be read. */
export function listOf<Item extends z.ZodType>(item: Item) {
  return countedListOf(item).transform(({ items }) => items);
}
