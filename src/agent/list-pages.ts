import type { CursorPage } from './client-options.ts';
import { AgentError, isTooLarge } from './errors.ts';
import type { Message, Page, ResultFile } from './service-schema.ts';

/** Stop a walk through a list that never ends. */
const MAX_MESSAGE_PAGES = 500;
const MAX_RESULT_PAGES = 200;

/** The documented maximum of `limit` for messages, and for results. */
const MAX_EVENTS = 500;
const MAX_RESULTS = 100;

/** The documented default of `limit` for messages. */
const DEFAULT_EVENTS = 200;

/** Events of the first page if only the last message is wanted: each may hold a very long text. */
const LAST_MESSAGE_EVENTS = 11;

export interface MessageCursor {
  readonly limit?: number | undefined;
  readonly beforeId?: string | undefined;
  readonly afterId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ResultCursor {
  readonly limit?: number;
  readonly after?: string | undefined;
  readonly reconcile?: boolean | undefined;
}

export type ListMessages = (cursor: MessageCursor) => Promise<Page<Message>>;

/** Reads a page that is too large again with a smaller `limit`, and keeps that. Throws if one event is too large. */
export function withSmallerPages(list: ListMessages): ListMessages {
  let maxEvents = MAX_EVENTS;
  return async (cursor) => {
    for (;;) {
      const requested = cursor.limit ?? DEFAULT_EVENTS;
      const limit = requested > maxEvents ? maxEvents : cursor.limit;
      try {
        return await list({ ...cursor, limit });
      } catch (error) {
        const events = Math.min(requested, maxEvents);
        if (!isTooLarge(error) || events <= 1) throw error;
        maxEvents = Math.ceil(events / (events > 8 ? 4 : 2));
      }
    }
  };
}

type WalkOptions = Pick<MessageCursor, 'limit' | 'signal'> & { readonly readable?: 'all' };

/** Walks forward from `afterId`, oldest first. Accepts an inclusive or ignored cursor, and repeated pages. */
export async function* messagesForward(
  list: ListMessages,
  afterId: string,
  options: WalkOptions,
): AsyncGenerator<Message, void, undefined> {
  for await (const page of pagesFrom(list, 'afterId', afterId, options)) yield* page;
}

/** The messages after `afterId`, or all if null, oldest first. Walks back from the latest with `before_id`. */
export async function* messagesBackward(
  list: ListMessages,
  afterId: string | null,
  options: WalkOptions,
): AsyncGenerator<Message, void, undefined> {
  const pages: Message[][] = [];
  for await (const page of pagesFrom(list, 'beforeId', undefined, options)) {
    const at = page.findIndex(({ id }) => id === afterId);
    pages.push(page.slice(at + 1));
    if (at >= 0) break;
  }
  for (const page of pages.toReversed()) yield* page;
}

/** The last message; undefined without any. */
export async function lastMessage(list: ListMessages): Promise<Message | undefined> {
  for await (const page of pagesFrom(list, 'beforeId', undefined, { limit: LAST_MESSAGE_EVENTS }))
    if (page.length > 0) return page.at(-1);
  return undefined;
}

/**
 * Pages from a message on, or from the latest back. Each is oldest first, and no message comes twice. Where the service
 * claims to have more but returns no further messages, the walk ends. It throws then if all must be `readable`, and if one
 * cannot be read: it may be the one that is looked for.
 */
async function* pagesFrom(
  list: ListMessages,
  cursor: 'afterId' | 'beforeId',
  from: string | undefined,
  { readable, ...options }: WalkOptions,
): AsyncGenerator<Message[], void, undefined> {
  const seen = new Set([from]);
  let at = from;
  let { limit } = options;
  for (let page = 0; page < MAX_MESSAGE_PAGES; page += 1) {
    const { items, hasMore, firstId, lastId, leftOut } = await list({ ...options, limit, [cursor]: at });
    if (readable === 'all' && leftOut > 0) {
      const sentence = "A message in the agent service's list cannot be read.";
      throw new AgentError('not_understood', { sentence, outcome: 'unknown' });
    }
    const after = cursor === 'afterId' ? items.findIndex(({ id }) => id === at) + 1 : 0;
    const fresh = items.slice(after).filter(({ id }) => !seen.has(id));
    for (const message of fresh) seen.add(message.id);
    yield fresh;
    if (!hasMore) return;
    const next = cursor === 'afterId' ? (fresh.at(-1)?.id ?? lastId) : (fresh.at(0)?.id ?? firstId);
    if (next !== null && next !== at) at = next;
    // A page of events may hold no further message; a longer one may.
    else if (limit !== MAX_EVENTS) limit = Math.min(MAX_EVENTS, 4 * (limit ?? DEFAULT_EVENTS));
    else if (readable === 'all') break;
    else return;
  }
  const sentence =
    "The agent service's list of messages claims to have more pages but returns no further messages. " +
    'Try another value of messagesAfter in AGENT_DIALECT.';
  throw new AgentError('not_understood', { sentence, outcome: 'refused' });
}

/** A task's results, each once. */
export interface ResultList {
  readonly results: ResultFile[];
  /** False: the service has more, but its cursor leads to no others, or some cannot be read or share an id. */
  readonly isComplete: boolean;
}

/** All results. Only the first page asks the service to look for files written just now. */
export async function allResults(
  list: (cursor: ResultCursor) => Promise<CursorPage<ResultFile>>,
  reconcile: boolean | undefined,
): Promise<ResultList> {
  const found = new Map<string, ResultFile>();
  let after: string | undefined;
  let isComplete = false;
  let isUnread = false;
  for (let read = 0; read < MAX_RESULT_PAGES; read += 1) {
    const page = await list({ limit: MAX_RESULTS, after, reconcile: read === 0 ? reconcile : false });
    isUnread ||= page.leftOut > 0;
    const before = found.size;
    for (const item of page.items) {
      const same = found.get(item.id);
      if (same === undefined) found.set(item.id, item);
      else isUnread ||= same.name !== item.name || same.sizeBytes !== item.sizeBytes;
    }
    isComplete = !page.hasMore;
    if (isComplete || page.cursor === null || found.size === before) break;
    after = page.cursor;
  }
  return { results: [...found.values()], isComplete: isComplete && !isUnread };
}
