import type { Logger } from 'pino';
import { z } from 'zod';
import { isPermanentRefusal, SlackError, SlackLeaseError, SlackRefusedError } from './errors.ts';
import { type EditRequest, editPriority, type MessageRequest, type PostRequest } from './posting.ts';
import type { RateLimitedClient } from './rate-limits.ts';
import { anyResponseSchema } from './slack-client.ts';

/** A stream that gets no permit to begin within this time (ms), in which any post gets one, is left out. */
const START_MAX_WAIT_MS = 2_000;

const startedSchema = z.looseObject({ ts: z.string() });

export interface StreamStart extends Omit<PostRequest, 'message' | 'kind' | 'key'> {
  markdown: string;
}

export interface StreamAppend extends Omit<EditRequest, 'render'> {
  /** Called with the permit: the Markdown to add; undefined: nothing to add, and the permit is returned. */
  render: () => Promise<string | undefined>;
}

/**
 * Messages to which Markdown is added while it is written (https://docs.slack.dev/reference/methods/chat.startStream).
 * What cannot be streamed can be posted and edited instead, so that most failures only say so.
 */
export class MessageStreams {
  readonly #client: RateLimitedClient;
  readonly #log: Logger;
  readonly #onShown: (unseenMs: number) => void;
  /** Whether Slack has refused no stream in this workspace since the process started. */
  isAvailable = true;

  /** `onShown` is called with the age of the oldest text that a call made visible (ms). */
  constructor(client: RateLimitedClient, log: Logger, onShown: (unseenMs: number) => void) {
    this.#client = client;
    this.#log = log;
    this.#onShown = onShown;
  }

  /**
   * Begins a message; undefined if there is no permit. A stream has no key in Slack: after an error with outcome `unknown`,
   * call `MessageHistory.findOwnPost`. Throws a SlackError.
   */
  async start(request: StreamStart): Promise<{ ts: string } | undefined> {
    const { channel, threadTs, markdown, guard } = request;
    const args = { channel, thread_ts: threadTs, markdown_text: markdown };
    const send = async () => {
      await request.beforeSend?.();
      return this.#client.slackClient.call('chat.startStream', args, { schema: startedSchema, guard });
    };
    try {
      return await this.#client.rateLimiter.run(
        'chat.startStream',
        { guard, signal: request.signal, maxWaitMs: START_MAX_WAIT_MS },
        send,
        channel,
      );
    } catch (error) {
      if (isPermanentRefusal(error)) {
        this.isAvailable = false;
        this.#log.warn({ err: error }, 'Slack refused to stream a reply; replies are edited instead');
      }
      throw error;
    }
  }

  /** Adds to a message when the rate limit allows it; `refused`: Slack adds no more. Throws SlackLeaseError. */
  async append(request: StreamAppend): Promise<'added' | 'nothing' | 'left_out' | 'refused'> {
    const { channel, ts, guard, signal, state, maxWaitMs } = request;
    const permitRequest = { guard, signal, maxWaitMs, priority: () => editPriority(state()) };
    try {
      const done = await this.#client.rateLimiter.run('chat.appendStream', permitRequest, async (permit) => {
        const { unseenSinceMs } = state();
        const markdown = await request.render();
        if (markdown === undefined) {
          permit.release();
          return 'nothing' as const;
        }
        const args = { channel, ts, markdown_text: markdown };
        await this.#client.slackClient.call('chat.appendStream', args, { schema: anyResponseSchema, guard });
        this.#onShown(Date.now() - unseenSinceMs);
        return 'added' as const;
      });
      return done ?? 'left_out';
    } catch (error) {
      if (!(error instanceof SlackError) || error instanceof SlackLeaseError) throw error;
      this.#log.debug({ err: error }, 'adding to a streamed message failed');
      return 'refused';
    }
  }

  /**
   * Ends the stream of a message, so that it can be edited, if it has one; false if there is no permit within `maxWaitMs`.
   * Throws a SlackError if Slack may still do it.
   */
  async stop(request: MessageRequest & Pick<EditRequest, 'signal' | 'maxWaitMs'>): Promise<boolean> {
    const { channel, ts, guard, signal, maxWaitMs } = request;
    const options = { schema: anyResponseSchema, guard, signal };
    try {
      if (maxWaitMs !== undefined)
        return (
          (await this.#client.tryCall(maxWaitMs, 'chat.stopStream', { channel, ts }, options)) !== undefined
        );
      await this.#client.call('chat.stopStream', { channel, ts }, options);
    } catch (error) {
      // It has ended already, or the edit that follows meets the same error.
      if (!(error instanceof SlackRefusedError)) throw error;
    }
    return true;
  }
}
