import { setTimeout as sleep } from 'node:timers/promises';

/** "1 per second per channel": https://docs.slack.dev/apis/web-api/rate-limits */
const GAP_MS = 1_000;

/** Keeps a second between the posts of this process into one channel, however long each is on its way. */
export class PostGap {
  readonly #last = new Map<string, Promise<number>>();

  /** Runs `post` when the one before has been answered for a second. */
  async run<T>(channel: string, post: () => Promise<T>): Promise<T> {
    const before = this.#last.get(channel);
    const done = Promise.withResolvers<number>();
    this.#last.set(channel, done.promise);
    try {
      if (before !== undefined) await sleep(Math.max(0, (await before) + GAP_MS - performance.now()));
      return await post();
    } finally {
      done.resolve(performance.now());
      setTimeout(() => {
        if (this.#last.get(channel) === done.promise) this.#last.delete(channel);
      }, GAP_MS).unref();
    }
  }
}
