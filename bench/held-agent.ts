import type { AgentScript } from '../sandbox/agent/agent-script.ts';
import { analyst } from '../sandbox/agent/analyst.ts';

/** How long the agent rests between two sentences of a held reply (ms, before the pace is applied). */
const REST_MS = 60_000;

/**
 * The sandbox's agent, and replies that grow until they are let go or stopped, however slow the machine is: those to a
 * message with the words of `hold`.
 */
export class HeldAgent {
  /** What a held reply shows. */
  static readonly AT_WORK = 'I am still at work.';
  readonly #held = new Set<string>();
  #count = 0;

  /** Words for a message, different each time. */
  hold(): string {
    this.#count += 1;
    const words = `hold this, number ${this.#count};`;
    this.#held.add(words);
    return words;
  }

  /** Lets the reply to a message with these words end. */
  letGo(words: string): void {
    this.#held.delete(words);
  }

  /** The agent's program. */
  script(): AgentScript {
    const others = analyst();
    return async (turn) => {
      const words = [...this.#held].find((one) => turn.text.includes(one));
      if (words === undefined) return others(turn);
      while (this.#held.has(words)) {
        turn.write(`${HeldAgent.AT_WORK} `);
        await turn.sleep(REST_MS);
      }
    };
  }
}
