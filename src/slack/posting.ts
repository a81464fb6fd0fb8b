import type { Logger } from 'pino';
import { z } from 'zod';
import { EditSpacing } from './edit-spacing.ts';
import {
  ChannelGoneError,
  isLastingRefusal,
  MessageGoneError,
  SlackError,
  SlackLeaseError,
} from './errors.ts';
import type { LeaseGuard } from './lease-guard.ts';
import type { Permit, Priority } from './permit-queue.ts';
import { PostSpacing } from './post-spacing.ts';
import type { RateLimitedClient, RateLimitedMethod } from './rate-limited-client.ts';
import { clientMsgId, METADATA_TYPE, type SlackMessage } from './slack-message.ts';

/** What a post is, in the order in which posts go when a workspace's lane is short. */
export type PostKind = 'first' | 'final' | 'result' | 'notice';
const POST_PRIORITY: Record<PostKind, number> = { first: 0, final: 1, result: 2, notice: 3 };

/** A message to be posted. */
export interface PostRequest {
  channel: string;
  threadTs?: string | undefined;
  message: SlackMessage;
  /** Opaque and unique for this post: makes its `client_msg_id` and its metadata. */
  key: string;
  kind: PostKind;
  /** Awaited when the budget allows the post, just before it is sent: the place to record the intent. */
  beforeSend?: (() => Promise<void>) | undefined;
  guard?: LeaseGuard | undefined;
  signal?: AbortSignal | undefined;
}

/** What a reply that waits to be edited says about itself; asked again at each permit. */
export interface EditState {
  /** Nothing will be added: goes first. */
  isFinal: boolean;
  /** Shows nothing of the answer yet: goes second. */
  isBlank: boolean;
  /** When the oldest text that people cannot see yet came in (ms, `Date.now()`). */
  unseenSinceMs: number;
}

/** A message of ours that is to show something else. */
export interface EditRequest {
  channel: string;
  ts: string;
  /** Asked when the edit may be sent: the latest state wins. Undefined: nothing to change, the permit goes on. */
  render: () => SlackMessage | undefined | Promise<SlackMessage | undefined>;
  state: () => EditState;
  guard?: LeaseGuard | undefined;
  /** Left out where it may not be sent within this time (ms), counted from the message's own moment. */
  maxWaitMs?: number | undefined;
  /** Withdraws the edit while it waits; it then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** A call about a message that exists. */
export interface MessageRequest {
  channel: string;
  ts: string;
  guard?: LeaseGuard | undefined;
}

/**
 * What became of a reaction: `done` also where there was nothing to do; `later` where it was left out, or Slack failed;
 * `refused` where Slack's no stays the same.
 */
export type ReactionOutcome = 'done' | 'later' | 'refused';

/** An ornament is left out when its lane cannot afford it so soon (ms). */
const OPTIONAL_CALL_MAX_WAIT_MS = 2_000;

const anyAnswerSchema = z.looseObject({});
const postedSchema = z.looseObject({ ts: z.string() });
const ephemeralPostedSchema = z.looseObject({ message_ts: z.string() });
const openedDmSchema = z.looseObject({ channel: z.looseObject({ id: z.string() }) });
const permalinkSchema = z.looseObject({ permalink: z.string() });

/** Everything that the bot says in Slack. Throws a SlackError. */
export class Posting {
  readonly #api: RateLimitedClient;
  readonly #log: Logger;
  readonly #onEdit: ((unseenMs: number) => void) | undefined;
  readonly #editSpacing = new EditSpacing();
  readonly #postSpacing = new PostSpacing();

  /** `onEdit` hears of each edit how old the oldest text is that it shows first (ms). */
  constructor(options: { api: RateLimitedClient; log: Logger; onEdit?: (unseenMs: number) => void }) {
    this.#api = options.api;
    this.#onEdit = options.onEdit;
    this.#log = options.log;
  }

