import { isSlackFault, PayloadRefusedError } from '../../slack/errors.ts';

/** Slack's own failures in a row after which a message counts as refused. */
const MAX_FAULTS = 3;

/** Slack's own failures at messages: repeated while other calls succeed, they are about what the message contains. */
export class SlackFaults {
  readonly #workspace: { wasThereAfter: (at: number) => Promise<boolean> };
  /** Failures in a row by part, and when the first was (`performance.now()`). */
  readonly #faults = new Map<string, { times: number; since: number }>();

  constructor(workspace: { wasThereAfter: (at: number) => Promise<boolean> }) {
    this.#workspace = workspace;
  }

  /** Sends a part. Throws PayloadRefusedError if Slack keeps failing at it; the call may have taken effect. */
  async run<T>(part: string, send: () => Promise<T>): Promise<T> {
    try {
      const sent = await send();
      this.#faults.delete(part);
      return sent;
    } catch (cause) {
      if (!isSlackFault(cause)) throw cause;
      const { times, since } = this.#faults.get(part) ?? { times: 0, since: performance.now() };
      this.#faults.set(part, { times: times + 1, since });
      if (times + 1 < MAX_FAULTS || !(await this.#workspace.wasThereAfter(since))) throw cause;
      const { method, slackCode, outcome } = cause;
      throw new PayloadRefusedError(
        { method, slackCode, outcome, cause },
        'Slack keeps failing at this message; send a simpler one.',
      );
    }
  }
}
