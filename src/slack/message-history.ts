import { z } from 'zod';
import type { LeaseGuard } from './lease-guard.ts';
import type { Priority } from './permit-queue.ts';
import type { RateLimitedClient } from './rate-limited-client.ts';
import { METADATA_TYPE } from './slack-message.ts';

/** The fields that are read of a message from conversations.replies or conversations.history. */
export const threadMessageSchema = z.looseObject({
  ts: z.string(),
  user: z.string().optional(),
  bot_id: z.string().optional(),
  subtype: z.string().optional(),
  text: z.string().optional(),
  blocks: z.array(z.unknown()).optional(),
  files: z.array(z.unknown()).optional(),
  thread_ts: z.string().optional(),
  reply_count: z.number().optional(),
  metadata: z
    .looseObject({
      event_type: z.string().optional(),
      event_payload: z.record(z.string(), z.unknown()).optional(),
    })
    .optional(),
});
export type ThreadMessage = z.infer<typeof threadMessageSchema>;

const pageSchema = z.looseObject({
  messages: z.array(threadMessageSchema),
  response_metadata: z.looseObject({ next_cursor: z.string().optional() }).optional(),
});

export interface HistoryRequest {
  channel: string;
  /** The thread's root; without it, the channel itself is read. */
  threadTs?: string | undefined;
  /** Messages from this ts on, which is included. */
  oldest?: string | undefined;
  guard?: LeaseGuard | undefined;
  signal?: AbortSignal | undefined;
  /** The priority under the rate limit, if it is not the usual one. */
  priority?: (() => Priority) | undefined;
}

interface OwnPostRequest extends Omit<HistoryRequest, 'oldest'> {
  key: string;
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

/** How much our clock and Slack's may differ (s). */
const CLOCK_SKEW_S = 60;

/** Reads messages. Slow and under a tight rate limit: use it only to find out whether a post arrived, or to backfill. */
export class MessageHistory {
  readonly #client: RateLimitedClient;
  readonly #pageSize: number;

  /** `isDistributed`: the rate limit for apps outside the Marketplace applies. */
  constructor(client: RateLimitedClient, isDistributed = false) {
    this.#client = client;
    this.#pageSize = isDistributed ? DISTRIBUTED_PAGE_SIZE : PAGE_SIZE;
  }

  /** The bot's post with this key, if Slack has it; with `streamsExcept` also a stream other than these, which has no key. */
  async findOwnPost(request: OwnPostRequest): Promise<{ ts: string } | undefined> {
    const oldest = `${Math.floor(request.intendedAt.getTime() / 1000) - CLOCK_SKEW_S}.000000`;
    for await (const message of this.messages({ ...request, oldest })) {
      const { ts, files } = message;
      const key = postKeyOf(message);
      const isStream = key === undefined && files === undefined && request.streamsExcept?.has(ts) === false;
      if (this.#isOurs(message) && (key === request.key || isStream)) return { ts };
    }
    return undefined;
  }

  /** A thread's messages, oldest first and its root among them; a channel's, newest first. */
  async *messages(request: HistoryRequest): AsyncGenerator<ThreadMessage> {
    const { channel, threadTs, oldest, guard, signal, priority } = request;
    const method = threadTs === undefined ? 'conversations.history' : 'conversations.replies';
    let cursor: string | undefined;
    do {
      const page = await this.#client.call(
        method,
        {
          channel,
          ...(threadTs !== undefined && { ts: threadTs }),
          ...(oldest !== undefined && { oldest, inclusive: true }),
          ...(cursor !== undefined && { cursor }),
          limit: this.#pageSize,
          include_all_metadata: true,
        },
        { schema: pageSchema, guard, signal, priority },
      );
      yield* page.messages;
      cursor = page.response_metadata?.next_cursor || undefined;
    } while (cursor !== undefined);
  }

  #isOurs(message: ThreadMessage): boolean {
    const { botId, botUser } = this.#client.installation;
    return message.bot_id === botId || message.user === botUser;
  }
}

function postKeyOf(message: ThreadMessage): unknown {
  return message.metadata?.event_type === METADATA_TYPE ? message.metadata.event_payload?.key : undefined;
}
