import type { Logger } from 'pino';
import { z } from 'zod';
import { valueIf } from '../calls/retries-and-waits.ts';
import { isPermanentRefusal, SlackError, SlackLeaseError, SlackRefusedError } from './errors.ts';
import { type MessageRequest, type ShowOutcome, type ShowRequest, showNewest } from './live-edits.ts';
import type { PostRequest } from './posting.ts';
import type { RateLimitedClient } from './rate-limits.ts';

/** A stream that gets no permit to begin within this time (ms), in which any post gets one, is left out. */
const START_MAX_WAIT_MS = 2_000;

const startedSchema = z.looseObject({ ts: z.string() });

/** How a stream ends. Without a status, Slack takes its end for the end of the agent's work. */
export interface StreamEnd extends Pick<ShowRequest<string>, 'signal' | 'maxWaitMs'> {
  session_status?: 'processing' | undefined;
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
  async start(
    request: Omit<PostRequest, 'message' | 'kind' | 'key'> & { markdown: string },
  ): Promise<{ ts: string } | undefined> {
    const { channel, threadTs, markdown, guard, signal } = request;
    const withIntent = async () => {
      await request.beforeSend?.();
      return { channel, thread_ts: threadTs, markdown_text: markdown };
    };
    const options = { schema: startedSchema, guard, signal, maxWaitMs: START_MAX_WAIT_MS, channel };
    try {
      return await this.#client.call('chat.startStream', withIntent, options);
    } catch (error) {
      if (isPermanentRefusal(error)) {
        this.isAvailable = false;
        this.#log.warn({ err: error }, 'Slack refused to stream a reply; replies are edited instead');
      }
      throw error;
    }
  }

  /** Adds Markdown to a message when the rate limit allows it; `refused`: Slack adds no more. Throws SlackLeaseError. */
  async append(request: ShowRequest<string>): Promise<ShowOutcome | 'refused'> {
    try {
      return await showNewest(this.#client, 'chat.appendStream', {
        ...request,
        render: async () => {
          const markdown = await request.render();
          return markdown === undefined ? undefined : { markdown_text: markdown };
        },
        onShown: this.#onShown,
      });
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
  async stop(request: MessageRequest & StreamEnd): Promise<boolean> {
    const { channel, ts, session_status, guard, signal, maxWaitMs } = request;
    const args = { channel, ts, session_status };
    const stopped = this.#client.send('chat.stopStream', args, { guard, signal, maxWaitMs });
    // It has ended already, or the edit that follows meets the same error.
    return await stopped.catch(valueIf(true, (error) => error instanceof SlackRefusedError));
  }
}
