import { LRUCache } from 'lru-cache';

/** "Only call the chat.update method once every 3 seconds": https://docs.slack.dev/ai/developing-agents/ */
const LIVE_EDIT_INTERVAL_MS = 3_000;
const FINAL_EDIT_INTERVAL_MS = 1_000;

/** When each message was last posted or edited by this process. */
export class EditSpacing {
  readonly #pace: number;
  /** Older changes no longer delay an edit. */
  readonly #lastChangeAt = new LRUCache<string, number>({
    ttl: LIVE_EDIT_INTERVAL_MS,
    ttlAutopurge: true,
    perf: performance,
  });

  /** `pace`: how many times as fast as Slack's documents allow. */
  constructor(pace = 1) {
    this.#pace = pace;
  }

  /** Call after Slack's response. */
  recordChange(channel: string, ts: string): void {
    this.#lastChangeAt.set(`${channel} ${ts}`, performance.now());
  }

  /** The earliest time of the message's next edit, as `performance.now()` (ms). */
  notBefore(channel: string, ts: string, isFinal: boolean): number {
    const last = this.#lastChangeAt.get(`${channel} ${ts}`);
    const intervalMs = isFinal ? FINAL_EDIT_INTERVAL_MS : LIVE_EDIT_INTERVAL_MS;
    return last === undefined ? 0 : last + intervalMs / this.#pace;
  }
}
