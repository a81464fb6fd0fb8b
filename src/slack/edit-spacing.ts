/** "Only call the chat.update method once every 3 seconds": https://docs.slack.dev/ai/developing-agents/ */
const LIVE_MS = 3_000;
const FINAL_MS = 1_000;

/** When each message was last posted or edited by this process. */
export class EditSpacing {
  readonly #lastAt = new Map<string, number>();

  /** Call when Slack has answered. */
  touched(channel: string, ts: string): void {
    const key = `${channel} ${ts}`;
    const now = performance.now();
    this.#lastAt.delete(key);
    this.#lastAt.set(key, now);
    // What is longer ago holds nothing back any more; the oldest come first.
    for (const [old, at] of this.#lastAt) {
      if (at > now - LIVE_MS) return;
      this.#lastAt.delete(old);
    }
  }

  /** The earliest moment for the message's next edit, on the clock of `performance.now()` (ms). */
  notBefore(channel: string, ts: string, final: boolean): number {
    const last = this.#lastAt.get(`${channel} ${ts}`);
    return last === undefined ? 0 : last + (final ? FINAL_MS : LIVE_MS);
  }
}