  /** Posts once. After an error whose outcome is `unknown`, look with ReadBack before you post again. */
  async post(request: PostRequest): Promise<{ ts: string }> {
    const { channel, guard, signal, key } = request;
    const since = Date.now();
    const args = {
      channel,
      ...messageArguments(request.message),
      ...(request.threadTs !== undefined && { thread_ts: request.threadTs }),
      client_msg_id: clientMsgId(key),
      metadata: { event_type: METADATA_TYPE, event_payload: { key } },
      unfurl_links: false,
      unfurl_media: false,
    };
    const permitRequest = {
      guard,
      signal,
      channel,
      rank: () => ({ order: POST_PRIORITY[request.kind], since }),
    };
    const { ts } = await this.#runRequired('chat.postMessage', permitRequest, () =>
      this.#postSpacing.run(channel, async () => {
        await request.beforeSend?.();
        return await this.#api.slackClient.call('chat.postMessage', args, { schema: postedSchema, guard });
      }),
    );
    this.#editSpacing.recordChange(channel, ts);
    return { ts };
  }

  /** Edits when the budget allows it, with what there is to show then. */
  async edit(request: EditRequest): Promise<'edited' | 'unchanged' | 'left_out'> {
    const { channel, ts, guard, signal, state } = request;
    const ownMoment = Math.max(
      0,
      this.#editSpacing.notBefore(channel, ts, state().isFinal) - performance.now(),
    );
    const permitRequest = {
      guard,
      signal,
      withinMs: request.maxWaitMs === undefined ? undefined : ownMoment + request.maxWaitMs,
      rank: () => editPriority(state()),
      notBefore: () => this.#editSpacing.notBefore(channel, ts, state().isFinal),
    };
    const done = await this.#api.run('chat.update', permitRequest, async (permit) => {
      const { unseenSinceMs: unseenSince } = state();
      const message = await renderOrReleasePermit(request, permit);
      if (message === undefined) return 'unchanged' as const;
      try {
        await this.#api.slackClient.call(
          'chat.update',
          { channel, ts, ...messageArguments(message) },
          { schema: anyAnswerSchema, guard },
        );
      } finally {
        this.#editSpacing.recordChange(channel, ts);
      }
      this.#onEdit?.(Date.now() - unseenSince);
      return 'edited' as const;
    });
    return done?.value ?? 'left_out';
  }

  /** Deletes a message of ours; one that is gone already is fine. */
  async delete(request: MessageRequest): Promise<void> {
    const { channel, ts, guard } = request;
    try {
      await this.#api.call('chat.delete', { channel, ts }, { schema: anyAnswerSchema, guard });
    } catch (error) {
      if (!(error instanceof MessageGoneError && error.slackCode === 'message_not_found')) throw error;
    }
  }

  /** A message that only one person sees, and only until they reload. */
  async postEphemeral(request: {
    channel: string;
    user: string;
    threadTs?: string | undefined;
    message: SlackMessage;
    guard?: LeaseGuard | undefined;
  }): Promise<{ ts: string }> {
    const { channel, user, guard } = request;
    const thread = request.threadTs === undefined ? {} : { thread_ts: request.threadTs };
    const answer = await this.#api.call(
      'chat.postEphemeral',
      { channel, user, ...thread, ...messageArguments(request.message) },
      { schema: ephemeralPostedSchema, guard },
    );
    return { ts: answer.message_ts };
  }

  /** Puts a mark (`eyes`) on a message. An ornament: false when it was left out, whatever the reason. */
  async addReaction(request: MessageRequest & { name: string }): Promise<boolean> {
    const isThere = (error: SlackError) => error.slackCode === 'already_reacted';
    return (await this.#runOptionalReaction('reactions.add', request, isThere)) === 'done';
  }

  /** Takes a mark of ours away; an ornament too. One whose message or channel is gone is gone with it. */
  async removeReaction(request: MessageRequest & { name: string }): Promise<ReactionOutcome> {
    const isGone = (error: SlackError) =>
      error.slackCode === 'no_reaction' ||
      error instanceof MessageGoneError ||
      error instanceof ChannelGoneError;
    return await this.#runOptionalReaction('reactions.remove', request, isGone);
  }

  /** The message's address for people. */
  async getPermalink(request: MessageRequest): Promise<string> {
    const { channel, ts, guard } = request;
    const answer = await this.#api.call(
      'chat.getPermalink',
      { channel, message_ts: ts },
      { schema: permalinkSchema, guard },
    );
    return answer.permalink;
  }

  /** The id of the direct channel with a person. */
  async openDm(user: string, guard?: LeaseGuard): Promise<string> {
    const answer = await this.#api.call(
      'conversations.open',
      { users: user },
      { schema: openedDmSchema, guard },
    );
    return answer.channel.id;
  }

  async #runRequired<T>(
    method: RateLimitedMethod,
    permitRequest: Parameters<RateLimitedClient['run']>[1],
    call: (permit: Permit) => Promise<T>,
  ): Promise<T> {
    const done = await this.#api.run(method, permitRequest, call);
    if (done === undefined) throw new Error(`${method} was left out without a time limit.`);
    return done.value;
  }

  async #runOptionalReaction(
    method: 'reactions.add' | 'reactions.remove',
    request: MessageRequest & { name: string },
    isFine: (error: SlackError) => boolean,
  ): Promise<ReactionOutcome> {
    const { channel, ts, name, guard } = request;
    try {
      const args = { channel, timestamp: ts, name };
      const answer = await this.#api.tryCall(OPTIONAL_CALL_MAX_WAIT_MS, method, args, {
        schema: anyAnswerSchema,
        guard,
      });
      return answer === undefined ? 'later' : 'done';
    } catch (error) {
      if (!(error instanceof SlackError) || error instanceof SlackLeaseError) throw error;
      if (isFine(error)) return 'done';
      this.#log.debug({ err: error }, 'A mark was left out');
      return isLastingRefusal(error) ? 'refused' : 'later';
    }
  }
}

/** Finals first, then replies that show nothing yet, then the one whose unseen text is oldest. */
export function editPriority(state: EditState): Priority {
  return { order: state.isFinal ? 0 : state.isBlank ? 1 : 2, since: state.unseenSinceMs };
}

/** What there is to show now; the permit is given back where there is nothing. */
async function renderOrReleasePermit(
  request: EditRequest,
  permit: Permit,
): Promise<SlackMessage | undefined> {
  let message: SlackMessage | undefined;
  try {
    message = await request.render();
  } finally {
    if (message === undefined) permit.release();
  }
  return message;
}

/** Without blocks the argument is left out: chat.update then takes the old ones away. */
function messageArguments(message: SlackMessage): { text: string; blocks?: readonly unknown[] } {
  const { text, blocks } = message;
  return blocks === undefined || blocks.length === 0 ? { text } : { text, blocks };
}
