/** "Only call the chat.update method once every 3 seconds": https://docs.slack.dev/ai/developing-agents/ */
const LIVE_EDIT_INTERVAL_MS = 3_000;
const FINAL_EDIT_INTERVAL_MS = 1_000;

/** When each message was last posted or edited by this process. */
export class EditSpacing {
  readonly #lastChangeAt = new Map<string, number>();

  /** Call after Slack's response. */
  recordChange(channel: string, ts: string): void {
    const key = `${channel} ${ts}`;
    const now = performance.now();
    this.#lastChangeAt.delete(key);
    this.#lastChangeAt.set(key, now);
    // Older entries no longer delay an edit; the oldest come first.
    for (const [old, at] of this.#lastChangeAt) {
      if (at > now - LIVE_EDIT_INTERVAL_MS) return;
      this.#lastChangeAt.delete(old);
    }
  }

  /** The earliest time of the message's next edit, as `performance.now()` (ms). */
  notBefore(channel: string, ts: string, isFinal: boolean): number {
    const last = this.#lastChangeAt.get(`${channel} ${ts}`);
    return last === undefined ? 0 : last + (isFinal ? FINAL_EDIT_INTERVAL_MS : LIVE_EDIT_INTERVAL_MS);
  }
}
