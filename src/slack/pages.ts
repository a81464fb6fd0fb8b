/**
 * The pages of one of Slack's lists, at most `max`. The last one is undefined if not all were read: there are more, or a
 * cursor came again, which leads nowhere. Throws what `read` throws; `at` are its arguments for the page.
 */
export async function* pagesOf<Page extends { response_metadata: string | undefined }>(
  max: number,
  read: (at: { cursor?: string }) => Promise<Page>,
): AsyncGenerator<Page | undefined> {
  const cursors = new Set<string | undefined>();
  for (let cursor: string | undefined; cursors.size < max && !cursors.has(cursor); ) {
    cursors.add(cursor);
    const page = await read(cursor === undefined ? {} : { cursor });
    yield page;
    cursor = page.response_metadata;
    if (cursor === undefined) return;
  }
  yield undefined;
}
