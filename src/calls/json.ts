import { z } from 'zod';

const recordSchema = z.record(z.string(), z.unknown());

const BYTE_ORDER_MARK = /^\uFEFF/;
/** Numbers that Python writes and JSON lacks. */
const BARE_NUMBER = /-?\b(?:NaN|Infinity)\b/g;

/** Parses JSON that comes from outside, with a byte order mark or Python's bare numbers, too; undefined for anything else. */
export function parseJson(text: unknown): unknown {
  const json = String(text).replace(BYTE_ORDER_MARK, '');
  const value = parsed(json);
  return value !== undefined || json.search(BARE_NUMBER) < 0 ? value : parsed(withoutBareNumbers(json));
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** The text with null in place of `NaN`, `Infinity` and `-Infinity`, as `JSON.stringify` writes them. */
function withoutBareNumbers(json: string): string {
  let written = '';
  let copied = 0;
  let afterTexts = 0;
  for (const { index, 0: number } of json.matchAll(BARE_NUMBER)) {
    for (let quote = json.indexOf('"', afterTexts); quote >= 0 && quote < index; ) {
      const end = closingQuote(json, quote);
      if (end < 0) return '';
      afterTexts = end + 1;
      quote = json.indexOf('"', afterTexts);
    }
    if (afterTexts > index) continue;
    written += `${json.slice(copied, index)}null`;
    copied = index + number.length;
  }
  return written + json.slice(copied);
}

/** The index of the quote that ends the string starting at `from`, or -1. */
export function closingQuote(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text[before] === '\\') before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
  return -1;
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

let leftOutItems = 0;

/** A list with more unreadable items is refused: each takes about 10 µs. */
const MAX_UNREADABLE_ITEMS = 1_000;

/** A list without the items that cannot be read, such as messages of old integrations. */
export function listOf<Item extends z.ZodType>(item: Item) {
  return z.array(z.unknown()).transform((wire, context): z.output<Item>[] => {
    const items: z.output<Item>[] = [];
    let unreadable = 0;
    for (const input of wire) {
      const { data, error } = item.safeParse(input);
      if (error === undefined) items.push(data);
      else if (++unreadable > MAX_UNREADABLE_ITEMS) {
        context.issues.push({ code: 'custom', input: '', message: 'too many unreadable items' });
        return z.NEVER;
      }
    }
    leftOutItems += unreadable;
    return items;
  });
}

/** What `parse` returns, and how many items the lists in it have left out. */
export function countLeftOut<T>(parse: () => T): { result: T; leftOut: number } {
  const before = leftOutItems;
  return { result: parse(), leftOut: leftOutItems - before };
}
