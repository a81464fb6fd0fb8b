import { AgentResponseError, AgentResponseSizeError } from './errors.ts';
import type { Message, Page } from './service-schema.ts';

/** Pages that one walk reads at most, against a service that never ends a list. */
const MAX_PAGES = 500;

/** The documented maximum of `limit`. */
const MAX_EVENTS = 500;

/** The documented default of `limit`. */
const DEFAULT_EVENTS = 200;

/** Events of the first page where only the last messages are wanted: each may hold a very long text. */
const LAST_MESSAGES_EVENTS = 10;

interface PageCursor {
  readonly limit?: number | undefined;
  readonly beforeId?: string | undefined;
  readonly afterId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Reads one page of a task's messages. */
export type ListMessages = (cursor: PageCursor) => Promise<Page<Message>>;

/**
 * Lists again with a smaller `limit` where a page is larger than is read, and so the walk's later pages.
 * Throws AgentAnswerSizeError where a page of one event is.
 */
export function withSmallerPages(list: ListMessages): ListMessages {
  let most = MAX_EVENTS;
  return async (cursor) => {
    for (;;) {
      const asked = cursor.limit ?? DEFAULT_EVENTS;
      const limit = asked > most ? most : cursor.limit;
      try {
        return await list({ ...cursor, limit });
      } catch (error) {
        const events = Math.min(asked, most);
        if (!(error instanceof AgentResponseSizeError) || events <= 1) throw error;
        most = Math.ceil(events / (events > 8 ? 4 : 2));
      }
    }
  };
}

type WalkOptions = Pick<PageCursor, 'limit' | 'signal'>;

/**
 * Walks forward with `after_id`, oldest first. Copes with an inclusive cursor and with pages that repeat;
 * where the cursor leads nowhere it walks back from the latest message instead.
 */
export async function* messagesForward(
  list: ListMessages,
  afterId: string,
  options: WalkOptions,
): AsyncGenerator<Message, void, undefined> {
  const seen = new Set([afterId]);
  let after = afterId;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { items, hasMore, lastId } = await list({ ...options, afterId: after });
    const fresh = items.filter(({ id }) => !seen.has(id));
    for (const message of fresh) seen.add(message.id);
    yield* fresh;
    if (!hasMore) return;
    const next = fresh.at(-1)?.id ?? lastId;
    if (next === null || next === after) return yield* messagesBackward(list, after, options);
    after = next;
  }
  throw endlessListError();
}

/**
 * Walks back with `before_id` from the latest message to `afterId` (to the first where null), then gives what
 * lies after it, oldest first.
 */
export async function* messagesBackward(
  list: ListMessages,
  afterId: string | null,
  options: WalkOptions,
): AsyncGenerator<Message, void, undefined> {
  const stretches: Message[][] = [];
  for await (const stretch of pagesBackward(list, options)) {
    const at = stretch.findIndex(({ id }) => id === afterId);
    stretches.push(stretch.slice(at + 1));
    if (at >= 0) break;
  }
  for (const stretch of stretches.toReversed()) yield* stretch;
}

/** The last `count` messages, oldest first. `limit` counts events, so it may take several pages. */
export async function lastMessages(
  list: ListMessages,
  count: number,
  options: WalkOptions,
): Promise<Message[]> {
  const stretches: Message[][] = [];
  let found = 0;
  const limit = options.limit ?? Math.min(MAX_EVENTS, LAST_MESSAGES_EVENTS + count);
  for await (const stretch of pagesBackward(list, { ...options, limit })) {
    stretches.push(stretch);
    found += stretch.length;
    if (found >= count) break;
  }
  return count <= 0 ? [] : stretches.toReversed().flat().slice(-count);
}

/** Stretches of messages from the latest back, each oldest first, no message twice. */
async function* pagesBackward(
  list: ListMessages,
  options: WalkOptions,
): AsyncGenerator<Message[], void, undefined> {
  const seen = new Set<string>();
  let before: string | undefined;
  let { limit } = options;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { items, hasMore, firstId } = await list({ ...options, limit, beforeId: before });
    const fresh = items.filter(({ id }) => !seen.has(id));
    for (const message of fresh) seen.add(message.id);
    yield fresh;
    if (!hasMore) return;
    const next = fresh.at(0)?.id ?? firstId ?? undefined;
    if (next !== undefined && next !== before) before = next;
    // A page of events may hold no further message; a longer one may.
    else if (limit !== MAX_EVENTS) limit = Math.min(MAX_EVENTS, 4 * (limit ?? DEFAULT_EVENTS));
    else break;
  }
  throw endlessListError();
}

function endlessListError(): AgentResponseError {
  return new AgentResponseError({
    sentence:
      "The agent service's list of messages says that it goes on but gives nothing more; " +
      'see messagesAfter in AGENT_DIALECT.',
    outcome: 'refused',
  });
}
