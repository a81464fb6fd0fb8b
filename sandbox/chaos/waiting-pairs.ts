import type { MessageRow } from './bot-database.ts';
import type { WaitingPair } from './damage.ts';

/** Collects the messages of a thread that wait at the same moment: the earliest of them must be sent first. */
export class WaitingPairs {
  readonly #pairs = new Map<string, WaitingPair>();

  /** Records the messages at one moment. */
  record(messages: readonly MessageRow[]): void {
    const threads = new Map<string, string[]>();
    for (const { channel, thread_ts, ts, state } of messages) {
      if (state !== 'waiting') continue;
      const thread = `${channel}/${thread_ts}`;
      threads.set(thread, [...(threads.get(thread) ?? []), ts]);
    }
    for (const [thread, waiting] of threads) {
      // Slack's ts have equal length and six decimals, so they sort as text.
      const [earliest, ...others] = waiting.toSorted();
      if (earliest === undefined) continue;
      for (const later of others)
        this.#pairs.set(`${thread} ${earliest} ${later}`, { thread, earlier: earliest, later });
    }
  }

  get pairs(): WaitingPair[] {
    return [...this.#pairs.values()];
  }
}
