import { z } from 'zod';

/** A message's ts: seconds since 1970, with six decimals. */
export const slackTs = z.string().regex(/^\d{1,10}\.\d{6}$/);

/** An id of Slack's; they are stored as they come. */
export const slackId = z.string().regex(/^[\w-]{1,100}$/);

/** A field that Slack may leave out: undefined also where it is null or of another form. */
export function optional<S extends z.ZodType>(schema: S) {
  return schema.optional().catch(undefined);
}

/** The same for a text, and for a flag. */
export const text = optional(z.string());
export const flag = optional(z.boolean());

/** Where the next page of a list begins; undefined on the last page. Another form refuses the page: it may not be the last. */
export const nextPageSchema = z
  .looseObject({ next_cursor: z.string().nullish() })
  .nullish()
  .transform((metadata) => metadata?.next_cursor || undefined);

/**
 * The pages of one of Slack's lists, at most `max`. The last one is undefined if not all were read: there are more, or a
 * cursor came again, which leads nowhere. Throws what `read` throws; `at` are its arguments for the page.
 */
export async function* pagesOf<Page extends { response_metadata: string | undefined }>(
  max: number,
  read: (at: { cursor: string | undefined }) => Promise<Page>,
): AsyncGenerator<Page | undefined> {
  const cursors = new Set<string | undefined>();
  for (let cursor: string | undefined; cursors.size < max && !cursors.has(cursor); ) {
    cursors.add(cursor);
    const page = await read({ cursor });
    yield page;
    cursor = page.response_metadata;
    if (cursor === undefined) return;
  }
  yield undefined;
}
