import type { TurnOutcome } from '../../store/schema.ts';

/** The process is about to stop: the turn goes on elsewhere from its last recorded step. */
export class HandOver extends Error {
  constructor() {
    super('The process is stopping; the turn goes on from its last recorded step.');
    this.name = 'HandOver';
  }
}

/** The thread's waiting messages are held since a stop: this one is to wait, too. */
export class MessagesPaused extends Error {
  constructor() {
    super('The thread was stopped; what waits there goes on when somebody says so.');
    this.name = 'Held';
  }
}

/** Another process does by now what this one was about to do. */
export class TakenOverElsewhere extends Error {}

/** A step found that the turn ends here. The thread shows `sentence`, or nothing where it is null. */
export class TurnEnded extends Error {
  readonly outcome: TurnOutcome;
  readonly sentence: string | null;
  /** What the thread is offered beside the sentence: to choose anew what the service did not know. */
  readonly offer: 'choose' | undefined;

  constructor(outcome: TurnOutcome, sentence: string | null, cause?: unknown, offer?: 'choose') {
    // Not the sentence: it may repeat people's words, and logs have the message.
    super(outcome, { cause });
    this.name = 'TurnEnds';
    this.outcome = outcome;
    this.sentence = sentence;
    this.offer = offer;
  }
}
