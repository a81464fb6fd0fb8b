import { ChannelGoneError, MessageGoneError, type SlackError } from '../../slack/errors.ts';

/** Slack's codes for a thread whose root, or a reply of ours in it, was deleted. */
const DELETED_THREAD_CODES = new Set(['message_not_found', 'thread_not_found', 'invalid_thread_ts']);

/** Whether the bot can no longer write in the thread: the channel is closed to it, or its reply or the thread was deleted. */
export function isThreadUnreachable(error: unknown): error is SlackError {
  if (error instanceof ChannelGoneError) return true;
  return error instanceof MessageGoneError && DELETED_THREAD_CODES.has(error.slackCode);
}
