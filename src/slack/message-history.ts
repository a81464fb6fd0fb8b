import { z } from 'zod';
import { countedListOf } from '../calls/json.ts';
import type { LeaseGuard } from '../calls/retries-and-waits.ts';
import { unreadableResponse } from './error-mapping.ts';
import { nextPageSchema, optional, pagesOf, slackId, slackTs } from './field-schemas.ts';
import type { RateLimitedClient } from './rate-limits.ts';
import { attachmentsSchema, METADATA_TYPE } from './slack-message.ts';

/** What tells the messages of apps and of Slack itself from people's: in another form, it still does. */
const notPersonsMark = z
  .string()
  .nullish()
  .catch('')
  .transform((value) => value ?? undefined);
const itemsSchema = optional(z.array(z.unknown()));

/** The fields of a message that are read, in Slack's history and in its events. Only the `ts` is essential. */
export const messageSchema = z.looseObject({
  ts: slackTs,
  user: optional(slackId),
  bot_id: notPersonsMark,
  app_id: notPersonsMark,
  subtype: notPersonsMark,
  username: notPersonsMark,
  bot_profile: optional(z.looseObject({ user_id: optional(slackId) })),
  client_msg_id: optional(z.string().max(100)),
  text: z.string().catch(''),
  blocks: itemsSchema,
  files: itemsSchema,
  attachments: optional(attachmentsSchema),
  thread_ts: optional(slackTs),
  edited: optional(z.looseObject({ ts: slackTs })),
  reply_count: optional(z.number()),
  latest_reply: optional(slackTs),
  metadata: optional(
    z.looseObject({
      event_type: optional(z.string()),
      event_payload: optional(z.record(z.string(), z.unknown())),
    }),
  ),
});
export type ThreadMessage = z.output<typeof messageSchema>;

const pageSchema = z
  .looseObject({ messages: countedListOf(messageSchema), response_metadata: nextPageSchema })
  .transform(({ messages: { items, leftOut }, ...page }) => ({ ...page, messages: items, leftOut }));

export interface HistoryRequest {
  channel: string;
  /** The thread's root; without it, the channel itself is read. */
  threadTs?: string | undefined;
  /** Messages from this ts on, which is included. */
  oldest?: string | undefined;
  /** Messages up to this ts, which is included. */
  latest?: string | undefined;
  guard?: LeaseGuard | undefined;
  signal?: AbortSignal | undefined;
}

export interface HistoryPage {
  /** Of a thread oldest first, its root among them; of a channel newest first. */
  messages: readonly ThreadMessage[];
  /** Undefined on the last page. */
  nextCursor: string | undefined;
  /** Its next page is itself again, which leads nowhere. */
  isEndless: boolean;
}

interface NewestRequest extends Pick<HistoryRequest, 'channel' | 'threadTs' | 'signal'> {
  /** No message before this ts counts. */
  oldest: string;
  /** The newest message is the one before this ts. */
  before: string;
  /** How many messages are needed of those that are wanted. */
  count: number;
  isWanted: (message: ThreadMessage) => boolean;
}

/** Messages of a thread, oldest first. */
export interface NewestMessages {
  messages: readonly ThreadMessage[];
  /** Which messages of the thread were not read. */
  missing: 'older' | 'later' | undefined;
}

interface OwnPostRequest extends Omit<HistoryRequest, 'oldest' | 'latest'> {
  key: string;
  /** The turn's known posts, if the post may be a stream. */
  streamsExcept?: ReadonlySet<string> | undefined;
  /** When the bot was first about to send it. */
  intendedAt: Date;
}

/**
 * Messages of a page: what Slack recommends (https://docs.slack.dev/apis/web-api/pagination), and what it returns at most to
 * apps that are distributed outside the Marketplace (see the rate limit in `rate-limits.ts`).
 */
const PAGE_SIZE = 200;
const DISTRIBUTED_PAGE_SIZE = 15;
/** Pages that are read in a row: 10,000 messages, within two minutes where Slack limits reading as usual. */
const MAX_PAGES = 50;

/** The window of time at the end of a long thread that is read first (s), and how much wider each earlier one is. */
const FIRST_WINDOW_S = 60;
const WINDOW_GROWTH = 8;

/** How much the clock of a process, or of the database, and Slack's may differ (s). */
const CLOCK_SKEW_S = 600;

/** Reads messages. Slow and under a tight rate limit: use it only to find out whether a post arrived, or to backfill. */
export class MessageHistory {
  readonly #client: RateLimitedClient;
  /** The rate limit for apps outside the Marketplace applies. */
  readonly isDistributed: boolean;

  constructor(client: RateLimitedClient, isDistributed = false) {
    this.#client = client;
    this.isDistributed = isDistributed;
  }

