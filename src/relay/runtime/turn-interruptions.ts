import { ChannelGoneError, MessageGoneError, SlackError } from '../../slack/errors.ts';
import type { TurnOutcome } from '../../store/schema.ts';

/** The process is about to stop: another one continues the turn from its last recorded step. */
export class HandOver extends Error {
  constructor() {
    super('The process is stopping; the turn continues from its last recorded step.');
    this.name = 'HandOver';
  }
}

/** The thread's waiting messages are paused since a stop: this one must wait, too. */
export class MessagesPaused extends Error {
  constructor() {
    super('The thread was stopped; its waiting messages are paused until a person continues them.');
    this.name = 'MessagesPaused';
  }
}

/** Another process has taken over what this one was about to do. */
export class TakenOverElsewhere extends Error {}

/** A step ends the turn. The thread shows `sentence`, or nothing if it is null. */
export class TurnEnded extends Error {
  readonly outcome: TurnOutcome;
  readonly sentence: string | null;
  /** What the thread offers beside the sentence: to choose another model. */
  readonly offer: 'choose' | undefined;

  constructor(outcome: TurnOutcome, sentence: string | null, cause?: unknown, offer?: 'choose') {
    // Not the sentence: it may quote people, and the message is logged.
    super(outcome, { cause });
    this.name = 'TurnEnded';
    this.outcome = outcome;
    this.sentence = sentence;
    this.offer = offer;
  }
}

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

/** How long (ms) no event may tell that a channel has another id. */
export const MOVE_TOLD_WITHIN_MS = 60_000;

/** A job for a thread that cannot be reached ends, unless the channel may have another id. Throws any other error. */
export function outcomeIfUnreachable(error: unknown, job: { tried_since: Date | null }): 'done' | 'later' {
  if (!isThreadUnreachable(error)) throw error;
  return mayHaveMoved(error, job.tried_since) ? 'later' : 'done';
}

/** Whether Slack does not know a channel any more, which may have got another id since `triedSince`. */
export function mayHaveMoved(error: unknown, triedSince: Date | null): boolean {
  const isUnknown = error instanceof ChannelGoneError && error.slackCode === 'channel_not_found';
  return isUnknown && Date.now() - (triedSince?.getTime() ?? 0) < MOVE_TOLD_WITHIN_MS;
}
