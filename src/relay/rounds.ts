/** What is looked for again and again. */
export interface RoundsOptions {
  /** The time from one look to the next (ms); one that takes longer leaves looks out. */
  everyMs: number;
  /** One look. */
  round: () => Promise<void>;
  /** Hears what a look threw, unless the stop cut it off; the next one comes all the same. */
  onError: (error: unknown) => void;
}

/** Looks every so often, one look at a time. */
export class Rounds {
  readonly #options: RoundsOptions;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #again = false;
  readonly #end = new AbortController();

  constructor(options: RoundsOptions) {
    this.#options = options;
  }

  /** Begins; the first look comes after one interval. */
  start(): void {
    this.#timer = setInterval(() => {
      if (this.#running === undefined) this.look();
    }, this.#options.everyMs);
  }

  /** Looks now, and after a look under way once more. Does nothing before the start and after the stop. */
  look(): void {
    if (this.#timer === undefined || this.signal.aborted) return;
    this.#again = true;
    this.#running ??= this.#all();
  }

  /** Aborted by the stop: a look begins nothing more, and gives up what can be repeated. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** Looks no more, and waits for the look under way. */
  async stop(): Promise<void> {
    this.#end.abort();
    clearInterval(this.#timer);
    await this.#running;
  }

  async #all(): Promise<void> {
    while (this.#again && !this.signal.aborted) {
      this.#again = false;
      try {
        await this.#options.round();
      } catch (error) {
        if (!this.signal.aborted) this.#options.onError(error);
      }
    }
    this.#running = undefined;
  }
}
