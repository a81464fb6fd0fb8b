import type { TurnOutcome } from '../../store/schema.ts';

/** The process is about to stop: another one continues the turn from its last recorded step. */
export class HandOver extends Error {
  constructor() {
    super('The process is stopping; the turn continues from its last recorded step.');
    this.name = 'HandOver';
  }
}

/** The turn's message was not sent and waits again: its thread was paused by a stop, or the message has changed. */
export class MessageWaitsAgain extends Error {
  constructor() {
    super('The message was not sent; it waits again, because its thread is paused or it has changed.');
    this.name = 'MessageWaitsAgain';
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
