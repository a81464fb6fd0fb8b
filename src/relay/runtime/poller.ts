/** What is looked for again and again. */
export interface PollerOptions {
  /** The time from one look to the next (ms); one that takes longer leaves looks out. */
  intervalMs: number;
  /** One look. */
  poll: () => Promise<void>;
  /** Hears what a look threw, unless the stop cut it off; the next one comes all the same. */
  onError: (error: unknown) => void;
}

/** Looks every so often, one look at a time. */
export class Poller {
  readonly #options: PollerOptions;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #pollAgain = false;
  readonly #stopped = new AbortController();

  constructor(options: PollerOptions) {
    this.#options = options;
  }

  /** Begins; the first look comes after one interval. */
  start(): void {
    this.#timer = setInterval(() => {
      if (this.#running === undefined) this.pollNow();
    }, this.#options.intervalMs);
  }

  /** Looks now, and after a look under way once more. Does nothing before the start and after the stop. */
  pollNow(): void {
    if (this.#timer === undefined || this.signal.aborted) return;
    this.#pollAgain = true;
    this.#running ??= this.#pollUntilDone();
  }

  /** Aborted by the stop: a look begins nothing more, and gives up what can be repeated. */
  get signal(): AbortSignal {
    return this.#stopped.signal;
  }

  /** Looks no more, and waits for the look under way. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    clearInterval(this.#timer);
    await this.#running;
  }

  async #pollUntilDone(): Promise<void> {
    while (this.#pollAgain && !this.signal.aborted) {
      this.#pollAgain = false;
      try {
        await this.#options.poll();
      } catch (error) {
        if (!this.signal.aborted) this.#options.onError(error);
      }
    }
    this.#running = undefined;
  }
}
