import { z } from 'zod';
import { parseJson, valueAt } from './json-path.ts';

/** Characters of an error body in a sentence. */
const MAX_REASON_LENGTH = 500;

const detailItemsSchema = z
  .array(z.looseObject({ loc: z.array(z.unknown()).optional(), msg: z.string() }))
  .min(1);

/**
 * The service's reason in an error body: the first of `paths` that leads to a text or a list of `{loc, msg}`, or the
 * whole body if it is not JSON. Undefined if there is no reason.
 */
export function reasonInBody(body: string, paths: readonly string[]): string | undefined {
  const parsed = parseJson(body);
  for (const path of paths) {
    const reason = detailText(valueAt(parsed, path));
    if (reason !== undefined) return shorten(reason);
  }
  return parsed === undefined ? shorten(xmlReason(body) ?? body) : undefined;
}

/** The reason, else the body itself, which may repeat the request; '' for an empty body. */
export function errorText(body: string, paths: readonly string[]): string {
  return reasonInBody(body, paths) ?? shorten(body);
}

function detailText(value: unknown): string | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value;
  const items = detailItemsSchema.safeParse(value);
  if (!items.success) return undefined;
  return items.data
    .map(({ loc, msg }) => (loc === undefined ? msg : `${loc.map(String).join('.')}: ${msg}`))
    .join('; ');
}

/** Storage behind signed links responds in XML; its code and message hold no secrets, the rest may. */
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
