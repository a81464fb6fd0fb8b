import { setTimeout as sleep } from 'node:timers/promises';

/** "1 per second per channel": https://docs.slack.dev/apis/web-api/rate-limits */
const POST_INTERVAL_MS = 1_000;

/** Keeps a second between this process's posts to a channel, however long each post takes. */
export class PostSpacing {
  readonly #intervalMs: number;
  readonly #lastPostAt = new Map<string, Promise<number>>();

  /** `pace`: how many times as fast. */
  constructor(pace = 1) {
    this.#intervalMs = POST_INTERVAL_MS / pace;
  }

  /** Runs `post` a second after the response to the previous one. */
  async run<T>(channel: string, post: () => Promise<T>): Promise<T> {
    const before = this.#lastPostAt.get(channel);
    const done = Promise.withResolvers<number>();
    this.#lastPostAt.set(channel, done.promise);
    try {
      if (before !== undefined)
        await sleep(Math.max(0, (await before) + this.#intervalMs - performance.now()));
      return await post();
    } finally {
      done.resolve(performance.now());
      setTimeout(() => {
        if (this.#lastPostAt.get(channel) === done.promise) this.#lastPostAt.delete(channel);
      }, this.#intervalMs).unref();
    }
  }
}
