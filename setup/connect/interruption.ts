/** Ctrl+C between questions: ends the program at once, or after work that must not be cut in two. */
export class Interruption {
  readonly #exit: () => void;
  readonly #onSignal = () => this.#interrupt();
  #isHeld = false;
  #isWanted = false;

  constructor(exit: () => void) {
    this.#exit = exit;
  }

  listen(): void {
    process.on('SIGINT', this.#onSignal);
  }

  ignore(): void {
    process.off('SIGINT', this.#onSignal);
  }

  /** Does work that creates something and writes it down; an interruption waits until it is done. */
  async hold<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#isHeld = true;
    try {
      return await work();
    } finally {
      this.#isHeld = false;
      if (this.#isWanted) this.#exit();
    }
  }

  #interrupt(): void {
    this.#isWanted = true;
    if (!this.#isHeld) this.#exit();
  }
}