  /** The bot's post with this key, if Slack has it; with `streamsExcept` also a stream below the first of these, which has no key. */
  async findOwnPost(request: OwnPostRequest): Promise<{ ts: string } | undefined> {
    const oldest = `${Math.floor(request.intendedAt.getTime() / 1000) - CLOCK_SKEW_S}.000000`;
    for await (const message of this.messages({ ...request, oldest })) {
      const { ts, files } = message;
      const key = postKeyOf(message);
      const isStream = key === undefined && files === undefined && isNewAmong(request.streamsExcept, ts);
      if (this.#isOurs(message) && (key === request.key || isStream)) return { ts };
    }
    return undefined;
  }

  /**
   * A thread's messages, oldest first and its root among them; a channel's, newest first. Throws a SlackError, also where
   * the pages do not end: what was not read is not known to be absent.
   */
  async *messages(request: HistoryRequest): AsyncGenerator<ThreadMessage> {
    const read = (at: { cursor: string | undefined }) =>
      this.#client.call(...this.#pageCall({ ...request, ...at }));
    for await (const page of pagesOf(MAX_PAGES, read)) {
      if (page === undefined) throw unreadableResponse(methodFor(request), 'the pages do not end');
      yield* page.messages;
    }
  }

  /** One message, of a thread or of a channel's top level; undefined if it is not there. Throws a SlackError. */
  async message(
    request: Omit<HistoryRequest, 'oldest' | 'latest'> & { ts: string },
  ): Promise<ThreadMessage | undefined> {
    const { ts, ...at } = request;
    for await (const message of this.messages({ ...at, oldest: ts, latest: ts }))
      if (message.ts === ts) return message;
    return undefined;
  }

  /**
   * The newest messages of a thread, as many as are needed or more, and its root. Slack gives pages from the oldest message on only, so a
   * thread longer than a page is read in windows of time from its end, each wider than the one after it. Where Slack allows
   * one call a minute, only the first page is read.
   */
  async newestBefore({ before, count, isWanted, ...request }: NewestRequest): Promise<NewestMessages> {
    const first = await this.#client.call(...this.#pageCall({ ...request, latest: before }));
    const isBefore = (to: string) => (message: ThreadMessage) => Number(message.ts) < Number(to);
    const isWhole = first.response_metadata === undefined;
    if (isWhole || this.isDistributed)
      return { messages: first.messages.filter(isBefore(before)), missing: isWhole ? undefined : 'later' };
    const root = first.messages.filter(({ ts }) => ts === request.threadTs);
    let messages: ThreadMessage[] = [];
    for (let [to, seconds] = [before, FIRST_WINDOW_S]; ; seconds *= WINDOW_GROWTH) {
      const start = Number(to) - seconds;
      const oldest = start > Number(request.oldest) ? start.toFixed(6) : request.oldest;
      const window: ThreadMessage[] = [];
      for await (const message of this.messages({ ...request, oldest, latest: to })) {
        // Slack adds the root to each window.
        if (Number(message.ts) >= Number(oldest) && isBefore(to)(message)) window.push(message);
      }
      messages = [...window, ...messages];
      if (oldest === request.oldest) return { messages, missing: undefined };
      if (messages.filter(isWanted).length >= count)
        return { messages: [...root, ...messages], missing: 'older' };
      to = oldest;
    }
  }

  /** One page; undefined if the rate limit allows none within `maxWaitMs`. */
  async tryPage(
    request: HistoryRequest & { cursor: string | undefined },
    maxWaitMs: number,
  ): Promise<HistoryPage | undefined> {
    const [method, args, options] = this.#pageCall(request);
    const page = await this.#client.call(method, args, { ...options, maxWaitMs });
    const nextCursor = page?.response_metadata;
    const isEndless = nextCursor !== undefined && nextCursor === request.cursor;
    return page && { messages: page.messages, nextCursor, isEndless };
  }

  #pageCall(request: HistoryRequest & { cursor?: string | undefined }) {
    const { channel, threadTs, oldest, latest, cursor, guard, signal } = request;
    const args = {
      channel,
      ts: threadTs,
      oldest,
      latest,
      inclusive: true,
      cursor,
      limit: this.isDistributed ? DISTRIBUTED_PAGE_SIZE : PAGE_SIZE,
      include_all_metadata: true,
    };
    return [methodFor(request), args, { schema: pageSchema, guard, signal }] as const;
  }

  #isOurs(message: ThreadMessage): boolean {
    const { botId, botUser } = this.#client.installation;
    return message.bot_id === botId || message.user === botUser;
  }
}

function methodFor({ threadTs }: HistoryRequest) {
  return threadTs === undefined ? 'conversations.history' : 'conversations.replies';
}

function postKeyOf(message: ThreadMessage): unknown {
  return message.metadata?.event_type === METADATA_TYPE ? message.metadata.event_payload?.key : undefined;
}

/** Whether a ts is not among these and, if there are any, comes after the first of them. */
function isNewAmong(known: ReadonlySet<string> | undefined, ts: string): boolean {
  if (known === undefined || known.has(ts)) return false;
  return known.size === 0 || [...known].some((other) => Number(other) < Number(ts));
}
