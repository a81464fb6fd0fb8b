/** Shares the reads under one service key among the live replies of this process. */
export class ReadRate {
  readonly #perSecond: number;
  #members = 0;

  /** `perSecond`: the most reads a second. */
  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /** One more live reply reads; call the answer when it is done. */
  join(): () => void {
    this.#members += 1;
    let left = false;
    return () => {
      if (!left) this.#members -= 1;
      left = true;
    };
  }

  /** How often each live reply may read (ms): once a second, or as often as the rate allows. */
  intervalMs(): number {
    return Math.max(1_000, (this.#members / this.#perSecond) * 1_000);
  }
}
