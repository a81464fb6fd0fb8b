/**
 * How long one thing has failed in a row while other calls under the same key, token or database succeeded. In an outage
 * it stands still: a limit of time for a bad thing must not end what only waits for the outage to pass.
 */
export class FailingTime {
  #ms = 0;
  #lastFailureAt: number | undefined;

  /**
   * Counts a failure, and returns the milliseconds so far. `hasSucceededAfter` tells whether another call succeeded after
   * `at` (`performance.now()`); the time since the failure before counts only then.
   */
  async count(hasSucceededAfter: (at: number) => boolean | Promise<boolean>): Promise<number> {
    const previous = this.#lastFailureAt;
    const now = performance.now();
    this.#lastFailureAt = now;
    if (previous !== undefined && (await hasSucceededAfter(previous))) this.#ms += now - previous;
    return this.#ms;
  }
}
