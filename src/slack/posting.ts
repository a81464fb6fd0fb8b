import type { Logger } from 'pino';
import { z } from 'zod';
import { type LeaseGuard, valueIf } from '../calls/retries-and-waits.ts';
import {
  ChannelGoneError,
  isPermanentRefusal,
  MessageGoneError,
  retryTransient,
  SlackError,
} from './errors.ts';
import { optional } from './field-schemas.ts';
import {
  type ChangeWait,
  EditSpacing,
  type MessageRequest,
  permitRequestOf,
  type ShowOutcome,
  type ShowRequest,
  showNewest,
} from './live-edits.ts';
import type { Permit, PermitRequest } from './permit-queue.ts';
import type { RateLimitedClient } from './rate-limits.ts';
import type { SlackCallRecord } from './slack-client.ts';
import { clientMsgId, METADATA_TYPE, type SlackMessage } from './slack-message.ts';

/** The kinds of posts, in the order in which they go when permits are scarce. */
export type PostKind = 'first' | 'further' | 'result' | 'notice';
const POST_PRIORITY: Record<PostKind, number> = { first: 0, further: 1, result: 2, notice: 3 };
const postPriority = (kind: PostKind) => () => ({ order: POST_PRIORITY[kind] });

/** Whether Slack accepted a post or an edit, and therefore sends it back as an event. */
export function isAcceptedPost({ method, outcome }: SlackCallRecord): boolean {
  return outcome === 'ok' && (method === 'chat.postMessage' || method === 'chat.update');
}

export interface PostRequest extends Pick<PermitRequest, 'permit'> {
  channel: string;
  threadTs?: string | undefined;
  message: SlackMessage;
  /** Opaque and unique to this post: becomes its `client_msg_id` and its metadata. */
  key: string;
  kind: PostKind;
  /** Awaited with the permit, just before the post is sent: the place to record the intent. */
  beforeSend?: (() => Promise<void>) | undefined;
  guard?: LeaseGuard | undefined;
  signal?: AbortSignal | undefined;
}

export interface EditRequest extends ShowRequest<SlackMessage> {
  /** The key of a message that began as a stream, and so without one. */
  key?: string | undefined;
}

export interface ReactionRequest {
  channel: string;
  ts: string;
  /** Without colons. */
  name: string;
}

/**
 * The outcome of a reaction. `done`: set, or nothing to do. `later`: skipped, or Slack failed. `refused`: Slack will
 * keep refusing it.
 */
export type ReactionOutcome = 'done' | 'later' | 'refused';

/** Reactions are optional, and skipped after this wait for a permit (ms). */
const OPTIONAL_CALL_MAX_WAIT_MS = 2_000;

const postedSchema = z.looseObject({
  ts: z.string(),
  message: optional(z.looseObject({ thread_ts: z.string().nullish() })),
});
const openedDmSchema = z.looseObject({ channel: z.looseObject({ id: z.string() }) });
const permalinkSchema = z.looseObject({ permalink: z.string() });

/** The bot's messages, edits and reactions in Slack. Throws a SlackError. */
export class Posting {
  readonly #client: RateLimitedClient;
  readonly #log: Logger;
  readonly #onEdit: ((unseenMs: number) => void) | undefined;
  readonly #editSpacing: EditSpacing;

  /** `onEdit` is called after each edit with the age of the oldest text that it made visible (ms). */
  constructor(client: RateLimitedClient, log: Logger, onEdit?: (unseenMs: number) => void) {
    this.#client = client;
    this.#log = log;
    this.#onEdit = onEdit;
    this.#editSpacing = new EditSpacing(client.rateLimiter.pace);
  }

  /**
   * Posts once. After an error with outcome `unknown`, call `MessageHistory.findOwnPost` before you post again. Throws
   * MessageGoneError where the thread was deleted: Slack then posts in the channel, and the stray message is deleted.
   */
  async post(request: PostRequest): Promise<{ ts: string }> {
    const { channel, threadTs, guard, signal, key, permit } = request;
    const args = {
      channel,
      ...messageArguments(request.message, threadTs),
      client_msg_id: clientMsgId(key),
      metadata: metadataOf(key),
      unfurl_links: false,
      unfurl_media: false,
    };
    const withIntent = async () => {
      await request.beforeSend?.();
      return args;
    };
    const priority = postPriority(request.kind);
    const options = { schema: postedSchema, guard, signal, priority, channel, permit };
    const { ts, message } = await this.#client.call('chat.postMessage', withIntent, options);
    if (threadTs !== undefined && message !== undefined && message.thread_ts !== threadTs) {
      await this.#deleteStray(channel, ts);
      const call = { method: 'chat.postMessage', slackCode: 'thread_not_found', outcome: 'none' } as const;
      throw new MessageGoneError(call, 'The thread was deleted, and the stray post with it.');
    }
    this.#editSpacing.recordChange(channel, ts);
    return { ts };
  }

  /** Waits for the permit of a `post`, which is then sent soon, or not at all. */
  permitToPost({ channel, kind, guard }: Pick<PostRequest, 'channel' | 'kind' | 'guard'>) {
    const request = { guard, priority: postPriority(kind) };
    return this.#client.rateLimiter.permit('chat.postMessage', request, channel);
  }

