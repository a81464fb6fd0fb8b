import { z } from 'zod';
import type { LeaseGuard } from './lease-guard.ts';
import type { Priority } from './permit-queue.ts';
import type { RateLimitedClient } from './rate-limited-client.ts';
import { readBackPageSize } from './rate-limits.ts';
import { METADATA_TYPE } from './slack-message.ts';

/** A message as conversations.replies and conversations.history give it: what we read of it. */
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
  client_msg_id: z.string().optional(),
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

/** Which messages are to be read back. */
export interface HistoryRequest {
  channel: string;
  /** The thread's root; left out, the channel itself is read. */
  threadTs?: string | undefined;
  /** Nothing older than this ts, which is included. */
  oldest?: string | undefined;
  guard?: LeaseGuard | undefined;
  signal?: AbortSignal | undefined;
  /** Who goes first in the lane, where it is not as usual. */
  priority?: (() => Priority) | undefined;
}

/** Our clock and Slack's may differ by so much (s) when a post is looked for. */
const CLOCK_SKEW_S = 60;

/** Reads threads back: slow and scarce, so only to settle what a call came to, or to catch up once. */
export class MessageHistory {
  readonly #api: RateLimitedClient;
  readonly #pageSize: number;

  /** `distributed`: the app is under the limit for apps outside of the Marketplace. */
  constructor(options: { api: RateLimitedClient; distributed?: boolean }) {
    this.#api = options.api;
    this.#pageSize = readBackPageSize(options.distributed ?? false);
  }

  /** Our post with this key, if Slack has it. `intendedAt`: when the post was first about to be sent. */
  async findOwnPost(
    request: Omit<HistoryRequest, 'oldest'> & { key: string; intendedAt: Date },
  ): Promise<{ ts: string } | undefined> {
    const oldest = `${Math.floor(request.intendedAt.getTime() / 1000) - CLOCK_SKEW_S}.000000`;
    for await (const message of this.messages({ ...request, oldest })) {
      if (this.#isOurs(message) && postKeyOf(message) === request.key) return { ts: message.ts };
    }
    return undefined;
  }

  /** A thread's messages, oldest first and its root among them; a channel's, newest first. */
  async *messages(request: HistoryRequest): AsyncGenerator<ThreadMessage> {
    const { channel, threadTs, oldest, guard, signal, priority: rank } = request;
    const method = threadTs === undefined ? 'conversations.history' : 'conversations.replies';
    let cursor: string | undefined;
    do {
      const answer = await this.#api.call(
        method,
        {
          channel,
          ...(threadTs !== undefined && { ts: threadTs }),
          ...(oldest !== undefined && { oldest, inclusive: true }),
          ...(cursor !== undefined && { cursor }),
          limit: this.#pageSize,
          include_all_metadata: true,
        },
        { schema: pageSchema, guard, signal, priority: rank },
      );
      yield* answer.messages;
      cursor = answer.response_metadata?.next_cursor || undefined;
    } while (cursor !== undefined);
  }

  #isOurs(message: ThreadMessage): boolean {
    const { botId, botUser } = this.#api.installation;
    return message.bot_id === botId || message.user === botUser;
  }
}

function postKeyOf(message: ThreadMessage): unknown {
  return message.metadata?.event_type === METADATA_TYPE ? message.metadata.event_payload?.key : undefined;
}
