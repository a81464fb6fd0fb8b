import { z } from 'zod';

/** Characters of an error body that a sentence shows at most. */
const MAX_REASON_LENGTH = 500;

const detailItemsSchema = z
  .array(z.looseObject({ loc: z.array(z.unknown()).optional(), msg: z.string() }))
  .min(1);
const recordSchema = z.record(z.string(), z.unknown());

/**
 * The service's reason in an error body: by the first of `places` that holds one, a dotted path to a text or to a list of
 * `{loc, msg}`; of a body that is no JSON all of it. Undefined where neither is there.
 */
export function reasonInBody(body: string, places: readonly string[]): string | undefined {
  const parsed = parseJson(body);
  for (const place of places) {
    const words = detailText(valueAt(parsed, place));
    if (words !== undefined) return shorten(words);
  }
  return parsed === undefined ? shorten(xmlReason(body) ?? body) : undefined;
}

/** The reason, else the body itself, which may repeat what was sent; '' for an empty body. */
export function errorText(body: string, places: readonly string[]): string {
  return reasonInBody(body, places) ?? shorten(body);
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

/** Parsed JSON, or undefined where the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function detailText(value: unknown): string | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value;
  const items = detailItemsSchema.safeParse(value);
  if (!items.success) return undefined;
  return items.data
    .map(({ loc, msg }) => (loc === undefined ? msg : `${loc.map(String).join('.')}: ${msg}`))
    .join('; ');
}

/** Storage behind signed links answers in XML; its code and message hold no secrets, the rest may. */
function xmlReason(body: string): string | undefined {
  if (!body.trimStart().startsWith('<')) return undefined;
  const code = /<Code>([^<]*)<\/Code>/.exec(body)?.[1];
  const message = /<Message>([^<]*)<\/Message>/.exec(body)?.[1];
  if (code === undefined && message === undefined) return undefined;
  return [code, message].filter((part) => part !== undefined).join(': ');
}

function shorten(text: string): string {
  const flat = text.replaceAll(/\s+/g, ' ').trim();
  return flat.length <= MAX_REASON_LENGTH
    ? flat
    : `${flat.slice(0, MAX_REASON_LENGTH).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
