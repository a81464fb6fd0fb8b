import type { TurnOutcome } from '../../store/schema.ts';
import type { WholeMessage } from '../../store/threads/messages.ts';

/** Why work ends here although what it is for has not ended. */
const INTERRUPTIONS = {
  hand_over: 'The process is stopping; the turn continues from its last recorded step.',
  waits_again: 'The message was not sent; it waits again, because its thread is paused or it has changed.',
  taken_over: 'Another process has taken over what this one was about to do.',
  send_again: 'The thread has another project or task now; sending starts over.',
  not_accepting: 'The run takes no message now, is over, or is being stopped.',
  wait_over: 'What was waited for has come before it could be asked for.',
};

/** Work ends here, and goes on elsewhere or later. */
export class Interruption extends Error {
  readonly code: keyof typeof INTERRUPTIONS;

  constructor(code: Interruption['code'], options?: ErrorOptions) {
    super(INTERRUPTIONS[code], options);
    this.name = 'Interruption';
    this.code = code;
  }
}

/** Whether work was interrupted for this reason. */
export function isInterruption(error: unknown, code: Interruption['code']): boolean {
  return error instanceof Interruption && error.code === code;
}

/** What else a step knows that ends a turn. */
interface TurnEnd {
  cause?: unknown;
  /** What the thread offers beside the sentence: to choose another model. */
  offer?: 'choose';
  /** The message as it was read, of which nothing is sent. It waits again if it was edited since. */
  unsendableMessage?: WholeMessage;
  /** The task has ended: it may never take another message. */
  isTaskClosed?: boolean;
}

/** A step ends the turn. The thread shows `sentence`, or nothing if it is null. */
export class TurnEnded extends Error {
  readonly outcome: TurnOutcome;
  readonly sentence: string | null;
  readonly more: Omit<TurnEnd, 'cause'>;

  constructor(outcome: TurnOutcome, sentence: string | null, { cause, ...more }: TurnEnd = {}) {
    // The message is logged, so it must not be the sentence, which may quote people.
    super(outcome, { cause });
    this.name = 'TurnEnded';
    this.outcome = outcome;
    this.sentence = sentence;
    this.more = more;
  }
}
