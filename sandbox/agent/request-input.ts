import { z } from 'zod';
import type { ServiceBehaviour } from './service-behaviour.ts';
import { invalid, ServiceRefusal } from './service-refusal.ts';

const block = z.looseObject({ type: z.string().min(1) });

/** A message's content: text, or blocks. */
export const content = z.union([z.string().min(1), z.array(block).min(1)]);

/** Parses a request's body. @throws ServiceRefusal 422 */
export function readBody<Schema extends z.ZodObject>(
  schema: Schema,
  body: unknown,
  behaviour: ServiceBehaviour,
): z.infer<Schema> {
  const parsed = schema.safeParse(body ?? undefined);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const path = (issue?.path ?? []).map(String);
    throw invalid(['body', ...path], issue?.message ?? 'Invalid body');
  }
  if (behaviour.unknownFields === 'refused' && typeof body === 'object' && body !== null) {
    const unknown = Object.keys(body).find((key) => !(key in schema.shape));
    if (unknown !== undefined) throw invalid(['body', unknown], 'Unknown field');
  }
  return parsed.data;
}

/** The blocks of a message's content. */
export function blocksOf(value: z.infer<typeof content>): z.infer<typeof block>[] {
  return typeof value === 'string' ? [{ type: 'text', text: value }] : value;
}

type Query = Readonly<Record<string, unknown>>;

export function readLimit(query: Query, max: number, fallback: number): number {
  const text = query.limit;
  if (text === undefined) return fallback;
  const limit = typeof text === 'string' && /^\d+$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > max) throw invalid(['query', 'limit'], `Must be an integer from 1 to ${max}`);
  return limit;
}

export function readFlag(query: Query, name: string, fallback: boolean): boolean {
  const text = query[name];
  if (text === undefined) return fallback;
  if (text === 'true') return true;
  if (text === 'false') return false;
  throw invalid(['query', name], 'Must be true or false');
}

export function readText(query: Query, name: string): string | undefined {
  const text = query[name];
  if (text === undefined || typeof text === 'string') return text;
  throw invalid(['query', name], 'Must be given once');
}

/** The page of items after the one with the id `after`. @throws ServiceRefusal 404 if there is none */
export function pageAfter<Item>(
  items: readonly Item[],
  idOf: (item: Item) => string,
  after: string | undefined,
  limit: number,
): { page: Item[]; more: boolean } {
  const at = after === undefined ? -1 : items.findIndex((item) => idOf(item) === after);
  if (after !== undefined && at === -1)
    throw new ServiceRefusal(404, `No item '${after}'`, ['query', 'after_id']);
  const page = items.slice(at + 1, at + 1 + limit);
  return { page, more: at + 1 + limit < items.length };
}
