import { LRUCache } from 'lru-cache';

/** "Only call the chat.update method once every 3 seconds": https://docs.slack.dev/ai/developing-agents/ */
const LIVE_EDIT_INTERVAL_MS = 3_000;
const FINAL_EDIT_INTERVAL_MS = 1_000;

/** When each message was last posted or edited by this process. */
export class EditSpacing {
  /** Older changes no longer delay an edit. */
  readonly #lastChangeAt = new LRUCache<string, number>({
    ttl: LIVE_EDIT_INTERVAL_MS,
    ttlAutopurge: true,
    perf: performance,
  });

  /** Call after Slack's response. */
  recordChange(channel: string, ts: string): void {
    this.#lastChangeAt.set(`${channel} ${ts}`, performance.now());
  }

  /** The earliest time of the message's next edit, as `performance.now()` (ms). */
  notBefore(channel: string, ts: string, isFinal: boolean): number {
    const last = this.#lastChangeAt.get(`${channel} ${ts}`);
    return last === undefined ? 0 : last + (isFinal ? FINAL_EDIT_INTERVAL_MS : LIVE_EDIT_INTERVAL_MS);
  }
}
