import { databaseNow } from '../../calls/clocks.ts';
import { ChannelGoneError, MessageGoneError, SlackError } from '../../slack/errors.ts';

/** Slack fails at what the turn does in its thread, although its other calls in the workspace succeed. */
export class ThreadGivenUp extends SlackError {
  readonly code = 'given_up';

  constructor(cause: SlackError) {
    const { method, slackCode, outcome } = cause;
    super(
      { method, slackCode, outcome, cause },
      'It kept failing while other calls succeeded, and was given up.',
    );
  }
}

/** Slack's codes for a thread whose root, or a reply of ours in it, was deleted. */
const DELETED_THREAD_CODES = new Set(['message_not_found', 'thread_not_found', 'invalid_thread_ts']);

/** Whether the bot can no longer write in the thread: the channel is closed to it, its reply or the thread was deleted, or Slack keeps failing there. */
export function isThreadUnreachable(error: unknown): error is SlackError {
  if (error instanceof ChannelGoneError || error instanceof ThreadGivenUp) return true;
  return error instanceof MessageGoneError && DELETED_THREAD_CODES.has(error.slackCode);
}

/** How long (ms) it may take until an event tells that a channel has another id. */
const MOVE_TOLD_WITHIN_MS = 60_000;

/** A job for a thread that cannot be reached ends, unless the channel may have another id. Throws any other error. */
export function outcomeIfUnreachable(error: unknown, job: { tried_since: Date | null }): 'done' | 'later' {
  if (!isThreadUnreachable(error)) throw error;
  return mayHaveMoved(error, job.tried_since) ? 'later' : 'done';
}

/** Whether Slack does not know a channel any more, which may have got another id since `triedSince`. */
export function mayHaveMoved(error: unknown, triedSince: Date | null): boolean {
  const isUnknown = error instanceof ChannelGoneError && error.slackCode === 'channel_not_found';
  return isUnknown && databaseNow() - (triedSince?.getTime() ?? 0) < MOVE_TOLD_WITHIN_MS;
}
