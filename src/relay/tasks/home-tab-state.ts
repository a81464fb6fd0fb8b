import { z } from 'zod';

/** What a Home tab shows: the pages of its two lists, from 0, and the chosen channel. Kept in the view's metadata. */
const schema = z.object({
  page: z.int().min(0).max(100_000),
  channel: z
    .string()
    .regex(/^[\w-]{1,100}$/)
    .optional(),
  channelPage: z.int().min(0).max(100_000),
});
export type HomeTabState = z.output<typeof schema>;

/** Reads the state from a view's parsed metadata; the first pages for anything else. */
export function parseHomeTabState(value: unknown): HomeTabState {
  return schema.safeParse(value).data ?? { page: 0, channelPage: 0 };
}