  /** Edits a message when the rate limit allows it, to the state at that time. */
  async edit({ render, key, ...request }: EditRequest): Promise<ShowOutcome> {
    const { channel, ts } = request;
    return await showNewest(this.#client, 'chat.update', {
      ...this.#spaced(request),
      render: async () => {
        const message = await render();
        return message && { ...messageArguments(message), metadata: metadataOf(key) };
      },
      onSent: () => this.#editSpacing.recordChange(channel, ts),
      onShown: this.#onEdit,
    });
  }

  /** Waits for a permit for `edit`, which is then begun at once; undefined if none comes in time. */
  permitToEdit(request: ChangeWait): Promise<Permit | undefined> {
    return this.#client.rateLimiter.permit('chat.update', permitRequestOf(this.#spaced(request)));
  }

  /** The request with the time between two edits of a message. */
  #spaced(request: ChangeWait) {
    const { channel, ts, state, maxWaitMs } = request;
    const notBefore = () => this.#editSpacing.notBefore(channel, ts, state().isFinal);
    const earliestInMs = Math.max(0, notBefore() - performance.now());
    const latestInMs = maxWaitMs === undefined ? undefined : earliestInMs + maxWaitMs;
    return { ...request, notBefore, maxWaitMs: latestInMs };
  }

  /** Edits a message that grows no further, before those that do. */
  async editComplete(request: Pick<EditRequest, 'channel' | 'ts' | 'render'>): Promise<void> {
    const state = { isFinal: true, isBlank: false, unseenSinceMs: Date.now() };
    await this.edit({ ...request, state: () => state });
  }

  /** Deletes one of the bot's messages; succeeds if it is already gone. */
  async delete(request: MessageRequest): Promise<void> {
    const { channel, ts, guard } = request;
    const isGone = (error: unknown) =>
      error instanceof MessageGoneError && error.slackCode === 'message_not_found';
    await this.#client.send('chat.delete', { channel, ts }, { guard }).catch(valueIf(true, isGone));
  }

  /** Posts a message that only one person sees, and only until they reload Slack. */
  async postEphemeral(
    request: Pick<PostRequest, 'channel' | 'threadTs' | 'message' | 'signal'> & { user: string },
  ): Promise<void> {
    const { channel, user, threadTs, message, signal } = request;
    const args = { channel, user, ...messageArguments(message, threadTs) };
    await this.#client.send('chat.postEphemeral', args, { signal });
  }

  /** Adds a reaction such as `eyes`. */
  async addReaction(request: ReactionRequest): Promise<ReactionOutcome> {
    const isThere = (error: SlackError) => error.slackCode === 'already_reacted';
    return await this.#runOptionalReaction('reactions.add', request, isThere);
  }

  /** Removes one of the bot's reactions. Succeeds if the message or the channel is gone. */
  async removeReaction(request: ReactionRequest): Promise<ReactionOutcome> {
    const isGone = (error: SlackError) =>
      error.slackCode === 'no_reaction' ||
      error instanceof MessageGoneError ||
      error instanceof ChannelGoneError;
    return await this.#runOptionalReaction('reactions.remove', request, isGone);
  }

  async getPermalink({ channel, ts }: { channel: string; ts: string }): Promise<string> {
    const args = { channel, message_ts: ts };
    return (await this.#client.call('chat.getPermalink', args, { schema: permalinkSchema })).permalink;
  }

  /** The id of the direct message channel with a person. */
  async openDm(user: string, guard?: LeaseGuard): Promise<string> {
    const options = { schema: openedDmSchema, guard };
    return (await this.#client.call('conversations.open', { users: user }, options)).channel.id;
  }

  /** Deletes even without the lease: nobody else knows of the message. */
  async #deleteStray(channel: string, ts: string): Promise<void> {
    await retryTransient(() => this.delete({ channel, ts })).catch((error: unknown) => {
      this.#log.error({ err: error, channel, ts }, 'could not delete a post outside its thread');
    });
  }

  async #runOptionalReaction(
    method: 'reactions.add' | 'reactions.remove',
    { channel, ts, name }: ReactionRequest,
    isNothingToDo: (error: SlackError) => boolean,
  ): Promise<ReactionOutcome> {
    try {
      const request = { maxWaitMs: OPTIONAL_CALL_MAX_WAIT_MS };
      return (await this.#client.send(method, { channel, timestamp: ts, name }, request)) ? 'done' : 'later';
    } catch (error) {
      if (!(error instanceof SlackError)) throw error;
      if (isNothingToDo(error)) return 'done';
      this.#log.debug({ err: error }, 'changing a reaction failed');
      return isPermanentRefusal(error) ? 'refused' : 'later';
    }
  }
}

/** The metadata by which the bot finds its message again. */
function metadataOf(key: string | undefined) {
  return key === undefined ? undefined : { event_type: METADATA_TYPE, event_payload: { key } };
}

/** Omits empty blocks: chat.update then removes the old ones. */
function messageArguments({ text, blocks = [] }: SlackMessage, threadTs?: string) {
  return {
    text,
    blocks: blocks.length > 0 ? blocks : undefined,
    thread_ts: threadTs,
  };
}
